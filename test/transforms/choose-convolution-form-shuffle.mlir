// RUN: OPT %s -p choose-convolution-form --print-constants | FILECHECK %s
// RUN: OPT %s -p choose-convolution-form --verify-diagnostics

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.015:7>
!w = !quant.uniform<i8:f32, 0.01>

// Channels are shuffled behind a convolution, whose kernel has them last: the half in other steps is rounded first.

// CHECK-LABEL: func.func @moved(
// CHECK: %[[X:.*]] = onnx.Concat(
// CHECK: %[[LAST:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 0, 2, 3, 1>} : {{.*}} -> tensor<?x8x8x32x!{{.*}}0.02:13>>
// CHECK: %[[SPLIT:.*]] = onnx.Reshape(%[[LAST]], %{{.*}}) : {{.*}} -> tensor<?x8x8x2x16x!{{.*}}>
// CHECK: %[[TURNED:.*]] = onnx.Transpose(%[[SPLIT]]) {perm = array<i64: 0, 1, 2, 4, 3>} : {{.*}} -> tensor<?x8x8x16x2x!{{.*}}>
// CHECK: %[[JOINED:.*]] = onnx.Reshape(%[[TURNED]], %{{.*}}) : {{.*}} -> tensor<?x8x8x32x!{{.*}}>
// CHECK: %[[R:.*]] = onnx.Transpose(%[[JOINED]]) {perm = array<i64: 0, 3, 1, 2>} : {{.*}} -> tensor<?x32x8x8x!{{.*}}0.02:13>>
// CHECK: func.return %[[R]]
func.func @moved(%x: tensor<?x16x8x8x!x>, %w: tensor<16x16x1x1x!w>) -> tensor<?x32x8x8x!x> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[-1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<?x16x8x8x!x>, tensor<16x16x1x1x!w>) -> tensor<?x16x8x8x!x>
  %b = onnx.Conv(%x, %w, _) : (tensor<?x16x8x8x!x>, tensor<16x16x1x1x!w>) -> tensor<?x16x8x8x!y>
  %f = quant.dcast %b : tensor<?x16x8x8x!y> to tensor<?x16x8x8xf32>
  %q = quant.qcast %f : tensor<?x16x8x8xf32> to tensor<?x16x8x8x!x>
  %j = onnx.Concat(%a, %q) {axis = 1 : i64} : (tensor<?x16x8x8x!x>, tensor<?x16x8x8x!x>) -> tensor<?x32x8x8x!x>
  %s = onnx.Reshape(%j, %c) : (tensor<?x32x8x8x!x>, tensor<5xi64>) -> tensor<?x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<?x2x16x8x8x!x>) -> tensor<?x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<?x16x2x8x8x!x>, tensor<4xi64>) -> tensor<?x32x8x8x!x>
  func.return %r : tensor<?x32x8x8x!x>
}

// A clamp in between, other than by the type, moves behind the Transpose: a session moves none across a Max.

// CHECK-LABEL: func.func @moved_in_front_of_clamp(
// CHECK: %[[X:.*]] = onnx.Conv(
// CHECK: %[[LAST:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[R:.*]] = onnx.Relu(%[[LAST]]) : (tensor<1x8x8x32x!{{.*}}>) -> tensor<1x8x8x32x!{{.*}}>
// CHECK: onnx.Reshape(%[[R]], %{{.*}}) : {{.*}} -> tensor<1x8x8x2x16x!{{.*}}>
func.func @moved_in_front_of_clamp(%x: tensor<1x32x8x8x!x>, %w: tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!x> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<1x32x8x8x!x>, tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!x>
  %z = onnx.Relu(%a) : (tensor<1x32x8x8x!x>) -> tensor<1x32x8x8x!x>
  %s = onnx.Reshape(%z, %c) : (tensor<1x32x8x8x!x>, tensor<5xi64>) -> tensor<1x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!x>) -> tensor<1x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!x>, tensor<4xi64>) -> tensor<1x32x8x8x!x>
  func.return %r : tensor<1x32x8x8x!x>
}

// A clamp that another op reads stays, and the Transpose behind it.

// CHECK-LABEL: func.func @moved_behind_shared_clamp(
// CHECK: %[[R:.*]] = onnx.Relu(
// CHECK: onnx.Transpose(%[[R]]) {perm = array<i64: 0, 2, 3, 1>}
func.func @moved_behind_shared_clamp(%x: tensor<1x32x8x8x!x>, %w: tensor<32x32x1x1x!w>) -> (tensor<1x32x8x8x!x>, tensor<1x32x8x8x!x>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<1x32x8x8x!x>, tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!x>
  %z = onnx.Relu(%a) : (tensor<1x32x8x8x!x>) -> tensor<1x32x8x8x!x>
  %s = onnx.Reshape(%z, %c) : (tensor<1x32x8x8x!x>, tensor<5xi64>) -> tensor<1x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!x>) -> tensor<1x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!x>, tensor<4xi64>) -> tensor<1x32x8x8x!x>
  func.return %r, %z : tensor<1x32x8x8x!x>, tensor<1x32x8x8x!x>
}

// Convolutions of 16 bits run in float, with channels first.

// CHECK-LABEL: func.func @unmoved_wide(
// CHECK: onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 1, 3, 4>}
!v = !quant.uniform<u16:f32, 0.0002:3300>
func.func @unmoved_wide(%x: tensor<1x32x8x8x!v>, %w: tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!v> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  // expected-remark@+1 {{an operand or the result is not 8-bit, as the measured kernels require [choose-convolution-form: no-costs]}}
  %a = onnx.Conv(%x, %w, _) : (tensor<1x32x8x8x!v>, tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!v>
  %s = onnx.Reshape(%a, %c) : (tensor<1x32x8x8x!v>, tensor<5xi64>) -> tensor<1x2x16x8x8x!v>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!v>) -> tensor<1x16x2x8x8x!v>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!v>, tensor<4xi64>) -> tensor<1x32x8x8x!v>
  func.return %r : tensor<1x32x8x8x!v>
}

// What was quantized with its channels first stays so.

// CHECK-LABEL: func.func @unmoved_quantized_first(
// CHECK: onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 1, 3, 4>}
func.func @unmoved_quantized_first(%x: tensor<1x16x8x8x!x>, %w: tensor<16x16x1x1x!w>, %f: tensor<1x16x8x8xf32>) -> tensor<1x32x8x8x!x> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<1x16x8x8x!x>, tensor<16x16x1x1x!w>) -> tensor<1x16x8x8x!x>
  %q = quant.qcast %f : tensor<1x16x8x8xf32> to tensor<1x16x8x8x!x>
  %j = onnx.Concat(%a, %q) {axis = 1 : i64} : (tensor<1x16x8x8x!x>, tensor<1x16x8x8x!x>) -> tensor<1x32x8x8x!x>
  %s = onnx.Reshape(%j, %c) : (tensor<1x32x8x8x!x>, tensor<5xi64>) -> tensor<1x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!x>) -> tensor<1x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!x>, tensor<4xi64>) -> tensor<1x32x8x8x!x>
  func.return %r : tensor<1x32x8x8x!x>
}

// What goes on in another shape, as in five axes, is no shuffle of channels; nor is what is read in between.

// CHECK-LABEL: func.func @unmoved_other_shape(
// CHECK: onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 1, 3, 4>}
func.func @unmoved_other_shape(%x: tensor<1x32x8x8x!x>, %w: tensor<32x32x1x1x!w>) -> tensor<1x16x16x8x!x> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 16, 16, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<1x32x8x8x!x>, tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!x>
  %s = onnx.Reshape(%a, %c) : (tensor<1x32x8x8x!x>, tensor<5xi64>) -> tensor<1x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!x>) -> tensor<1x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!x>, tensor<4xi64>) -> tensor<1x16x16x8x!x>
  func.return %r : tensor<1x16x16x8x!x>
}

// CHECK-LABEL: func.func @unmoved_read_in_between(
// CHECK: onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 1, 3, 4>}
func.func @unmoved_read_in_between(%x: tensor<1x32x8x8x!x>, %w: tensor<32x32x1x1x!w>) -> (tensor<1x32x8x8x!x>, tensor<1x2x16x8x8x!x>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2, 16, 8, 8] : tensor<5xi64>>} : () -> tensor<5xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 32, 8, 8] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Conv(%x, %w, _) : (tensor<1x32x8x8x!x>, tensor<32x32x1x1x!w>) -> tensor<1x32x8x8x!x>
  %s = onnx.Reshape(%a, %c) : (tensor<1x32x8x8x!x>, tensor<5xi64>) -> tensor<1x2x16x8x8x!x>
  %t = onnx.Transpose(%s) {perm = array<i64: 0, 2, 1, 3, 4>} : (tensor<1x2x16x8x8x!x>) -> tensor<1x16x2x8x8x!x>
  %r = onnx.Reshape(%t, %d) : (tensor<1x16x2x8x8x!x>, tensor<4xi64>) -> tensor<1x32x8x8x!x>
  func.return %r, %s : tensor<1x32x8x8x!x>, tensor<1x2x16x8x8x!x>
}
