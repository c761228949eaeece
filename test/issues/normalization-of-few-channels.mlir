// RUN: OPT %s -p lower-to-table,lower-to-qdq | FILECHECK %s

// A normalization that is written out stays, as it has few channels; what was looked at for it reads nothing: the stored
// integers had a reader outside of the graph, and their type could not be written.

// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: quant.
// CHECK: onnx.DequantizeLinear(%q
// CHECK-NOT: quant.
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
func.func @few_channels(%q: tensor<2x8x3xui8>) -> tensor<2x8x3xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %c = quant.scast %q : tensor<2x8x3xui8> to tensor<2x8x3x!quant.uniform<u8:f32, 0.1>>
  %x = quant.dcast %c : tensor<2x8x3x!quant.uniform<u8:f32, 0.1>> to tensor<2x8x3xf32>
  %u = onnx.ReduceMean(%x, %i) : (tensor<2x8x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x8x3xf32>, tensor<2x1x3xf32>) -> tensor<2x8x3xf32>
  %s = onnx.Mul(%d, %d) : (tensor<2x8x3xf32>, tensor<2x8x3xf32>) -> tensor<2x8x3xf32>
  %v = onnx.ReduceMean(%s, %i) : (tensor<2x8x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x1x3xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x8x3xf32>, tensor<2x1x3xf32>) -> tensor<2x8x3xf32>
  %p = onnx.Mul(%n, %e) : (tensor<2x8x3xf32>, tensor<f32>) -> tensor<2x8x3xf32>
  %y = onnx.Add(%p, %e) : (tensor<2x8x3xf32>, tensor<f32>) -> tensor<2x8x3xf32>
  func.return %y : tensor<2x8x3xf32>
}
}
