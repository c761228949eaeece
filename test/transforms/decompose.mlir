// RUN: OPT %s -p 'decompose{ops=Gemm,BatchNormalization}' | FILECHECK %s
// RUN: OPT %s -p 'decompose{ops=BatchNormalization}' | FILECHECK %s --check-prefix=SOME
// RUN: OPT %s -p 'decompose{target=onnxruntime}' | FILECHECK %s --check-prefix=SLOW
// RUN: DIAGNOSTICS -p 'decompose{ops=Gemm,BatchNormalization target=onnxruntime}'

// CHECK-LABEL: func.func @gemm(
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%a, %b) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[P]], %c) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
// SOME-LABEL: func.func @gemm(
// SOME-NEXT: onnx.Gemm(%a, %b, %c)
func.func @gemm(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>, %c: tensor<2xf32>) -> tensor<3x2xf32> {
  %y = onnx.Gemm(%a, %b, %c) : (tensor<3x4xf32>, tensor<4x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @gemm_whole(
// CHECK-NEXT: %[[A:.*]] = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<4x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[B:.*]] = onnx.Transpose(%b) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[A]], %[[B]]) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>}
// CHECK-NEXT: %[[Q:.*]] = onnx.Mul(%[[P]], %[[F]]) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Mul(%c, %[[G]]) : (tensor<3x1xf32>, tensor<f32>) -> tensor<3x1xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[Q]], %[[C]]) : (tensor<3x2xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @gemm_whole(%a: tensor<4x3xf32>, %b: tensor<2x4xf32>, %c: tensor<3x1xf32>) -> tensor<3x2xf32> {
  %y = onnx.Gemm(%a, %b, %c) {transA = 1 : i64, transB = 1 : i64, alpha = 0.5 : f32, beta = 2.0 : f32} : (tensor<4x3xf32>, tensor<2x4xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Without a bias, its factor is nobody's.

// CHECK-LABEL: func.func @gemm_alone(
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%a, %b) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @gemm_alone(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %y = onnx.Gemm(%a, %b) {beta = 2.0 : f32} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// gamma / sqrt(3.75 + 0.25), 8.75 + 0.25; beta - mean * that.

// CHECK-LABEL: func.func @normalization(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[3.0, -1.0] : tensor<2x1x1xf32>>}
// CHECK: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[-14.0, 9.0] : tensor<2x1x1xf32>>}
// CHECK-NEXT: %[[M:.*]] = onnx.Mul(%x, %[[S]]) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[M]], %[[T]]) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @normalization(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %g = onnx.Constant() {value = #onnx.tensor<[6.0, -3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.Constant() {value = #onnx.tensor<[5.0, 7.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[3.75, 8.75] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.BatchNormalization(%x, %g, %b, %m, %v) {epsilon = 0.25 : f32} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_gemm_element_type(
// CHECK: onnx.Gemm(
func.func @unmoved_gemm_element_type(%a: tensor<3x4xf16>, %b: tensor<4x2xf16>) -> tensor<3x2xf16> {
  // expected-remark@+1 {{only a Gemm in f32 is decomposed [decompose: expressed-type]}}
  %y = onnx.Gemm(%a, %b) : (tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_normalization_element_type(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_normalization_element_type(%x: tensor<1x2x5x3xf16>) -> tensor<1x2x5x3xf16> {
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf16>>} : () -> tensor<2xf16>
  // expected-remark@+1 {{only a BatchNormalization in f32 is decomposed [decompose: expressed-type]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %s) : (tensor<1x2x5x3xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>, tensor<2xf16>) -> tensor<1x2x5x3xf16>
  func.return %y : tensor<1x2x5x3xf16>
}

// CHECK-LABEL: func.func @unmoved_training_mode(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_training_mode(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[decompose: training-mode]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %s) {training_mode = 1 : i64} : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_statistics(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_computed_statistics(%x: tensor<1x2x5x3xf32>, %v: tensor<2xf32>) -> tensor<1x2x5x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[decompose: computed-parameter]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %v) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// A variance of -2.

// CHECK-LABEL: func.func @unmoved_not_finite(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_not_finite(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[-2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[decompose: invalid-parameters]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %s) : (tensor<1x2x5x3xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_no_channels(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_no_channels(%x: tensor<1x0x5x3xf32>) -> tensor<1x0x5x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>} : () -> tensor<0xf32>
  // expected-remark@+1 {{[decompose: invalid-op]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %s) : (tensor<1x0x5x3xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>) -> tensor<1x0x5x3xf32>
  func.return %y : tensor<1x0x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.BatchNormalization(
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, 3.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[decompose: unknown-shape]}}
  %y = onnx.BatchNormalization(%x, %s, %s, %s, %s) : (tensor<*xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// Functions whose kernels are slow on the target, if there are elements enough; open sizes count as 1.

// CHECK-LABEL: func.func @softplus(
// CHECK-NEXT: onnx.Softplus
// SLOW-LABEL: func.func @softplus(
// SLOW-NEXT: %[[A:.*]] = onnx.Abs(%x)
// SLOW-NEXT: %[[N:.*]] = onnx.Neg(%[[A]])
// SLOW-NEXT: %[[E:.*]] = onnx.Exp(%[[N]])
// SLOW-NEXT: %[[ONE:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>}
// SLOW-NEXT: %[[P:.*]] = onnx.Add(%[[E]], %[[ONE]])
// SLOW-NEXT: %[[L:.*]] = onnx.Log(%[[P]])
// SLOW-NEXT: %[[R:.*]] = onnx.Relu(%x)
// SLOW-NEXT: %[[Y:.*]] = onnx.Add(%[[R]], %[[L]])
// SLOW-NEXT: func.return %[[Y]]
func.func @softplus(%x: tensor<?x1024xf32>) -> tensor<?x1024xf32> {
  %y = onnx.Softplus(%x) : (tensor<?x1024xf32>) -> tensor<?x1024xf32>
  func.return %y : tensor<?x1024xf32>
}

// CHECK-LABEL: func.func @elu(
// CHECK-NEXT: onnx.Elu
// SLOW-LABEL: func.func @elu(
// SLOW-NEXT: %[[ZERO:.*]] = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>}
// SLOW-NEXT: %[[M:.*]] = onnx.Min(%x, %[[ZERO]])
// SLOW-NEXT: %[[E:.*]] = onnx.Exp(%[[M]])
// SLOW-NEXT: %[[ONE:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>}
// SLOW-NEXT: %[[S:.*]] = onnx.Sub(%[[E]], %[[ONE]])
// SLOW-NEXT: %[[Y:.*]] = onnx.Max(%x, %[[S]])
// SLOW-NEXT: func.return %[[Y]]
func.func @elu(%x: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %y = onnx.Elu(%x) : (tensor<8x1024xf32>) -> tensor<8x1024xf32>
  func.return %y : tensor<8x1024xf32>
}

// CHECK-LABEL: func.func @few(
// CHECK-NEXT: onnx.Softplus
// SLOW-LABEL: func.func @few(
// SLOW-NEXT: onnx.Softplus
// SLOW-NEXT: onnx.Elu
// SLOW-NEXT: func.return
func.func @few(%x: tensor<?x1023xf32>, %z: tensor<?x8191xf32>) -> (tensor<?x1023xf32>, tensor<?x8191xf32>) {
  %a = onnx.Softplus(%x) : (tensor<?x1023xf32>) -> tensor<?x1023xf32>
  %b = onnx.Elu(%z) : (tensor<?x8191xf32>) -> tensor<?x8191xf32>
  func.return %a, %b : tensor<?x1023xf32>, tensor<?x8191xf32>
}

// CHECK-LABEL: func.func @unknown_rank(
// CHECK-NEXT: onnx.Softplus
// SLOW-LABEL: func.func @unknown_rank(
// SLOW-NEXT: onnx.Softplus
func.func @unknown_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
  %a = onnx.Softplus(%x) : (tensor<*xf32>) -> tensor<*xf32>
  func.return %a : tensor<*xf32>
}

// CHECK-LABEL: func.func @half(
// CHECK-NEXT: onnx.Softplus
// SLOW-LABEL: func.func @half(
// SLOW-NEXT: onnx.Softplus
func.func @half(%x: tensor<2048xf16>) -> tensor<2048xf16> {
  // expected-remark@+1 {{only Softplus in f32 is decomposed}}
  %a = onnx.Softplus(%x) : (tensor<2048xf16>) -> tensor<2048xf16>
  func.return %a : tensor<2048xf16>
}
