// RUN: OPT %s -p 'choose-convolution-form{form="width" by=2,2}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'choose-convolution-form{form="width" by=2,2}' --verify-diagnostics

// Two pixels make two: the kernel of 3 becomes one of 3, its zeros stored as each channel's zero point.

// CHECK-LABEL: func.func @two_in_two_out(
// CHECK: %[[A:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[IN:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 4, 2] : tensor<4xi64>>}
// CHECK: %[[B:.*]] = onnx.Reshape(%[[A]], %[[IN]]) : {{.*}} -> tensor<?x?x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[C:.*]] = onnx.Transpose(%[[B]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 2, 3, 1, 3, 3, 0, 5, 0, 4, 6, 0, 3, 1, 3, 3, 2, 3, 0, 4, 6, 0, 5, 0] : tensor<4x2x1x3xi8>>}
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[7, 8, 7, 8] : tensor<4xi32>>}
// CHECK: %[[D:.*]] = onnx.Conv(%[[C]], %[[W]], %[[V]]) {kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 1>} : {{.*}} -> tensor<?x4x?x4x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: %[[E:.*]] = onnx.Transpose(%[[D]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[OUT:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 8, 2] : tensor<4xi64>>}
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
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, %[[B]]) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<1x4x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x4x2x!quant.uniform<i8:f32, 0.01>>, tensor<2xf32>) -> tensor<1x2x2xf32>
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
  // expected-remark@+1 {{the width is not known, and packing pixels into channels divides it [choose-convolution-form: unknown-shape]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x1x256x?x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x256x?x!x>
  func.return %y : tensor<1x1x256x?x!x>
}

// -----

// SAME_UPPER pads one in front and one behind; with a size that is not known, nobody knows.

// CHECK-LABEL: func.func @auto_pad(
// CHECK: onnx.Conv({{.*}} {kernel_shape = array<i64: 1, 3>, pads = array<i64: 0, 1, 0, 1>}
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @auto_pad(%x: tensor<1x1x64x64x!x>) -> tensor<1x1x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x1x3xi8>>} : () -> tensor<1x1x1x3x!w>
  %y = onnx.Conv(%x, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x1x64x64x!x>, tensor<1x1x1x3x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// CHECK-LABEL: func.func @unmoved_auto_pad(
// CHECK-NOT: onnx.Reshape
// CHECK: return
func.func @unmoved_auto_pad(%x: tensor<1x1x?x64x!x>) -> tensor<1x1x?x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<1x1x1x3xi8>>} : () -> tensor<1x1x1x3x!w>
  // expected-remark@+1 {{auto_pad computes the pads from an unknown size; give the model static sizes [choose-convolution-form: unknown-shape]}}
  %y = onnx.Conv(%x, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x1x?x64x!x>, tensor<1x1x1x3x!w>) -> tensor<1x1x?x64x!x>
  func.return %y : tensor<1x1x?x64x!x>
}

// -----

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK-NOT: onnx.Reshape
// CHECK: return
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_computed_weight(%x: tensor<1x1x64x64x!x>, %w: tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x> {
  // expected-remark@+1 {{the weight, or a bias that is repeated, is computed at run time [choose-convolution-form: computed-parameter]}}
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
  // expected-remark@+1 {{the number of channels of the operand or the result is not known [choose-convolution-form: unknown-shape]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x?x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}
