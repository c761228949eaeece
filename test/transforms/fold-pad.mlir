// RUN: OPT %s -p fold-pad | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-pad

// The pads of both: before, then behind, axis by axis.

// CHECK-LABEL: func.func @conv(
// CHECK: onnx.Conv(%x, %w, _) {pads = array<i64: 3, 1, 2, 6>, strides = array<i64: 2, 1>} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x10xf32>
func.func @conv(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x4x10xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  %y = onnx.Conv(%p, %w) {pads = array<i64: 1, 0, 1, 2>, strides = array<i64: 2, 1>} : (tensor<1x2x8x10xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x10xf32>
  func.return %y : tensor<1x3x4x10xf32>
}

// On quantized types, where real zero is the zero point; only some axes, counted from the end.

// CHECK-LABEL: func.func @quantized(
// CHECK: onnx.Conv(%x, %w, _) {auto_pad = "NOTSET", pads = array<i64: 0, 1, 0, 4>} : (tensor<1x2x5x5x!quant.uniform<u8:f32, 0.02:13>>
func.func @quantized(%x: tensor<1x2x5x5x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<3x2x3x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x3x3x8x!quant.uniform<u8:f32, 0.03:7>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %p = onnx.Pad(%x, %c, _, %a) : (tensor<1x2x5x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>, tensor<1xi64>) -> tensor<1x2x5x10x!quant.uniform<u8:f32, 0.02:13>>
  %y = onnx.Conv(%p, %w) {auto_pad = "VALID"} : (tensor<1x2x5x10x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x2x3x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x3x3x8x!quant.uniform<u8:f32, 0.03:7>>
  func.return %y : tensor<1x3x3x8x!quant.uniform<u8:f32, 0.03:7>>
}

// An average counts the zeros of a Pad, so it has to count its own.

// CHECK-LABEL: func.func @average(
// CHECK: onnx.AveragePool(%x) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 2, 1, 1, 4>, count_include_pad = 1 : i64}
func.func @average(%x: tensor<1x2x5x5xf32>) -> tensor<1x2x7x9xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// Nothing is folded: the Pad repeats elements.

// CHECK-LABEL: func.func @unmoved_mode(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_mode(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) {mode = "edge"} : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{onnx.AveragePool 'onnx.AveragePool': Pad repeats elements (edge) instead of adding zeros [fold-pad: pad-mode]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// Nothing is folded: the Pad puts in another value.

// CHECK-LABEL: func.func @unmoved_value(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_value(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %p = onnx.Pad(%x, %c, %v) : (tensor<1x2x5x5xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{Pad puts in 0.5, a window pads with zero [fold-pad: pad-value]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_value(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_computed_value(%x: tensor<1x2x5x5xf32>, %v: tensor<f32>) -> (tensor<1x2x7x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c, %v) : (tensor<1x2x5x5xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the value that Pad puts in is computed [fold-pad: computed-pad-value]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_pads(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_computed_pads(%x: tensor<1x2x5x5xf32>, %c: tensor<8xi64>) -> (tensor<1x2x7x9xf32>) {
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the pads are computed [fold-pad: computed-parameter]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// Nothing is folded: the Pad takes away on one side.

// CHECK-LABEL: func.func @unmoved_crop(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_crop(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x4xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, -1] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x5xf32>
  // expected-remark@+1 {{Pad crops on one side [fold-pad: pad-crops]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x5xf32>) -> tensor<1x2x7x4xf32>
  func.return %y : tensor<1x2x7x4xf32>
}

// Nothing is folded: the Pad makes channels.

// CHECK-LABEL: func.func @unmoved_channels(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_channels(%x: tensor<1x2x5x5xf32>) -> (tensor<1x3x4x4xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 0, 0, 0, 0, 0] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x3x5x5xf32>
  // expected-remark@+1 {{Pad puts zeros around the batch or the channels [fold-pad: pad-channels]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x3x5x5xf32>) -> tensor<1x3x4x4xf32>
  func.return %y : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_shape(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_pad_shape(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<4xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the pads do not fit the operand's rank [fold-pad: pad-shape]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> (tensor<*xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<*xf32>, tensor<8xi64>) -> tensor<*xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [fold-pad: unknown-rank]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// Nothing is folded: somebody else takes the padded tensor.

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_second_consumer(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x9xf32>, tensor<1x2x8x10xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the padded tensor has a second consumer [fold-pad: second-consumer]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y, %p : tensor<1x2x7x9xf32>, tensor<1x2x8x10xf32>
}

// Nothing is folded: the Pad requantizes.

// CHECK-LABEL: func.func @unmoved_other_parameters(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_other_parameters(%x: tensor<1x2x5x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<1x2x7x9x!quant.uniform<u8:f32, 0.03:13>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<8xi64>) -> tensor<1x2x8x10x!quant.uniform<u8:f32, 0.03:13>>
  // expected-remark@+1 {{Pad changes scale or zero point [fold-pad: other-parameters]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x8x10x!quant.uniform<u8:f32, 0.03:13>>) -> tensor<1x2x7x9x!quant.uniform<u8:f32, 0.03:13>>
  func.return %y : tensor<1x2x7x9x!quant.uniform<u8:f32, 0.03:13>>
}

// Nothing is folded: the window's pads depend on the size that the Pad makes.

// CHECK-LABEL: func.func @unmoved_auto_pad(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_auto_pad(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x8x10xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the window works its pads out by itself [fold-pad: auto-pad]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x2x8x10xf32>) -> tensor<1x2x8x10xf32>
  func.return %y : tensor<1x2x8x10xf32>
}

// Nothing is folded: a last window counts only what lies inside.

// CHECK-LABEL: func.func @unmoved_ceil_mode(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_ceil_mode(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x7x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{a window that hangs over the edge counts fewer elements [fold-pad: ceil-mode]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>, ceil_mode = 1 : i64} : (tensor<1x2x8x10xf32>) -> tensor<1x2x7x9xf32>
  func.return %y : tensor<1x2x7x9xf32>
}

// Nothing is folded: the average counts a Pad's zeros, but not those of its own pads.

// CHECK-LABEL: func.func @unmoved_pads_not_counted(
// CHECK: %[[P:.*]] = onnx.Pad(%x
// CHECK-NEXT: onnx.AveragePool(%[[P]])
func.func @unmoved_pads_not_counted(%x: tensor<1x2x5x5xf32>) -> (tensor<1x2x8x9xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 2, 1, 0, 0, 1, 4] : tensor<8xi64>>} : () -> tensor<8xi64>
  %p = onnx.Pad(%x, %c) : (tensor<1x2x5x5xf32>, tensor<8xi64>) -> tensor<1x2x8x10xf32>
  // expected-remark@+1 {{the average leaves its own pads out, but a Pad's zeros in [fold-pad: pads-not-counted]}}
  %y = onnx.AveragePool(%p) {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 0, 0, 0>} : (tensor<1x2x8x10xf32>) -> tensor<1x2x8x9xf32>
  func.return %y : tensor<1x2x8x9xf32>
}
