// RUN: OPT %s -p lower-to-linalg --remarks | FILECHECK %s

// As many rows as columns: a bias of one column is no row of biases.

// CHECK-LABEL: func.func @product(
// CHECK: onnx.Gemm({{.*}}tensor<2x1xf32>) ->
func.func @product(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  // expected-remark@+1 {{the bias differs by row [lower-to-linalg: bias-shape]}}
  %y = onnx.Gemm(%x, %w, %b) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}
