// RUN: OPT %s -p sink-dequantize | FILECHECK %s

// A constant that enters a subgraph as integers of 4 bits is stored in 4 bits, as one of bytes is in bytes.

// CHECK-LABEL: func.func @accumulated(
// CHECK: %[[K:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 2] : tensor<2xui4>>} : () -> tensor<2x!quant.uniform<u4:f32, 0.5>>
// CHECK: onnx.Scan(%[[K]], %x)
func.func @accumulated(%x: tensor<8x2xf32>) -> tensor<2xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Scan(%k, %x) {num_scan_inputs = 1 : i64} body {
  ^bb0(%s: tensor<2xf32>, %e: tensor<2xf32>):
    %a = onnx.Add(%s, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %q = quant.qcast %a : tensor<2xf32> to tensor<2x!quant.uniform<u4:f32, 0.5>>
    %d = quant.dcast %q : tensor<2x!quant.uniform<u4:f32, 0.5>> to tensor<2xf32>
    onnx.Yield(%d) : (tensor<2xf32>) -> ()
  } : (tensor<2xf32>, tensor<8x2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
