// RUN: OPT %s -p 'raise-qdq{half=true},fold-casts,dce,lower-to-qdq' | FILECHECK %s

// Before opset 19 no cast of ONNX takes or gives half precision, whatever the scale is.

// CHECK-LABEL: func.func @pair(
// CHECK: %[[X:.*]] = onnx.Cast(%x) {to = 1 : i64}
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[X]],
// CHECK-NEXT: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]], {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT: onnx.Cast(%[[R]]) {to = 10 : i64}
builtin.module attributes {onnx.opset_import = {ai.onnx = 18 : i64}} {
  func.func @pair(%x: tensor<2x3xf16>) -> tensor<2x3xf16> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
    %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>} : () -> tensor<ui8>
    %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2x3xf16>) -> tensor<2x3xf32>
    %q = onnx.QuantizeLinear(%f, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
    %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
    %r = onnx.Cast(%d) {to = 10 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf16>
    func.return %r : tensor<2x3xf16>
  }
}
