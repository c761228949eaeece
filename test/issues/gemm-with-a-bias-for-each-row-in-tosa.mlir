// RUN: OPT %s -p lower-to-tosa --remarks | FILECHECK %s

// As many rows as columns: a bias of one column is no row of biases.

!x = !quant.uniform<i8:f32, 0.5>

// CHECK-LABEL: func.func @product(
// CHECK: onnx.Gemm({{.*}}tensor<2x1xf32>) ->
func.func @product(%x: tensor<2x3x!x>) -> tensor<2x2x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<2x3xi8>>} : () -> tensor<2x3x!x>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  // expected-remark@+1 {{the bias differs by row [lower-to-tosa: bias-shape]}}
  %y = onnx.Gemm(%x, %w, %b) {transB = 1 : i64} : (tensor<2x3x!x>, tensor<2x3x!x>, tensor<2x1xf32>) -> tensor<2x2x!x>
  func.return %y : tensor<2x2x!x>
}
