// RUN: OPT %s -p fold-batch-norm --remarks | FILECHECK %s

// As many rows as columns: a bias of one column is no row of biases.

// CHECK-LABEL: func.func @own_factors(
// CHECK: onnx.Gemm({{.*}}) {alpha = 5.000000e-01 : f32, transB = 1 : i64} : ({{.*}}tensor<2x1xf32>) ->
func.func @own_factors(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5, 6, 7] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32, 0.25>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %r = quant.dcast %w : tensor<2x3x!quant.uniform<i8:f32, 0.25>> to tensor<2x3xf32>
  // expected-remark@+1 {{the bias has shape [2, 1], not one value for each channel [fold-batch-norm: bias-shape]}}
  %y = onnx.Gemm(%x, %r, %b) {alpha = 0.5 : f32, transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// The same behind the op.
// CHECK-LABEL: func.func @factor_behind(
// CHECK: onnx.Gemm({{.*}}tensor<2x1xf32>) ->
// CHECK: onnx.Mul(
func.func @factor_behind(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 5.0, 6.0, 7.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 10.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Gemm(%x, %w, %b) {transB = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  // expected-remark@+1 {{the bias has shape [2, 1], not one value for each channel [fold-batch-norm: bias-shape]}}
  %z = onnx.Mul(%y, %f) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %z : tensor<2x2xf32>
}
