// RUN: OPT %s -p 'fold-batch-norm{lossy=true}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'fold-batch-norm{lossy=true}'

// No scale carries a negative factor.

// CHECK-LABEL: func.func @unmoved_negative_factor(
// CHECK: %[[M:.*]] = onnx.Mul(
// CHECK-NEXT: quant.qcast %[[M]]
func.func @unmoved_negative_factor(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>> {
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, -4.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: unfoldable-factor]}}
  %y = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
}

// CHECK-LABEL: func.func @unmoved_factor_of_zero(
// CHECK: %[[M:.*]] = onnx.Mul(
// CHECK-NEXT: quant.qcast %[[M]]
func.func @unmoved_factor_of_zero(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>> {
  %f = onnx.Constant() {value = #onnx.tensor<[2.0, 0.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Mul(%x, %f) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{a factor is not positive, so no scale can absorb it [fold-batch-norm: unfoldable-factor]}}
  %y = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
}

// The shift is -132 steps, storage ends at -128.

// CHECK-LABEL: func.func @unmoved_shift_beyond_storage(
// CHECK: %[[M:.*]] = onnx.Add(
// CHECK-NEXT: quant.qcast %[[M]]
func.func @unmoved_shift_beyond_storage(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>> {
  %s = onnx.Constant() {value = #onnx.tensor<[2.0, -66.0] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %m = onnx.Add(%x, %s) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-batch-norm: bound-outside]}}
  %y = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
  func.return %y : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.5:3>>
}
