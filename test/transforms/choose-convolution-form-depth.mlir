// RUN: OPT %s -p 'choose-convolution-form{form="depth"}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'choose-convolution-form{form="depth"}' --verify-diagnostics

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
!v = !quant.uniform<i8:f32:0, {0.01,0.02}>
!b = !quant.uniform<i32:f32:0, {0.0002,0.0004}>
!y = !quant.uniform<u8:f32, 0.04:9>

// Two slices, every other one of them, side by side as channels; then they are images.

// CHECK-LABEL: func.func @slices(
// CHECK: %[[L:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 4, 1>}
// CHECK: %[[Q:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 0, 0, 0, 0, 0, 0, 0] : tensor<10xi64>>}
// CHECK: %[[P:.*]] = onnx.Pad(%[[L]], %[[Q]], _, _) : {{.*}} -> tensor<2x7x3x4x1x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-COUNT-2: onnx.Slice(%[[P]], {{.*}} -> tensor<2x3x3x4x1x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[C:.*]] = onnx.Concat({{.*}}) {axis = 4 : i64} : {{.*}} -> tensor<2x3x3x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[6, 3, 4, 2] : tensor<4xi64>>}
// CHECK: %[[R:.*]] = onnx.Reshape(%[[C]], %[[S]])
// CHECK: %[[F:.*]] = onnx.Transpose(%[[R]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x2x1x2xi8>>}
// CHECK: %[[D:.*]] = onnx.Conv(%[[F]], %[[W]], %{{.*}}) {kernel_shape = array<i64: 1, 2>, dilations = array<i64: 1, 2>, pads = array<i64: 0, 1, 1, 0>} : {{.*}} -> tensor<6x2x4x3x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: %[[A:.*]] = onnx.Transpose(%[[D]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[2, 3, 4, 3, 2] : tensor<5xi64>>}
// CHECK: %[[U:.*]] = onnx.Reshape(%[[A]], %[[T]])
// CHECK: %[[Y:.*]] = onnx.Transpose(%[[U]]) {perm = array<i64: 0, 4, 1, 2, 3>} : {{.*}} -> tensor<2x2x3x4x3x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: func.return %[[Y]]
func.func @slices(%x: tensor<2x1x6x3x4x!x>) -> tensor<2x2x3x4x3x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x1x2x1x2xi8>>} : () -> tensor<2x1x2x1x2x!v>
  %b = onnx.Constant() {value = #onnx.tensor<[7, 8] : tensor<2xi32>>} : () -> tensor<2x!b>
  %y = onnx.Conv(%x, %w, %b) {strides = array<i64: 2, 1, 1>, dilations = array<i64: 1, 1, 2>, pads = array<i64: 1, 0, 1, 0, 1, 0>} : (tensor<2x1x6x3x4x!x>, tensor<2x1x2x1x2x!v>, tensor<2x!b>) -> tensor<2x2x3x4x3x!y>
  func.return %y : tensor<2x2x3x4x3x!y>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// A kernel of one slice gathers nothing, groups and an unknown batch included; one along the first axis alone does not
// care where rows end.

// CHECK-LABEL: func.func @one_slice(
// CHECK-NOT: onnx.Slice
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 3, 4, 2] : tensor<4xi64>>}
// CHECK: onnx.Conv({{.*}} {kernel_shape = array<i64: 1, 2>, group = 2 : i64} {{.*}} -> tensor<?x2x3x3x
// CHECK: onnx.Constant() {value = #onnx.tensor<[-1, 6, 3, 3, 2] : tensor<5xi64>>}
func.func @one_slice(%x: tensor<?x2x6x3x4x!x>) -> tensor<?x2x6x3x3x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x1x1x2xi8>>} : () -> tensor<2x1x1x1x2x!w>
  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<?x2x6x3x4x!x>, tensor<2x1x1x1x2x!w>) -> tensor<?x2x6x3x3x!x>
  func.return %y : tensor<?x2x6x3x3x!x>
}

// CHECK-LABEL: func.func @one_row(
// CHECK-NOT: onnx.Slice
// CHECK: onnx.Constant() {value = #onnx.tensor<[2, 6, -1, 1] : tensor<4xi64>>}
// CHECK: onnx.Conv({{.*}} {kernel_shape = array<i64: 2, 1>, pads = array<i64: 1, 0, 0, 0>} {{.*}} -> tensor<2x1x6x?x
// CHECK: onnx.Constant() {value = #onnx.tensor<[2, 6, -1, 4, 1] : tensor<5xi64>>}
func.func @one_row(%x: tensor<2x1x6x?x4x!x>) -> tensor<2x1x6x?x4x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2x1x1xi8>>} : () -> tensor<1x1x2x1x1x!w>
  %y = onnx.Conv(%x, %w) {pads = array<i64: 1, 0, 0, 0, 0, 0>} : (tensor<2x1x6x?x4x!x>, tensor<1x1x2x1x1x!w>) -> tensor<2x1x6x?x4x!x>
  func.return %y : tensor<2x1x6x?x4x!x>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_others(%x: tensor<1x2x6x3x4x!x>, %u: tensor<1x2x6x?x4x!x>, %c: tensor<1x?x6x3x4x!x>, %r: tensor<*x!x>, %v: tensor<2x1x2x1x1x!w>) -> (tensor<1x2x5x3x4x!x>, tensor<1x1x5x?x4x!x>, tensor<1x1x5x3x4x!x>, tensor<1x1x5x3x4x!x>, tensor<1x2x5x3x4x!x>, tensor<1x1x6x3x4x!x>, tensor<1x1x5x3x4xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<1x2x2x1x2xi8>>} : () -> tensor<1x2x2x1x2x!w>
  %g = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x1x2x1x2xi8>>} : () -> tensor<2x1x2x1x2x!w>
  // expected-remark@+1 {{the weight, or a bias that is repeated, is computed at run time [choose-convolution-form: computed-parameter]}}
  %1 = onnx.Conv(%x, %v) {group = 2 : i64} : (tensor<1x2x6x3x4x!x>, tensor<2x1x2x1x1x!w>) -> tensor<1x2x5x3x4x!x>
  // expected-remark@+1 {{more than one size is unknown, so no Reshape can split the joined axes again [choose-convolution-form: unknown-shape]}}
  %2 = onnx.Conv(%u, %w) {pads = array<i64: 0, 0, 1, 0, 0, 0>} : (tensor<1x2x6x?x4x!x>, tensor<1x2x2x1x2x!w>) -> tensor<1x1x5x?x4x!x>
  // expected-remark@+1 {{the number of channels of the operand or the result is not known [choose-convolution-form: unknown-shape]}}
  %3 = onnx.Conv(%c, %w) {pads = array<i64: 0, 0, 1, 0, 0, 0>} : (tensor<1x?x6x3x4x!x>, tensor<1x2x2x1x2x!w>) -> tensor<1x1x5x3x4x!x>
  // expected-remark@+1 {{[choose-convolution-form: unknown-shape]}}
  %4 = onnx.Conv(%r, %w) {pads = array<i64: 0, 0, 1, 0, 0, 0>} : (tensor<*x!x>, tensor<1x2x2x1x2x!w>) -> tensor<1x1x5x3x4x!x>
  // expected-remark@+1 {{the convolution has groups, whose channels would not stay together [choose-convolution-form: float-result]}}
  %5 = onnx.Conv(%x, %g) {group = 2 : i64, pads = array<i64: 0, 0, 1, 0, 0, 0>} : (tensor<1x2x6x3x4x!x>, tensor<2x1x2x1x2x!w>) -> tensor<1x2x5x3x4x!x>
  // expected-remark@+1 {{[choose-convolution-form: unknown-shape]}}
  %6 = onnx.Conv(%u, %w) {auto_pad = "SAME_UPPER"} : (tensor<1x2x6x?x4x!x>, tensor<1x2x2x1x2x!w>) -> tensor<1x1x6x3x4x!x>
  %7 = onnx.Conv(%x, %w) {pads = array<i64: 0, 0, 1, 0, 0, 0>} : (tensor<1x2x6x3x4x!x>, tensor<1x2x2x1x2x!w>) -> tensor<1x1x5x3x4xf32>
  func.return %1, %2, %3, %4, %5, %6, %7 : tensor<1x2x5x3x4x!x>, tensor<1x1x5x?x4x!x>, tensor<1x1x5x3x4x!x>, tensor<1x1x5x3x4x!x>, tensor<1x2x5x3x4x!x>, tensor<1x1x6x3x4x!x>, tensor<1x1x5x3x4xf32>
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {
  // CHECK-LABEL: func.func @unmoved_opset(
  // CHECK-NOT: onnx.Reshape
  // CHECK: func.return
  func.func @unmoved_opset(%x: tensor<1x1x6x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x1x5x2x4x!quant.uniform<u8:f32, 0.02:13>> {
    %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2x1xi8>>} : () -> tensor<1x1x2x2x1x!quant.uniform<i8:f32, 0.01>>
    // expected-remark@+1 {{Slice and Pad take computed bounds from opset 11 on [choose-convolution-form: opset]}}
    %y = onnx.Conv(%x, %w) : (tensor<1x1x6x3x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<1x1x2x2x1x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x1x5x2x4x!quant.uniform<u8:f32, 0.02:13>>
    func.return %y : tensor<1x1x5x2x4x!quant.uniform<u8:f32, 0.02:13>>
  }
}
