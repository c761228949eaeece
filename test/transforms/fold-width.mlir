// RUN: OPT %s -p 'fold-width{inputs=2 outputs=2}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'fold-width{inputs=2 outputs=2}' --verify-diagnostics
// RUN: OPT %s -p fold-width | FILECHECK %s --check-prefix=CHEAPEST
// RUN: OPT %s -p fold-width --verify-diagnostics

// Two pixels make two: the kernel of 3 becomes one of 3, its zeros stored as each channel's zero point.

// CHECK-LABEL: func.func @two_in_two_out(
// CHECK: %[[IN:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 4, 2] : tensor<4xi64>>}
// CHECK: %[[A:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[B:.*]] = onnx.Reshape(%[[A]], %[[IN]]) : {{.*}} -> tensor<?x?x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[C:.*]] = onnx.Transpose(%[[B]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 2, 3, 1, 3, 3, 0, 5, 0, 4, 6, 0, 3, 1, 3, 3, 2, 3, 0, 4, 6, 0, 5, 0] : tensor<4x2x1x3xi8>>}
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[7, 8, 7, 8] : tensor<4xi32>>}
// CHECK: %[[D:.*]] = onnx.Conv(%[[C]], %[[W]], %[[V]]) {kernel_shape = array<i64: 1, 3>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, pads = array<i64: 0, 1, 0, 1>} : {{.*}} -> tensor<?x4x?x4x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: %[[OUT:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 8, 2] : tensor<4xi64>>}
// CHECK: %[[E:.*]] = onnx.Transpose(%[[D]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[F:.*]] = onnx.Reshape(%[[E]], %[[OUT]])
// CHECK: %[[Y:.*]] = onnx.Transpose(%[[F]]) {perm = array<i64: 0, 3, 1, 2>} : {{.*}} -> tensor<?x2x?x8x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: func.return %[[Y]]
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.01:3,0.02}>
!b = !quant.uniform<i32:f32:0, {0.0002,0.0004}>
!y = !quant.uniform<u8:f32, 0.04:9>
func.func @two_in_two_out(%x: tensor<?x1x?x8x!x>) -> tensor<?x2x?x8x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<2x1x1x3xi8>>} : () -> tensor<2x1x1x3x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[7, 8] : tensor<2xi32>>} : () -> tensor<2x!b>
  %y = onnx.Conv(%x, %w, %b) {pads = array<i64: 0, 1, 0, 1>} : (tensor<?x1x?x8x!x>, tensor<2x1x1x3x!w>, tensor<2x!b>) -> tensor<?x2x?x8x!y>
  func.return %y : tensor<?x2x?x8x!y>
}

// -----

// One axis, a stride, a float result and a float bias.

// CHECK-LABEL: func.func @line(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.5] : tensor<2xf32>>}
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, %[[B]]) {kernel_shape = array<i64: 2>, strides = array<i64: 2>, dilations = array<i64: 1>, pads = array<i64: 0, 0>} : (tensor<1x4x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x4x2x!quant.uniform<i8:f32, 0.01>>, tensor<2xf32>) -> tensor<1x2x2xf32>
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @line(%x: tensor<1x2x8x!x>) -> tensor<1x1x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x2x2xi8>>} : () -> tensor<1x2x2x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf32>>} : () -> tensor<1xf32>
  %y = onnx.Conv(%x, %w, %b) {strides = array<i64: 2>} : (tensor<1x2x8x!x>, tensor<1x2x2x!w>, tensor<1xf32>) -> tensor<1x1x4xf32>
  func.return %y : tensor<1x1x4xf32>
}

// -----

// A row of 7 does not come apart in twos.

// CHECK-LABEL: func.func @unmoved_odd(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_odd(%x: tensor<1x1x7x!x>) -> (tensor<1x1x7x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1xi8>>} : () -> tensor<1x1x1x!w>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x7x!x>, tensor<1x1x1x!w>) -> tensor<1x1x7x!x>
  func.return %y : tensor<1x1x7x!x>
}

// -----

// CHECK-LABEL: func.func @cheapest(
// CHEAPEST-LABEL: func.func @cheapest(
// CHEAPEST: onnx.Reshape
// CHEAPEST: onnx.Conv
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @cheapest(%x: tensor<1x1x64x64x!x>) -> tensor<1x1x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// -----

// Were it worth its while, the weight would stand in the way: there is no remark.

// CHECK-LABEL: func.func @unmoved_many_channels(
// CHEAPEST-LABEL: func.func @unmoved_many_channels(
// CHEAPEST-NOT: onnx.Reshape
// CHEAPEST: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_many_channels(%x: tensor<1x256x8x7x!x>, %w: tensor<256x256x1x1x!w>) -> tensor<1x256x8x7x!x> {
  %y = onnx.Conv(%x, %w) : (tensor<1x256x8x7x!x>, tensor<256x256x1x1x!w>) -> tensor<1x256x8x7x!x>
  func.return %y : tensor<1x256x8x7x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_grouped(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_grouped(%x: tensor<1x2x4x8x!x>) -> tensor<1x2x4x8x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!w>
  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<1x2x4x8x!x>, tensor<2x1x1x1x!w>) -> tensor<1x2x4x8x!x>
  func.return %y : tensor<1x2x4x8x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_width(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_unknown_width(%x: tensor<1x1x256x?x!x>) -> tensor<1x1x256x?x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  // expected-remark@+1 {{the width is not known, and folding pixels into channels divides it [fold-width: unknown-width]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x1x256x?x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x256x?x!x>
  func.return %y : tensor<1x1x256x?x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_auto_pad(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_auto_pad(%x: tensor<1x1x64x64x!x>) -> tensor<1x1x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x1x3xi8>>} : () -> tensor<1x1x1x3x!w>
  // expected-remark@+1 {{the convolution works its pads out by itself [fold-width: auto-pad]}}
  %y = onnx.Conv(%x, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x1x64x64x!x>, tensor<1x1x1x3x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_computed_weight(%x: tensor<1x1x64x64x!x>, %w: tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x> {
  // expected-remark@+1 {{the weight or bias is computed at run time [fold-width: computed-weight]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x1x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_channels(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_unknown_channels(%x: tensor<1x?x64x64x!x>) -> tensor<1x1x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  // expected-remark@+1 {{the number of channels is not known, and pixels are folded into them [fold-width: unknown-channels]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x?x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// -----

// A float result would be moved twice, to channels last and back; one of integers costs that a quarter.

// CHECK-LABEL: func.func @unmoved_float_result(
// CHEAPEST-LABEL: func.func @unmoved_float_result(
// CHEAPEST: onnx.Reshape
// CHEAPEST: onnx.Conv({{.*}} -> tensor<1x4x4000xf32>
// CHEAPEST-NOT: onnx.Reshape
// CHEAPEST: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_float_result(%x: tensor<1x1x4002x!x>) -> (tensor<1x4x4000xf32>, tensor<1x4x4000x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : tensor<4x1x3xi8>>} : () -> tensor<4x1x3x!w>
  %z = onnx.Conv(%x, %w) : (tensor<1x1x4002x!x>, tensor<4x1x3x!w>) -> tensor<1x4x4000x!x>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x4002x!x>, tensor<4x1x3x!w>) -> tensor<1x4x4000xf32>
  func.return %y, %z : tensor<1x4x4000xf32>, tensor<1x4x4000x!x>
}
