// RUN: OPT %s -p choose-convolution-form --print-constants | FILECHECK %s
// RUN: OPT %s -p choose-convolution-form --verify-diagnostics

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.015:7>
!s = !quant.uniform<i8:f32, 0.02:13>

// CHECK-LABEL: func.func @mean(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1, {{.*}}] : tensor<8x1x2x3xi8>>} : () -> tensor<8x1x2x3x!quant.uniform<i8:f32, 0.16666667>>
// CHECK-NEXT: onnx.Conv(%x, %[[W]], _) {{{.*}}group = 8 : i64{{.*}}} : (tensor<1x8x12x15x!{{.*}}0.02:13>>, tensor<8x1x2x3x!{{.*}}>) -> tensor<1x8x6x5x!{{.*}}0.015:7>>
func.func @mean(%x: tensor<1x8x12x15x!x>) -> tensor<1x8x6x5x!y> {
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 3>, strides = array<i64: 2, 3>} : (tensor<1x8x12x15x!x>) -> tensor<1x8x6x5x!y>
  func.return %y : tensor<1x8x6x5x!y>
}

// The border counts as zeros, as it does in a convolution.

// CHECK-LABEL: func.func @mean_with_its_border(
// CHECK: onnx.Conv(%x, %{{.*}}, _) {{{.*}}pads = array<i64: 1, 1, 1, 1>
func.func @mean_with_its_border(%x: tensor<?x24x12x15x!x>) -> tensor<?x24x12x15x!y> {
  // expected-remark@+1 {{which saves too little [choose-convolution-form: does-not-pay]}}
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, count_include_pad = 1 : i64} : (tensor<?x24x12x15x!x>) -> tensor<?x24x12x15x!y>
  func.return %y : tensor<?x24x12x15x!y>
}

// CHECK-LABEL: func.func @unmoved_border(
// CHECK: onnx.AveragePool(%x)
func.func @unmoved_border(%x: tensor<1x8x12x15x!x>) -> tensor<1x8x12x15x!y> {
  // expected-remark@+1 {{at the border the mean is over fewer pixels [choose-convolution-form: window-form]}}
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x8x12x15x!x>) -> tensor<1x8x12x15x!y>
  func.return %y : tensor<1x8x12x15x!y>
}

// CHECK-LABEL: func.func @unmoved_ragged(
// CHECK: onnx.AveragePool(%x)
func.func @unmoved_ragged(%x: tensor<1x8x5x15x!x>) -> tensor<1x8x3x8x!y> {
  // expected-remark@+1 {{a window may extend beyond the operand, where the mean is over fewer pixels [choose-convolution-form: window-form]}}
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x8x5x15x!x>) -> tensor<1x8x3x8x!y>
  func.return %y : tensor<1x8x3x8x!y>
}

// Few windows, each of many pixels.

// CHECK-LABEL: func.func @unmoved_does_not_pay(
// CHECK: onnx.AveragePool(%x)
func.func @unmoved_does_not_pay(%x: tensor<1x8x16x15x!x>) -> tensor<1x8x1x1x!y> {
  // expected-remark@+1 {{the op's own kernel takes less time than a convolution [choose-convolution-form: does-not-pay]}}
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 16, 15>} : (tensor<1x8x16x15x!x>) -> tensor<1x8x1x1x!y>
  func.return %y : tensor<1x8x1x1x!y>
}

// No kernel of such types was measured.

// CHECK-LABEL: func.func @unmoved_signed(
// CHECK: onnx.AveragePool(%x)
func.func @unmoved_signed(%x: tensor<1x8x12x15x!s>) -> tensor<1x8x6x5x!y> {
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 3>, strides = array<i64: 2, 3>} : (tensor<1x8x12x15x!s>) -> tensor<1x8x6x5x!y>
  func.return %y : tensor<1x8x6x5x!y>
}

// CHECK-LABEL: func.func @unmoved_of_any_channels(
// CHECK: onnx.AveragePool(%x)
func.func @unmoved_of_any_channels(%x: tensor<1x?x12x15x!x>) -> tensor<1x?x6x5x!y> {
  %y = onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 3>, strides = array<i64: 2, 3>} : (tensor<1x?x12x15x!x>) -> tensor<1x?x6x5x!y>
  func.return %y : tensor<1x?x6x5x!y>
}
