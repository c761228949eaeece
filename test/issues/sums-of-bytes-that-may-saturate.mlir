// RUN: OPT %s -p legalize-sums{target=onnxruntime-avx2} | FILECHECK %s
// RUN: DIAGNOSTICS -p legalize-sums{target=onnxruntime-avx2}

// Without VNNI, u8 x i8 adds two products in 16 bits and saturates; i8 x i8 and u8 x u8 are exact.

// CHECK-LABEL: func.func @signed_activation(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %s, %z) {{.*}} -> tensor<3x4xi8>
// CHECK: onnx.MatMulInteger(%[[Q]], %w
func.func @signed_activation(%x: tensor<3x4xf32>, %s: tensor<f32>, %z: tensor<i8>, %w: tensor<4x2xi8>) -> tensor<3x2xi32> {
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<3x4xi8>
  // expected-remark@+1 {{onnxruntime-avx2 adds products of u8 and i8 in 16 bits [legalize-sums: may-saturate]}}
  %y = onnx.MatMulInteger(%q, %w, %z) : (tensor<3x4xi8>, tensor<4x2xi8>, tensor<i8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @unsigned_weight(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<{{.*}} : tensor<2x2xui8>>}
// CHECK-NEXT: onnx.MatMulInteger(%q, %[[W]]
func.func @unsigned_weight(%q: tensor<3x2xui8>) -> tensor<3x2xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[255, 0, 3, 254] : tensor<2x2xui8>>} : () -> tensor<2x2xui8>
  // expected-remark@+1 {{onnxruntime-avx2 adds products of u8 and i8 in 16 bits [legalize-sums: may-saturate]}}
  %y = onnx.MatMulInteger(%q, %w) : (tensor<3x2xui8>, tensor<2x2xui8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}
