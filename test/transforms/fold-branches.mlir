// RUN: OPT %s -p fold-branches | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-branches

// The one pixel is the middle of the nine, whichever operand it is.

// CHECK-LABEL: func.func @kernels(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 4.0, 5.5, -6.0, 7.0, 8.0, 9.0] : tensor<1x1x3x3xf32>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[2.25] : tensor<1xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[W]], %[[B]]) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
// CHECK-NEXT: func.return %[[Y]]
func.func @kernels(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1xf32>>} : () -> tensor<1xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %p = onnx.Conv(%x, %v, %b) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w, %c) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @pixel_first(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, 4.0, 5.5, -6.0, 7.0, 8.0, 9.0]
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25]
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %[[W]], %[[B]]) {kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>}
func.func @pixel_first(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1xf32>>} : () -> tensor<1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w, %b) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%q, %p) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// Windows that move by two, the narrower at the end of the wider one.

// CHECK-LABEL: func.func @strides(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 15.0, 26.0] : tensor<1x1x2x3xf32>>}
// CHECK-NEXT: onnx.Conv(%x, %[[W]], _) {kernel_shape = array<i64: 2, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 1>}
func.func @strides(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x3x2xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<1x1x2x3xf32>>} : () -> tensor<1x1x2x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[10, 20] : tensor<1x1x1x2xf32>>} : () -> tensor<1x1x1x2xf32>
  %p = onnx.Conv(%x, %v) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x2x3xf32>) -> tensor<1x1x3x2xf32>
  %q = onnx.Conv(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x3x2xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x1x3x2xf32>, tensor<1x1x3x2xf32>) -> tensor<1x1x3x2xf32>
  func.return %y : tensor<1x1x3x2xf32>
}

// Elements two apart; how far apart those of a single one are says nothing.

// CHECK-LABEL: func.func @dilated(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 32.0, 43.0]
// CHECK-NEXT: onnx.Conv(%x, %[[W]], _) {kernel_shape = array<i64: 3, 1>, dilations = array<i64: 2, 1>, pads = array<i64: 2, 0, 2, 0>}
func.func @dilated(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x3x1xf32>>} : () -> tensor<1x1x3x1xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[30, 40] : tensor<1x1x2x1xf32>>} : () -> tensor<1x1x2x1xf32>
  %p = onnx.Conv(%x, %v) {dilations = array<i64: 2, 1>, pads = array<i64: 2, 0, 2, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) {dilations = array<i64: 2, 5>, pads = array<i64: 0, 0, 2, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// A BatchNormalization of the same tensor is a factor for each channel, here of groups of one.

// CHECK-LABEL: func.func @batch_norm(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 4.0, 3.0, 4.0, 9.0, 6.0] : tensor<2x1x1x3xf32>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.0] : tensor<2xf32>>}
// CHECK-NEXT: onnx.Conv(%x, %[[W]], %[[B]]) {kernel_shape = array<i64: 1, 3>, group = 2 : i64, pads = array<i64: 0, 1, 0, 1>}
func.func @batch_norm(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<2x1x1x3xf32>>} : () -> tensor<2x1x1x3xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[4.0, 8.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.5, -1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %m = onnx.Constant() {value = #onnx.tensor<[0.0, 0.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %u = onnx.Constant() {value = #onnx.tensor<[4.0, 4.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx.Conv(%x, %v) {group = 2 : i64, pads = array<i64: 0, 1, 0, 1>} : (tensor<1x2x5x4xf32>, tensor<2x1x1x3xf32>) -> tensor<1x2x5x4xf32>
  %q = onnx.BatchNormalization(%x, %s, %t, %m, %u) {epsilon = 0.0 : f32} : (tensor<1x2x5x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}

// In one group the factors are a diagonal.

// CHECK-LABEL: func.func @factors_in_one_group(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, 2.0, 3.0, 4.25] : tensor<2x2x1x1xf32>>}
func.func @factors_in_one_group(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %p = onnx.Conv(%x, %v) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
  %q = onnx.Mul(%x, %s) : (tensor<1x2x5x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x4xf32>
  %y = onnx.Add(%q, %p) : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_second_consumer(%x: tensor<1x1x5x4xf32>) -> (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-branches: second-consumer]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y, %q : tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_computed_weight(%x: tensor<1x1x5x4xf32>, %w: tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the weight is computed at run time [fold-branches: computed-parameter]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_weight_first(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_computed_weight_first(%x: tensor<1x1x5x4xf32>, %v: tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the weight is computed at run time [fold-branches: computed-parameter]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_bias(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_computed_bias(%x: tensor<1x1x5x4xf32>, %b: tensor<1xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w, %b) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the bias is computed at run time [fold-branches: computed-parameter]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_auto_pad(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_auto_pad(%x: tensor<1x1x?x4xf32>) -> tensor<1x1x?x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {auto_pad = "SAME_UPPER"} : (tensor<1x1x?x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x?x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x1x?x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x?x4xf32>
  // expected-remark@+1 {{auto_pad computes the pads from an unknown size; give the model static sizes [fold-branches: unknown-shape]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x?x4xf32>, tensor<1x1x?x4xf32>) -> tensor<1x1x?x4xf32>
  func.return %y : tensor<1x1x?x4xf32>
}

// CHECK-LABEL: func.func @unmoved_irregular_window(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_irregular_window(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) {strides = array<i64: 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{an attribute of the window is out of range, or of another rank than the weight [fold-branches: invalid-op]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_other_groups(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_other_groups(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[3, 4, 5, 6] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %p = onnx.Conv(%x, %v) {group = 2 : i64} : (tensor<1x2x5x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x4xf32>
  // expected-remark@+1 {{the convolutions differ in strides, groups or the pixels under their windows [fold-branches: window-form]}}
  %y = onnx.Add(%p, %q) : (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_other_steps(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_other_steps(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x3x1xf32>>} : () -> tensor<1x1x3x1xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[30, 40, 50] : tensor<1x1x3x1xf32>>} : () -> tensor<1x1x3x1xf32>
  %p = onnx.Conv(%x, %v) {dilations = array<i64: 2, 1>, pads = array<i64: 2, 0, 2, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the convolutions differ in strides, groups or the pixels under their windows [fold-branches: window-form]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_between_elements(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_between_elements(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x3x1xf32>>} : () -> tensor<1x1x3x1xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[30, 40] : tensor<1x1x2x1xf32>>} : () -> tensor<1x1x2x1xf32>
  %p = onnx.Conv(%x, %v) {dilations = array<i64: 2, 1>, pads = array<i64: 2, 0, 2, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) {dilations = array<i64: 2, 1>, pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x2x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the convolutions differ in strides, groups or the pixels under their windows [fold-branches: window-form]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// As many results here, by the sizes; not by the windows alone.

// CHECK-LABEL: func.func @unmoved_other_size(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_other_size(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x1x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {strides = array<i64: 5, 1>, pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x4xf32>
  %q = onnx.Conv(%x, %w) {strides = array<i64: 5, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x4xf32>
  // expected-remark@+1 {{the convolutions differ in strides, groups or the pixels under their windows [fold-branches: window-form]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x1x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  func.return %y : tensor<1x1x1x4xf32>
}

// CHECK-LABEL: func.func @unmoved_broadcast(
// CHECK: onnx.Conv(
// CHECK: onnx.Mul(
// CHECK: onnx.Add(
func.func @unmoved_broadcast(%x: tensor<1x1x5x4xf32>) -> tensor<1x2x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf32>>} : () -> tensor<1xf32>
  %p = onnx.Conv(%x, %v) : (tensor<1x1x5x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x4xf32>
  %q = onnx.Mul(%x, %s) : (tensor<1x1x5x4xf32>, tensor<1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the convolutions differ in strides, groups or the pixels under their windows [fold-branches: window-form]}}
  %y = onnx.Add(%p, %q) : (tensor<1x2x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x2x5x4xf32>
  func.return %y : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_more_products(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_more_products(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x3x1xf32>>} : () -> tensor<1x1x3x1xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[30, 40, 50] : tensor<1x1x1x3xf32>>} : () -> tensor<1x1x1x3xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 0, 1, 0>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) {pads = array<i64: 0, 1, 0, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x1x3xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{one window that covers both convolutions needs more products than the two [fold-branches: does-not-pay]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// Beside the 889 of one element each other one is half a step.

// CHECK-LABEL: func.func @unmoved_uneven_weights(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_uneven_weights(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5, 3.5] : tensor<1x1x5x7xf32>>} : () -> tensor<1x1x5x7xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[885.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 2, 3, 2, 3>} : (tensor<1x1x5x4xf32>, tensor<1x1x5x7xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{in 8 bits the summed weight has only 33 dB: the weights of one convolution are much larger [fold-branches: does-not-pay]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_kept_float(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_kept_float(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %w) attributes {qdialect.keep_float} : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_quantized(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unmoved_quantized(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %i = quant.qcast %w : tensor<1x1x1x1xf32> to tensor<1x1x1x1x!quant.uniform<i8:f32, 0.25>>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%x, %i) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x1x5x4xf32>
  // expected-remark@+1 {{the weight is computed at run time [fold-branches: computed-parameter]}}
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// Two tensors, or one as it is, are no branches.

// CHECK-LABEL: func.func @unchanged_other_operand(
// CHECK: onnx.Conv(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unchanged_other_operand(%x: tensor<1x1x5x4xf32>, %z: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %q = onnx.Conv(%z, %w) : (tensor<1x1x5x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%p, %q) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}

// CHECK-LABEL: func.func @unchanged_residual(
// CHECK: onnx.Conv(
// CHECK: onnx.Add(
func.func @unchanged_residual(%x: tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8, 9] : tensor<1x1x3x3xf32>>} : () -> tensor<1x1x3x3xf32>
  %p = onnx.Conv(%x, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x5x4xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x5x4xf32>
  %y = onnx.Add(%p, %x) : (tensor<1x1x5x4xf32>, tensor<1x1x5x4xf32>) -> tensor<1x1x5x4xf32>
  func.return %y : tensor<1x1x5x4xf32>
}
