// RUN: OPT %s -p 'fold-batch-norm{symmetric=true}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'fold-batch-norm{symmetric=true}'

// A narrow range has every negative.

// CHECK-LABEL: func.func @narrow(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, -2, -3, 127] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8<-127:127>:f32:0, {0.75,1.0}>>
// CHECK-NOT: onnx.Mul
func.func @narrow(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -127] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8<-127:127>:f32:0, {0.25,0.5}>>
  %f = onnx.Constant() {value = #onnx.tensor<[3.0, -2.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8<-127:127>:f32:0, {0.25,0.5}>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}

// -128 at zero point 0 has none, and the zero point must stay.

// CHECK-LABEL: func.func @unmoved_no_negative(
// CHECK: onnx.Mul(
func.func @unmoved_no_negative(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -128] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5}>>
  %f = onnx.Constant() {value = #onnx.tensor<[3.0, -2.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5}>> to tensor<2x2x1x1xf32>
  %c = onnx.Conv(%x, %r) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
  // expected-remark@+1 {{1 channels with a negative factor hold -128, which cannot be negated; quantize weights to a narrow range, or use --exactness lossy [fold-batch-norm: unfoldable-factor]}}
  %y = onnx.Mul(%c, %f) : (tensor<1x2x5x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}
