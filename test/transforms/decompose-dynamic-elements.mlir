// RUN: OPT %s -p 'decompose-dynamic{target=openvino elements=5}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'decompose-dynamic{target=openvino elements=5}'

// CHECK-LABEL: func.func @unmoved_large_weight(
// CHECK: onnx.MatMulInteger
func.func @unmoved_large_weight(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  // expected-remark@+1 {{the file would grow by three bytes for each of 6 weights [decompose-dynamic: large-weight]}}
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<4x3xf32>) -> (tensor<4x3xui8>, tensor<f32>, tensor<ui8>)
  %p = onnx.MatMulInteger(%q, %w, %z) : (tensor<4x3xui8>, tensor<3x2xi8>, tensor<ui8>) -> tensor<4x2xi32>
  %f = onnx.Cast(%p) {to = 1 : i64} : (tensor<4x2xi32>) -> tensor<4x2xf32>
  func.return %f : tensor<4x2xf32>
}
