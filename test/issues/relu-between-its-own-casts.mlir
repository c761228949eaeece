// RUN: OPT %s -p 'lower-to-qdq{target=tensorrt}' | FILECHECK %s

// A Relu on a quantized graph input and a Transpose behind it: each stands between casts of its own. They once shared
// a pair, with the Transpose fed by the Relu's float.

// CHECK-LABEL: func.func @main(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]]
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[D]])
// CHECK-NEXT: %[[RQ:.*]] = onnx.QuantizeLinear(%[[R]]
// CHECK-NEXT: %[[RD:.*]] = onnx.DequantizeLinear(%[[RQ]]
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[RD]])
// CHECK-NEXT: onnx.QuantizeLinear(%[[T]]
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @main(%x: tensor<2x3x4xf32>) -> tensor<4x2x3xi8> {
    %q = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<i8:f32, 0.02:13>>
    %r = onnx.Relu(%q) : (tensor<2x3x4x!quant.uniform<i8:f32, 0.02:13>>) -> tensor<2x3x4x!quant.uniform<i8:f32, 0.02:13>>
    %t = onnx.Transpose(%r) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x4x!quant.uniform<i8:f32, 0.02:13>>) -> tensor<4x2x3x!quant.uniform<i8:f32, 0.02:13>>
    %s = quant.scast %t : tensor<4x2x3x!quant.uniform<i8:f32, 0.02:13>> to tensor<4x2x3xi8>
    func.return %s : tensor<4x2x3xi8>
  }
}
