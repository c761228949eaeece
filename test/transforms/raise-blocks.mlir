// RUN: OPT %s -p 'raise-blocks{target=generic}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'raise-blocks{target=generic}'

// The integers minus zero points are -8 to 7: no zero points. The lower half of a byte holds the first value.
// CHECK-LABEL: func.func @signed(
// CHECK-DAG: %[[Q:.*]] = onnx.Constant() {value = #onnx.tensor<[128, 106, 204, 166, 8, 226, 68, 46, 
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<4xf32>>}
// CHECK: onnx_ms.MatMulNBits(%x, %[[Q]], %[[S]], _, _, _) {K = 32 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64, accuracy_level = 1 : i64}
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @signed(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// Zero points that differ: each is the least that the block needs.
// CHECK-LABEL: func.func @zero_points(
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[131, 249] : tensor<2xui8>>}
// CHECK: onnx_ms.MatMulNBits(%x, %{{.*}}, %{{.*}}, %[[Z]], _, _) {
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @zero_points(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[3.0, 8.0, 9.0, 15.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// A negative scale turns the integers; a scale of 0, which a block of zeros may have, becomes 1.
// CHECK-LABEL: func.func @signs(
// CHECK: onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 0.125, 2.0] : tensor<4xf32>>}
// CHECK: onnx_ms.MatMulNBits(%x, %{{.*}}, %{{.*}}, %{{.*}}, _, _) {
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @signs(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5, 0.0, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// A zero point between integers, as HQQ finds it.
// CHECK-LABEL: func.func @unmoved_fraction(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_fraction(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[3.0, 8.25, 9.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  // expected-remark@+1 {{[raise-blocks: value-rounds]}}
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// More than 4 bits.
// CHECK-LABEL: func.func @unmoved_bytes(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_bytes(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 120, 150, 90, 180, 180, 90, 150, 120, 0, 30, 210, 60, 60, 210, 30, 0, 120, 150, 90, 180, 180, 90, 150, 120, 0, 30, 210, 60, 60, 210, 30, 0, 120, 150, 90, 180, 180, 90, 150, 120, 0, 30, 210, 60, 60, 210, 30, 0, 120, 150, 90, 180, 180, 90, 150, 120, 0, 30, 210, 60, 60, 210, 30] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[100.0, 100.0, 100.0, 100.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  // expected-remark@+1 {{[raise-blocks: value-rounds]}}
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// The kernel takes blocks of 16 and more.
// CHECK-LABEL: func.func @unmoved_small_blocks(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_small_blocks(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x4x8xui8>>} : () -> tensor<2x4x8xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0, 8.0] : tensor<2x4x1xf32>>} : () -> tensor<2x4x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0, 1.0, 3.0, 4.0, 8.0] : tensor<2x4x1xf32>>} : () -> tensor<2x4x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x4x8xui8>) -> tensor<2x4x8xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x4x8xf32>, tensor<2x4x1xf32>) -> tensor<2x4x8xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x4x8xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  // expected-remark@+1 {{[raise-blocks: block-size]}}
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// A scale for each channel is not one for each block.
// CHECK-LABEL: func.func @unmoved_channels(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_channels(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.5, 2.0, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// A Reshape that cuts the blocks.
// CHECK-LABEL: func.func @unmoved_cut(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_cut(%x : tensor<4x24xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<3x1x16xui8>>} : () -> tensor<3x1x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0] : tensor<3x1x1xf32>>} : () -> tensor<3x1x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125] : tensor<3x1x1xf32>>} : () -> tensor<3x1x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 24] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<3x1x16xui8>) -> tensor<3x1x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<3x1x16xf32>, tensor<3x1x1xf32>) -> tensor<3x1x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<3x1x16xf32>, tensor<3x1x1xf32>) -> tensor<3x1x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<3x1x16xf32>, tensor<2xi64>) -> tensor<2x24xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x24xf32>) -> tensor<24x2xf32>
  // expected-remark@+1 {{[raise-blocks: block-size]}}
  %y = onnx.MatMul(%x, %t) : (tensor<4x24xf32>, tensor<24x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// DequantizeLinear takes blocks from opset 21 on.
// CHECK-LABEL: func.func @unmoved_old(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_old(%x : tensor<4x32xf32>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  // expected-remark@+1 {{[raise-blocks: opset]}}
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}

// -----

// As the activation the weight has no kernel.
// CHECK-LABEL: func.func @unmoved_activation(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_activation(%v : tensor<2x4xf32>) -> tensor<32x4xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %y = onnx.MatMul(%t, %v) : (tensor<32x2xf32>, tensor<2x4xf32>) -> tensor<32x4xf32>
  func.return %y : tensor<32x4xf32>
}
}

// -----

// The kernel takes an activation of rank 2 and more.
// CHECK-LABEL: func.func @unmoved_vector(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_vector(%x : tensor<32xf32>) -> tensor<2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  // expected-remark@+1 {{[raise-blocks: product-form]}}
  %y = onnx.MatMul(%x, %t) : (tensor<32xf32>, tensor<32x2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
}

// -----

// The activation is integers: left to an integer kernel.
// CHECK-LABEL: func.func @unmoved_integers(
// CHECK-NOT: MatMulNBits
// CHECK: onnx.MatMul(
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_integers(%i : tensor<4x32xui8>) -> tensor<4x2xf32> {
  %q = onnx.Constant() {value = #onnx.tensor<[0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2, 0, 8, 10, 6, 12, 12, 6, 10, 8, 0, 2, 14, 4, 4, 14, 2] : tensor<2x2x16xui8>>} : () -> tensor<2x2x16xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[8.0, 8.0, 8.0, 8.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2x1xf32>>} : () -> tensor<2x2x1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 32] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Cast(%q) {to = 1 : i64} : (tensor<2x2x16xui8>) -> tensor<2x2x16xf32>
  %b = onnx.Sub(%a, %z) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %c = onnx.Mul(%b, %s) : (tensor<2x2x16xf32>, tensor<2x2x1xf32>) -> tensor<2x2x16xf32>
  %r = onnx.Reshape(%c, %n) : (tensor<2x2x16xf32>, tensor<2xi64>) -> tensor<2x32xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x32xf32>) -> tensor<32x2xf32>
  %x = onnx.Cast(%i) {to = 1 : i64} : (tensor<4x32xui8>) -> tensor<4x32xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<4x32xf32>, tensor<32x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
}
