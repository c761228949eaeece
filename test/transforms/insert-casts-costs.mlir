// RUN: OPT %s -p insert-casts | FILECHECK %s
// RUN: DIAGNOSTICS -p insert-casts

// Six products are fewer than the casts around them.
// CHECK-LABEL: func.func @unmoved_float_faster(
// CHECK: %p = onnx.MatMul(%x, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: func.return %p : tensor<5x2xf32>
func.func @unmoved_float_faster(%x: tensor<5x3xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<5x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  // expected-remark@+1 {{integers are not expected to be faster here, including the casts [insert-casts: float-faster]}}
  %p = onnx.MatMul(%x, %w) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %p : tensor<5x2xf32>
}
