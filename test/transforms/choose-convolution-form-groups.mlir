// RUN: OPT %s -p 'choose-convolution-form{form="groups" by=2}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'choose-convolution-form{form="groups" by=2}' --verify-diagnostics

// Four groups of one channel become two of two; what a channel does not see is stored as its zero point.

// CHECK-LABEL: func.func @two_in_one(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 7, 7, 0, 0, 3, 4, 5, 6, 0, 0, 0, 0, 7, 8] : tensor<4x2x1x2xi8>>} : () -> tensor<4x2x1x2x!quant.uniform<i8:f32:0, {0.01:7,0.02,0.01,0.02}>>
// CHECK: %[[Y:.*]] = onnx.Conv(%x, %[[W]], %{{.*}}) {{{.*}}group = 2 : i64{{.*}}} : (tensor<1x4x1x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<4x2x1x2x!{{.*}}>, tensor<4x!{{.*}}>) -> tensor<1x4x1x4x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.01:7,0.02,0.01,0.02}>
!b = !quant.uniform<i32:f32:0, {0.0002,0.0004,0.0002,0.0004}>
!y = !quant.uniform<u8:f32, 0.04:9>
func.func @two_in_one(%x: tensor<1x4x1x5x!x>) -> tensor<1x4x1x4x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<4x1x1x2xi8>>} : () -> tensor<4x1x1x2x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[5, 6, 7, 8] : tensor<4xi32>>} : () -> tensor<4x!b>
  %y = onnx.Conv(%x, %w, %b) {group = 4 : i64} : (tensor<1x4x1x5x!x>, tensor<4x1x1x2x!w>, tensor<4x!b>) -> tensor<1x4x1x4x!y>
  func.return %y : tensor<1x4x1x4x!y>
}

// -----

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: group = 4 : i64
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
func.func @unmoved_computed_weight(%x: tensor<1x4x1x5x!x>, %w: tensor<4x1x1x1x!w>) -> tensor<1x4x1x5x!x> {
  // expected-remark@+1 {{the weight, or a bias that is repeated, is computed at run time [choose-convolution-form: computed-parameter]}}
  %y = onnx.Conv(%x, %w) {group = 4 : i64} : (tensor<1x4x1x5x!x>, tensor<4x1x1x1x!w>) -> tensor<1x4x1x5x!x>
  func.return %y : tensor<1x4x1x5x!x>
}

// -----

// A float result is made by another kernel, and u8 weights were not measured.

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-COUNT-2: group = 2 : i64
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>
!v = !quant.uniform<u8:f32, 0.01:128>
func.func @unmoved_others(%x: tensor<1x2x1x5x!x>) -> (tensor<1x2x1x5xf32>, tensor<1x2x1x5x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!w>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xui8>>} : () -> tensor<2x1x1x1x!v>
  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<1x2x1x5x!x>, tensor<2x1x1x1x!w>) -> tensor<1x2x1x5xf32>
  // expected-remark@+1 {{an operand or the result is not 8-bit, as the measured kernels require [choose-convolution-form: no-costs]}}
  %z = onnx.Conv(%x, %v) {group = 2 : i64} : (tensor<1x2x1x5x!x>, tensor<2x1x1x1x!v>) -> tensor<1x2x1x5x!x>
  func.return %y, %z : tensor<1x2x1x5xf32>, tensor<1x2x1x5x!x>
}
