// RUN: OPT %s -p fold-pad | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-pad

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.04:9>

// Four different pads, beside the window's own.

// CHECK-LABEL: func.func @conv(
// CHECK: %[[Y:.*]] = onnx.Conv(%x, %w, _) {pads = array<i64: 6, 8, 10, 12>} : (tensor<1x2x5x4xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x18x22xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @conv(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x18x22xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  %y = onnx.Conv(%a, %w) {pads = array<i64: 5, 6, 7, 8>} : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x18x22xf32>
  func.return %y : tensor<1x3x18x22xf32>
}

// Real zero, stored as 13; of the axes only the last; what the window does besides stays.

// CHECK-LABEL: func.func @quantized(
// CHECK: %[[Y:.*]] = onnx.Conv(%x, %w, _) {strides = array<i64: 2, 1>, pads = array<i64: 0, 2, 0, 1>} : (tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x2x3x2xf32>) -> tensor<1x3x2x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
func.func @quantized(%x: tensor<1x2x5x4x!x>, %w: tensor<3x2x3x2xf32>) -> tensor<1x3x2x6x!y> {
  %p = onnx.Constant() {value = #onnx.tensor<[2, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %k = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Pad(%x, %p, %z, %k) : (tensor<1x2x5x4x!x>, tensor<2xi64>, tensor<f32>, tensor<1xi64>) -> tensor<1x2x5x7x!x>
  %y = onnx.Conv(%a, %w) {strides = array<i64: 2, 1>} : (tensor<1x2x5x7x!x>, tensor<3x2x3x2xf32>) -> tensor<1x3x2x6x!y>
  func.return %y : tensor<1x3x2x6x!y>
}

// VALID means no pads of its own, whatever `pads` says.

// CHECK-LABEL: func.func @valid(
// CHECK: %[[Y:.*]] = onnx.Conv(%x, %w, _) {auto_pad = "NOTSET", pads = array<i64: 1, 2, 3, 4>} : (tensor<1x2x5x4xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @valid(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  %y = onnx.Conv(%a, %w) {auto_pad = "VALID"} : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// A Pad's zeros count in the average.

// CHECK-LABEL: func.func @pool(
// CHECK: %[[Y:.*]] = onnx.AveragePool(%x) {kernel_shape = array<i64: 4, 3>, pads = array<i64: 1, 2, 0, 1>, count_include_pad = 1 : i64} : (tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x3x5x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
func.func @pool(%x: tensor<1x2x5x4x!x>) -> tensor<1x2x3x5x!y> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 0, 1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4x!x>, tensor<8xi64>) -> tensor<1x2x6x7x!x>
  %y = onnx.AveragePool(%a) {kernel_shape = array<i64: 4, 3>} : (tensor<1x2x6x7x!x>) -> tensor<1x2x3x5x!y>
  func.return %y : tensor<1x2x3x5x!y>
}

// Its own pads, if they count as well.

// CHECK-LABEL: func.func @pool_that_counts(
// CHECK: onnx.AveragePool(%x) {kernel_shape = array<i64: 4, 3>, pads = array<i64: 2, 2, 0, 2>, count_include_pad = 1 : i64} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x6xf32>
func.func @pool_that_counts(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x6xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 0, 1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x6x7xf32>
  %y = onnx.AveragePool(%a) {kernel_shape = array<i64: 4, 3>, pads = array<i64: 1, 0, 0, 1>, count_include_pad = 1 : i64} : (tensor<1x2x6x7xf32>) -> tensor<1x2x4x6xf32>
  func.return %y : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_second_consumer(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> (tensor<1x2x9x10xf32>, tensor<1x3x6x8xf32>) {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{the padded tensor has a second consumer [fold-pad: second-consumer]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %a, %y : tensor<1x2x9x10xf32>, tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_kept_float(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_kept_float(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) attributes {qdialect.keep_float} : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{[fold-pad: kept-float]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_mode(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_pad_mode(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) {mode = "edge"} : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{Pad repeats elements (edge) instead of adding zeros [fold-pad: pad-form]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_value(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_pad_value(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Pad(%x, %p, %v) : (tensor<1x2x5x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{Pad inserts 0.5, a window pads with zero [fold-pad: pad-form]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_pad_value(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_computed_pad_value(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>, %v: tensor<f32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p, %v) : (tensor<1x2x5x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{[fold-pad: computed-parameter]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_pads(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_computed_pads(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>, %p: tensor<8xi64>) -> tensor<1x3x6x8xf32> {
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{the pads are computed [fold-pad: computed-parameter]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_axes(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_computed_axes(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>, %k: tensor<2xi64>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Pad(%x, %p, _, %k) : (tensor<1x2x5x4xf32>, tensor<4xi64>, tensor<2xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{the padded axes are computed [fold-pad: computed-parameter]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_crops(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_pad_crops(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x3xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, -1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x5xf32>
  // expected-remark@+1 {{Pad has negative pads, which remove elements [fold-pad: pad-form]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x5xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x3xf32>
  func.return %y : tensor<1x3x6x3xf32>
}

// Six pads for four axes.

// CHECK-LABEL: func.func @unmoved_pad_shape(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_pad_shape(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 0, 0, 3] : tensor<6xi64>>} : () -> tensor<6xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<6xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{the pads do not fit the operand's rank [fold-pad: invalid-op]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_channels(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_pad_channels(%x: tensor<1x1x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x1x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{Pad adds zeros along the batch or channel axis [fold-pad: pad-form]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_unknown_rank(%x: tensor<*xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<*xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{[fold-pad: unknown-shape]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_auto_pad(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_auto_pad(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x9x10xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x9x10xf32>
  // expected-remark@+1 {{auto_pad computes the pads of the window [fold-pad: unknown-shape]}}
  %y = onnx.Conv(%a, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x2x9x10xf32>, tensor<3x2x4x3xf32>) -> tensor<1x3x9x10xf32>
  func.return %y : tensor<1x3x9x10xf32>
}

// The Pad rescales, which a window would not do.

// CHECK-LABEL: func.func @unmoved_other_parameters(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.Conv(%[[A]]
func.func @unmoved_other_parameters(%x: tensor<1x2x5x4x!x>, %w: tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 3, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4x!x>, tensor<8xi64>) -> tensor<1x2x9x10x!y>
  // expected-remark@+1 {{Pad changes scale or zero point [fold-pad: other-parameters]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x2x9x10x!y>, tensor<3x2x4x3xf32>) -> tensor<1x3x6x8xf32>
  func.return %y : tensor<1x3x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_ceil_mode(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[A]]
func.func @unmoved_ceil_mode(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x2x3xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 0, 1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x6x7xf32>
  // expected-remark@+1 {{[fold-pad: pad-form]}}
  %y = onnx.AveragePool(%a) {kernel_shape = array<i64: 4, 3>, strides = array<i64: 2, 3>, ceil_mode = 1 : i64} : (tensor<1x2x6x7xf32>) -> tensor<1x2x2x3xf32>
  func.return %y : tensor<1x2x2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pads_not_counted(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[A]]
func.func @unmoved_pads_not_counted(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x6xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 2, 0, 0, 0, 1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x6x7xf32>
  // expected-remark@+1 {{[fold-pad: pad-form]}}
  %y = onnx.AveragePool(%a) {kernel_shape = array<i64: 4, 3>, pads = array<i64: 1, 0, 0, 1>} : (tensor<1x2x6x7xf32>) -> tensor<1x2x4x6xf32>
  func.return %y : tensor<1x2x4x6xf32>
}

// A window of two rows under two rows of zeros.

// CHECK-LABEL: func.func @unmoved_pads_fill_window(
// CHECK: %[[A:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[A]]
func.func @unmoved_pads_fill_window(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x6x2xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 0, 0, 0, 0, 0] : tensor<8xi64>>} : () -> tensor<8xi64>
  %a = onnx.Pad(%x, %p) : (tensor<1x2x5x4xf32>, tensor<8xi64>) -> tensor<1x2x7x4xf32>
  // expected-remark@+1 {{[fold-pad: pad-form]}}
  %y = onnx.AveragePool(%a) {kernel_shape = array<i64: 2, 3>} : (tensor<1x2x7x4xf32>) -> tensor<1x2x6x2xf32>
  func.return %y : tensor<1x2x6x2xf32>
}

