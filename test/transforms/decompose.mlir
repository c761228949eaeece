// RUN: OPT %s -p 'decompose{ops=Gemm,BatchNormalization}' | FILECHECK %s
// RUN: OPT %s -p 'decompose{ops=Gemm}' | FILECHECK %s --check-prefix=GEMM
// RUN: DIAGNOSTICS -p 'decompose{ops=Gemm,BatchNormalization}'

// Each part on its own: transposed operands, factors, the sum.

// CHECK-LABEL: func.func @gemm(
// CHECK-DAG: %[[T:.*]] = onnx.Transpose(%b) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-DAG: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>}
// CHECK-DAG: %[[P:.*]] = onnx.MatMul(%a, %[[T]])
// CHECK-DAG: %[[S:.*]] = onnx.Mul(%[[P]], %[[A]])
// CHECK-DAG: %[[U:.*]] = onnx.Mul(%c, %[[B]])
// CHECK: %[[Y:.*]] = onnx.Add(%[[S]], %[[U]])
// CHECK-NEXT: func.return %[[Y]]
// GEMM-LABEL: func.func @gemm(
// GEMM-NOT: onnx.Gemm
// GEMM: func.return
func.func @gemm(%a: tensor<3x4xf32>, %b: tensor<2x4xf32>, %c: tensor<2xf32>) -> tensor<3x2xf32> {
  %y = onnx.Gemm(%a, %b, %c) {transB = 1 : i64, alpha = 0.5 : f32, beta = 2.0 : f32} : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @product(
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%a)
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[T]], %b)
// CHECK-NEXT: func.return %[[P]]
func.func @product(%a: tensor<4x3xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %y = onnx.Gemm(%a, %b) {transA = 1 : i64} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A factor and a shift for each channel: 2 / sqrt(4) = 1, 3 / sqrt(9) = 1; 0.5 - 1 * 1, 0.25 - 2 * 1.
// Only where it is asked for.

// CHECK-LABEL: func.func @normalization(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0] : tensor<2x1x1xf32>>}
// CHECK-DAG: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[-0.5, -1.75] : tensor<2x1x1xf32>>}
// CHECK: %[[P:.*]] = onnx.Mul(%x, %[[S]])
// CHECK-NEXT: onnx.Add(%[[P]], %[[T]])
// GEMM-LABEL: func.func @normalization(
// GEMM: onnx.BatchNormalization(%x
func.func @normalization(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %g = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[4.0, 9.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.BatchNormalization(%x, %g, %b, %m, %v) {epsilon = 0.0 : f32} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Nothing is decomposed: another float, statistics of its own, parameters that are computed.

// CHECK-LABEL: func.func @unmoved_element_type(
// CHECK-NEXT: onnx.Gemm(
func.func @unmoved_element_type(%a: tensor<3x4xf16>, %b: tensor<4x2xf16>) -> tensor<3x2xf16> {
  // expected-remark@+1 {{onnx.Gemm 'onnx.Gemm': only a Gemm in f32 is decomposed [decompose: element-type]}}
  %y = onnx.Gemm(%a, %b) : (tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_training(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_training(%x: tensor<1x2x5x3xf32>, %g: tensor<2xf32>) -> tensor<1x2x5x3xf32> {
  // expected-remark@+1 {{BatchNormalization computes its own statistics [decompose: training-mode]}}
  %y, %m, %v = onnx.BatchNormalization(%x, %g, %g, %g, %g) {training_mode = 1 : i64} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>)
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_computed(%x: tensor<1x2x5x3xf32>, %g: tensor<2xf32>) -> tensor<1x2x5x3xf32> {
  // expected-remark@+1 {{a parameter of BatchNormalization is computed [decompose: computed-parameter]}}
  %y = onnx.BatchNormalization(%x, %g, %g, %g, %g) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}
