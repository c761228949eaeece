// RUN: OPT %s -p compose-attention | FILECHECK %s
// RUN: DIAGNOSTICS -p compose-attention

builtin.module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {

// The rank of the mask is not known.

// CHECK-LABEL: func.func @unmoved_mask_no_rank(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_mask_no_rank(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>, %m: tensor<*xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %t = onnx.Add(%u, %m) : (tensor<2x3x5x7xf32>, tensor<*xf32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// Nor is that of the query.

// CHECK-LABEL: func.func @unmoved_no_rank(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_no_rank(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>, %q: tensor<*xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<*xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// The query is part of a matrix with an unknown number of rows, whose batch no Reshape of constant sizes can write.

// CHECK-LABEL: func.func @unmoved_open_matrix(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_open_matrix(%x: tensor<?x12xf32>, %y: tensor<1x7x12xf32>, %z: tensor<1x7x18xf32>) -> tensor<1x?x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %one = onnx.Constant() {value = #onnx.tensor<[1, -1, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %one) : (tensor<?x12xf32>, tensor<4xi64>) -> tensor<1x?x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x?x3x4xf32>) -> tensor<1x3x?x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<1x7x12xf32>, tensor<4xi64>) -> tensor<1x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x7x3x4xf32>) -> tensor<1x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<1x7x18xf32>, tensor<4xi64>) -> tensor<1x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x7x3x6xf32>) -> tensor<1x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<1x3x?x4xf32>, tensor<1x3x4x7xf32>) -> tensor<1x3x?x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<1x3x?x7xf32>, tensor<f32>) -> tensor<1x3x?x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<1x3x?x7xf32>) -> tensor<1x3x?x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<1x3x?x7xf32>, tensor<1x3x7x6xf32>) -> tensor<1x3x?x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x3x?x6xf32>) -> tensor<1x?x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<1x?x3x6xf32>, tensor<3xi64>) -> tensor<1x?x18xf32>
  func.return %r : tensor<1x?x18xf32>
}

// The heads of the query overlap those of the key.

// CHECK-LABEL: func.func @unmoved_overlap(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_overlap(%x: tensor<2x5x16xf32>) -> tensor<2x5x12xf32> {
  %heads = onnx.Constant() {value = #onnx.tensor<[0, 0, 4, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = onnx.Reshape(%x, %heads) : (tensor<2x5x16xf32>, tensor<4xi64>) -> tensor<2x5x4x4xf32>
  %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %two = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %three = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %four = onnx.Constant() {value = #onnx.tensor<[4] : tensor<1xi64>>} : () -> tensor<1xi64>
  %q0 = onnx.Slice(%r, %zero, %three, %two) : (tensor<2x5x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x5x3x4xf32>
  %k0 = onnx.Slice(%r, %one, %four, %two) : (tensor<2x5x4x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%q0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %k = onnx.Transpose(%k0) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x4x5xf32>
  %v = onnx.Transpose(%k0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x5x5xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%s) {axis = -1 : i64} : (tensor<2x3x5x5xf32>) -> tensor<2x3x5x5xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x5xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 12] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Reshape(%p, %wide) : (tensor<2x5x3x4xf32>, tensor<3xi64>) -> tensor<2x5x12xf32>
  func.return %y : tensor<2x5x12xf32>
}

// A mask of an unknown number of samples and heads in one axis.

// CHECK-LABEL: func.func @unmoved_matrices(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_matrices(%x: tensor<10x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x12xf32>, %m: tensor<?x5x7xf32>) -> tensor<10x12xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[2, 5, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %b = onnx.Constant() {value = #onnx.tensor<[2, 7, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %c = onnx.Constant() {value = #onnx.tensor<[6, 5, 4] : tensor<3xi64>>} : () -> tensor<3xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[6, 7, 4] : tensor<3xi64>>} : () -> tensor<3xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[2, 3, 5, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %f = onnx.Constant() {value = #onnx.tensor<[10, 12] : tensor<2xi64>>} : () -> tensor<2xi64>
  %q0 = onnx.Reshape(%x, %a) : (tensor<10x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q1 = onnx.Transpose(%q0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %q = onnx.Reshape(%q1, %c) : (tensor<2x3x5x4xf32>, tensor<3xi64>) -> tensor<6x5x4xf32>
  %k0 = onnx.Reshape(%y, %b) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k1 = onnx.Transpose(%k0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x7x4xf32>
  %k2 = onnx.Reshape(%k1, %d) : (tensor<2x3x7x4xf32>, tensor<3xi64>) -> tensor<6x7x4xf32>
  %k = onnx.Transpose(%k2) {perm = array<i64: 0, 2, 1>} : (tensor<6x7x4xf32>) -> tensor<6x4x7xf32>
  %v0 = onnx.Reshape(%z, %b) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %v1 = onnx.Transpose(%v0) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x7x4xf32>
  %v = onnx.Reshape(%v1, %d) : (tensor<2x3x7x4xf32>, tensor<3xi64>) -> tensor<6x7x4xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<6x5x4xf32>, tensor<6x4x7xf32>) -> tensor<6x5x7xf32>
  %t = onnx.Add(%m, %s) : (tensor<?x5x7xf32>, tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%t) {axis = 2 : i64} : (tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<6x5x7xf32>, tensor<6x7x4xf32>) -> tensor<6x5x4xf32>
  %o1 = onnx.Reshape(%o, %e) : (tensor<6x5x4xf32>, tensor<4xi64>) -> tensor<2x3x5x4xf32>
  %p = onnx.Transpose(%o1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %r = onnx.Reshape(%p, %f) : (tensor<2x5x3x4xf32>, tensor<2xi64>) -> tensor<10x12xf32>
  func.return %r : tensor<10x12xf32>
}

// One query for all samples.

// CHECK-LABEL: func.func @unmoved_batch(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_batch(%x: tensor<1x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<1x5x12xf32>, tensor<4xi64>) -> tensor<1x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x5x3x4xf32>) -> tensor<1x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<1x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// With one head there is nothing to gather.

// CHECK-LABEL: func.func @unmoved_one_head(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_one_head(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads1x12 = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 12] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads1x18 = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 18] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads1x12) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x1x12xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x1x12xf32>) -> tensor<2x1x5x12xf32>
  %kr = onnx.Reshape(%y, %heads1x12) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x1x12xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x1x12xf32>) -> tensor<2x1x12x7xf32>
  %vr = onnx.Reshape(%z, %heads1x18) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x1x18xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x1x18xf32>) -> tensor<2x1x7x18xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x1x5x12xf32>, tensor<2x1x12x7xf32>) -> tensor<2x1x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x1x5x7xf32>, tensor<f32>) -> tensor<2x1x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x1x5x7xf32>) -> tensor<2x1x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x1x5x7xf32>, tensor<2x1x7x18xf32>) -> tensor<2x1x5x18xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x1x5x18xf32>) -> tensor<2x5x1x18xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x1x18xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// The kernel may take the square root of the factor.

// CHECK-LABEL: func.func @unmoved_negative(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_negative(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[-0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// The Softmax is along the queries.

// CHECK-LABEL: func.func @unmoved_other_axis(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_other_axis(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  %w = onnx.Softmax(%u) {axis = 2 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// The result of each head is used by itself.

// CHECK-LABEL: func.func @unmoved_result(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_result(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x3x5x6xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %g = onnx.Relu(%o) : (tensor<2x3x5x6xf32>) -> tensor<2x3x5x6xf32>
  func.return %g : tensor<2x3x5x6xf32>
}
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 22 : i64}} {

// The op came later.

// CHECK-LABEL: func.func @unmoved_opset(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_opset(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: opset]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {

// The Softmax is kept as it is.

// CHECK-LABEL: func.func @unmoved_kept_float(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_kept_float(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<2x5x12xf32>, tensor<4xi64>) -> tensor<2x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x5x3x4xf32>) -> tensor<2x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<2x7x12xf32>, tensor<4xi64>) -> tensor<2x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x7x3x4xf32>) -> tensor<2x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<2x7x18xf32>, tensor<4xi64>) -> tensor<2x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x7x3x6xf32>) -> tensor<2x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<2x3x5x4xf32>, tensor<2x3x4x7xf32>) -> tensor<2x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<2x3x5x7xf32>, tensor<f32>) -> tensor<2x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: kept-float]}}
  %w = onnx.Softmax(%u) {axis = -1 : i64} attributes {qdialect.keep_float} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

}
