// RUN: OPT %s -p fold-batch-norm | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-batch-norm

// The rank is known though the batch is open: columns are the last axis, of a matrix of equal sizes too.

// CHECK-LABEL: func.func @rows_of_an_open_batch(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.75,1.25}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[W]]
// CHECK-NEXT: %[[M:.*]] = onnx.MatMul(%x, %[[R]]) : (tensor<?x2x3xf32>, tensor<3x2xf32>) -> tensor<?x2x2xf32>
// CHECK-NEXT: func.return %[[M]]
func.func @rows_of_an_open_batch(%x: tensor<?x2x3xf32>) -> tensor<?x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25>>
  %r = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.25>> to tensor<3x2xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[3.0, 5.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.MatMul(%x, %r) : (tensor<?x2x3xf32>, tensor<3x2xf32>) -> tensor<?x2x2xf32>
  %y = onnx.Mul(%m, %k) : (tensor<?x2x2xf32>, tensor<2xf32>) -> tensor<?x2x2xf32>
  func.return %y : tensor<?x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_rows_of_an_open_batch(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.Mul(
func.func @unmoved_rows_of_an_open_batch(%x: tensor<?x2x3xf32>) -> tensor<?x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25>>
  %r = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.25>> to tensor<3x2xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[3.0, 5.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %m = onnx.MatMul(%x, %r) : (tensor<?x2x3xf32>, tensor<3x2xf32>) -> tensor<?x2x2xf32>
  // expected-remark@+1 {{the factors do not run along the linear op's channels [fold-batch-norm: weight-axis]}}
  %y = onnx.Mul(%m, %k) : (tensor<?x2x2xf32>, tensor<2x1xf32>) -> tensor<?x2x2xf32>
  func.return %y : tensor<?x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.MatMul(
// CHECK-NEXT: onnx.BatchNormalization(
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25>>
  %r = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.25>> to tensor<3x2xf32>
  %a = onnx.Constant() {value = #onnx.tensor<[3.0, 5.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[2.0, -5.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %d = onnx.Constant() {value = #onnx.tensor<[4.0, 9.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.MatMul(%x, %r) : (tensor<*xf32>, tensor<3x2xf32>) -> tensor<*xf32>
  // expected-remark@+1 {{the factors do not run along the linear op's channels [fold-batch-norm: weight-axis]}}
  %y = onnx.BatchNormalization(%m, %a, %b, %c, %d) : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
