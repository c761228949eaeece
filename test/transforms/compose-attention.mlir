// RUN: OPT %s -p compose-attention | FILECHECK %s
// RUN: DIAGNOSTICS -p compose-attention

builtin.module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {

// Queries of another number than keys, values of another width.

// CHECK-LABEL: func.func @cross(
// CHECK-NEXT: %[[Y:.*]] = onnx.Attention(%x, %y, %z, _, _, _, _) {q_num_heads = 3 : i64, kv_num_heads = 3 : i64, scale = 2.500000e-01 : f32} : (tensor<2x5x12xf32>, tensor<2x7x12xf32>, tensor<2x7x18xf32>) -> tensor<2x5x18xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @cross(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
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
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// A mask of all axes, of unknown batch, and of no heads.

// CHECK-LABEL: func.func @masked(
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[-3.4e+38] : tensor<f32>>}
// CHECK: %[[M:.*]] = onnx.Max(%m, %[[C]]) : (tensor<?x1x5x7xf32>, tensor<f32>) -> tensor<?x1x5x7xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Attention(%x, %y, %z, %[[M]], _, _, _) {{.*}} : (tensor<?x5x12xf32>, tensor<?x7x12xf32>, tensor<?x7x18xf32>, tensor<?x1x5x7xf32>) -> tensor<?x5x18xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @masked(%x: tensor<?x5x12xf32>, %y: tensor<?x7x12xf32>, %z: tensor<?x7x18xf32>, %m: tensor<?x1x5x7xf32>) -> tensor<?x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<?x5x12xf32>, tensor<4xi64>) -> tensor<?x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x5x3x4xf32>) -> tensor<?x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<?x7x12xf32>, tensor<4xi64>) -> tensor<?x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x7x3x4xf32>) -> tensor<?x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<?x7x18xf32>, tensor<4xi64>) -> tensor<?x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x7x3x6xf32>) -> tensor<?x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<?x3x5x4xf32>, tensor<?x3x4x7xf32>) -> tensor<?x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<?x3x5x7xf32>, tensor<f32>) -> tensor<?x3x5x7xf32>
  %t = onnx.Add(%u, %m) : (tensor<?x3x5x7xf32>, tensor<?x1x5x7xf32>) -> tensor<?x3x5x7xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<?x3x5x7xf32>) -> tensor<?x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x5x7xf32>, tensor<?x3x7x6xf32>) -> tensor<?x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x5x6xf32>) -> tensor<?x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<?x5x3x6xf32>, tensor<3xi64>) -> tensor<?x5x18xf32>
  func.return %r : tensor<?x5x18xf32>
}

// One row for all queries is repeated, which the kernel does not do.

// CHECK-LABEL: func.func @masked_keys(
// CHECK: %[[L:.*]] = onnx.Max(%m, %{{.*}})
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1, 5, 7] : tensor<4xi64>>}
// CHECK: %[[M:.*]] = onnx.Expand(%[[L]], %[[S]]) : (tensor<2x1x1x7xf32>, tensor<4xi64>) -> tensor<2x1x5x7xf32>
// CHECK: onnx.Attention(%x, %y, %z, %[[M]]{{.*}})
func.func @masked_keys(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>, %m: tensor<2x1x1x7xf32>) -> tensor<2x5x18xf32> {
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
  %t = onnx.Add(%u, %m) : (tensor<2x3x5x7xf32>, tensor<2x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// A constant that leaves some keys stays as it is.

// CHECK-LABEL: func.func @constant_mask(
// CHECK-NOT: onnx.Max
// CHECK: onnx.Attention(%x, %y, %z, %{{.*}}, _, _, _)
func.func @constant_mask(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
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
  %m = onnx.Constant() {value = #onnx.tensor<[0.0, -3.4028234663852886e+38, 0.0, 1.0, -1.0, 0.0, 0.0] : tensor<1x1x1x7xf32>>} : () -> tensor<1x1x1x7xf32>
  %t = onnx.Add(%u, %m) : (tensor<2x3x5x7xf32>, tensor<1x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// One that leaves none does not: the mean of the values is asked for, not 0.

// CHECK-LABEL: func.func @constant_mask_of_no_key(
// CHECK: %[[L:.*]] = onnx.Max(%{{.*}}, %{{.*}}) : (tensor<1x1x1x7xf32>, tensor<f32>)
// CHECK: %[[M:.*]] = onnx.Expand(%[[L]], %{{.*}})
// CHECK: onnx.Attention(%x, %y, %z, %[[M]], _, _, _)
func.func @constant_mask_of_no_key(%x: tensor<2x5x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x18xf32>) -> tensor<2x5x18xf32> {
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
  %m = onnx.Constant() {value = #onnx.tensor<[-3.4028234663852886e+38, -3.4028234663852886e+38, -3.4028234663852886e+38, -3.4028234663852886e+38, -3.4028234663852886e+38, -3.4028234663852886e+38, -3.4028234663852886e+38] : tensor<1x1x1x7xf32>>} : () -> tensor<1x1x1x7xf32>
  %t = onnx.Add(%u, %m) : (tensor<2x3x5x7xf32>, tensor<1x1x1x7xf32>) -> tensor<2x3x5x7xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<2x3x5x7xf32>) -> tensor<2x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<2x3x5x7xf32>, tensor<2x3x7x6xf32>) -> tensor<2x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x6xf32>) -> tensor<2x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<2x5x3x6xf32>, tensor<3xi64>) -> tensor<2x5x18xf32>
  func.return %r : tensor<2x5x18xf32>
}

// Query, key and value are parts of one tensor; the factor is that of the query times that of the key.

// CHECK-LABEL: func.func @packed(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[12, 12, 12] : tensor<3xi64>>}
// CHECK: %[[Q:.*]], %[[K:.*]], %[[V:.*]] = onnx.Split(%x, %[[W]]) {axis = 2 : i64} : (tensor<?x5x36xf32>, tensor<3xi64>) -> (tensor<?x5x12xf32>, tensor<?x5x12xf32>, tensor<?x5x12xf32>)
// CHECK: %[[Y:.*]] = onnx.Attention(%[[Q]], %[[K]], %[[V]], _, _, _, _) {q_num_heads = 3 : i64, kv_num_heads = 3 : i64, scale = 2.500000e-01 : f32}
// CHECK-NEXT: func.return %[[Y]]
func.func @packed(%x: tensor<?x5x36xf32>) -> tensor<?x5x12xf32> {
  %heads = onnx.Constant() {value = #onnx.tensor<[0, 5, 3, 3, 4] : tensor<5xi64>>} : () -> tensor<5xi64>
  %r = onnx.Reshape(%x, %heads) : (tensor<?x5x36xf32>, tensor<5xi64>) -> tensor<?x5x3x3x4xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 2, 0, 3, 1, 4>} : (tensor<?x5x3x3x4xf32>) -> tensor<3x?x3x5x4xf32>
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
  %two = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i64>>} : () -> tensor<i64>
  %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %begin = onnx.Constant() {value = #onnx.tensor<[-3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %end = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %first = onnx.Slice(%t, %begin, %end, %zero) : (tensor<3x?x3x5x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<1x?x3x5x4xf32>
  %q = onnx.Squeeze(%first, %zero) : (tensor<1x?x3x5x4xf32>, tensor<1xi64>) -> tensor<?x3x5x4xf32>
  %k = onnx.Gather(%t, %one) {axis = 0 : i64} : (tensor<3x?x3x5x4xf32>, tensor<i64>) -> tensor<?x3x5x4xf32>
  %v = onnx.Gather(%t, %two) {axis = 0 : i64} : (tensor<3x?x3x5x4xf32>, tensor<i64>) -> tensor<?x3x5x4xf32>
  %kt = onnx.Transpose(%k) {perm = array<i64: 0, 1, 3, 2>} : (tensor<?x3x5x4xf32>) -> tensor<?x3x4x5xf32>
  %half = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %double = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %qs = onnx.Mul(%q, %half) : (tensor<?x3x5x4xf32>, tensor<f32>) -> tensor<?x3x5x4xf32>
  %ks = onnx.Div(%kt, %double) : (tensor<?x3x4x5xf32>, tensor<1xf32>) -> tensor<?x3x4x5xf32>
  %s = onnx.MatMul(%qs, %ks) : (tensor<?x3x5x4xf32>, tensor<?x3x4x5xf32>) -> tensor<?x3x5x5xf32>
  %w = onnx.Softmax(%s) {axis = 3 : i64} : (tensor<?x3x5x5xf32>) -> tensor<?x3x5x5xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x5x5xf32>, tensor<?x3x5x4xf32>) -> tensor<?x3x5x4xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x5x4xf32>) -> tensor<?x5x3x4xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 5, 12] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Reshape(%p, %wide) : (tensor<?x5x3x4xf32>, tensor<3xi64>) -> tensor<?x5x12xf32>
  func.return %y : tensor<?x5x12xf32>
}

// Products of matrices, batch and heads in one axis, as of torch's MultiheadAttention, and a result of rank 2.

// CHECK-LABEL: func.func @matrices(
// CHECK: %[[L:.*]] = onnx.Max(%m, %{{.*}})
// CHECK: %[[M:.*]] = onnx.Reshape(%[[L]], %{{.*}}) : (tensor<6x5x7xf32>, tensor<4xi64>) -> tensor<2x3x5x7xf32>
// CHECK: %[[Q:.*]] = onnx.Reshape(%x, %{{.*}}) : (tensor<10x12xf32>, tensor<3xi64>) -> tensor<2x5x12xf32>
// CHECK: %[[A:.*]] = onnx.Attention(%[[Q]], %y, %z, %[[M]], _, _, _) {{.*}} -> tensor<2x5x12xf32>
// CHECK: %[[Y:.*]] = onnx.Reshape(%[[A]], %{{.*}}) : (tensor<2x5x12xf32>, tensor<2xi64>) -> tensor<10x12xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @matrices(%x: tensor<10x12xf32>, %y: tensor<2x7x12xf32>, %z: tensor<2x7x12xf32>, %m: tensor<6x5x7xf32>) -> tensor<10x12xf32> {
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
  %t = onnx.Add(%m, %s) : (tensor<6x5x7xf32>, tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %w = onnx.Softmax(%t) {axis = 2 : i64} : (tensor<6x5x7xf32>) -> tensor<6x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<6x5x7xf32>, tensor<6x7x4xf32>) -> tensor<6x5x4xf32>
  %o1 = onnx.Reshape(%o, %e) : (tensor<6x5x4xf32>, tensor<4xi64>) -> tensor<2x3x5x4xf32>
  %p = onnx.Transpose(%o1) {perm = array<i64: 0, 2, 1, 3>} : (tensor<2x3x5x4xf32>) -> tensor<2x5x3x4xf32>
  %r = onnx.Reshape(%p, %f) : (tensor<2x5x3x4xf32>, tensor<2xi64>) -> tensor<10x12xf32>
  func.return %r : tensor<10x12xf32>
}

// Queries and keys of unknown number: a row of the mask is repeated for as many.

// CHECK-LABEL: func.func @open(
// CHECK: %[[S:.*]] = onnx.Shape(%x) {start = 1 : i64, end = 2 : i64}
// CHECK: %[[T:.*]] = onnx.Shape(%y) {start = 1 : i64, end = 2 : i64}
// CHECK: %[[L:.*]] = onnx.Concat(%{{.*}}, %[[S]], %[[T]]) {axis = 0 : i64}
// CHECK: %[[M:.*]] = onnx.Expand(%{{.*}}, %[[L]]) : (tensor<1x1x1x?xf32>, tensor<4xi64>) -> tensor<1x1x?x?xf32>
// CHECK: onnx.Attention(%x, %y, %z, %[[M]], _, _, _)
func.func @open(%x: tensor<?x?x12xf32>, %y: tensor<?x?x12xf32>, %z: tensor<?x?x18xf32>, %m: tensor<1x?xf32>) -> tensor<?x?x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x?x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x4x?xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<?x?x18xf32>, tensor<4xi64>) -> tensor<?x?x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x6xf32>) -> tensor<?x3x?x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<?x3x?x4xf32>, tensor<?x3x4x?xf32>) -> tensor<?x3x?x?xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<?x3x?x?xf32>, tensor<f32>) -> tensor<?x3x?x?xf32>
  %t = onnx.Add(%u, %m) : (tensor<?x3x?x?xf32>, tensor<1x?xf32>) -> tensor<?x3x?x?xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x?x?xf32>, tensor<?x3x?x6xf32>) -> tensor<?x3x?x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x?x6xf32>) -> tensor<?x?x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<?x?x3x6xf32>, tensor<3xi64>) -> tensor<?x?x18xf32>
  func.return %r : tensor<?x?x18xf32>
}

// A mask that may have one row for all queries is repeated, too; one of the named sizes of queries and keys is not.

// CHECK-LABEL: func.func @open_rows(
// CHECK: %[[L:.*]] = onnx.Max(%m, %{{.*}})
// CHECK: %[[M:.*]] = onnx.Expand(%[[L]], %{{.*}}) : (tensor<1x1x?x?xf32>, tensor<4xi64>) -> tensor<1x1x?x?xf32>
// CHECK: onnx.Attention(%x, %y, %z, %[[M]], _, _, _)
func.func @open_rows(%x: tensor<?x?x12xf32>, %y: tensor<?x?x12xf32>, %z: tensor<?x?x18xf32>, %m: tensor<1x1x?x?xf32>) -> tensor<?x?x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x?x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x4x?xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<?x?x18xf32>, tensor<4xi64>) -> tensor<?x?x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x6xf32>) -> tensor<?x3x?x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<?x3x?x4xf32>, tensor<?x3x4x?xf32>) -> tensor<?x3x?x?xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<?x3x?x?xf32>, tensor<f32>) -> tensor<?x3x?x?xf32>
  %t = onnx.Add(%u, %m) : (tensor<?x3x?x?xf32>, tensor<1x1x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x?x?xf32>, tensor<?x3x?x6xf32>) -> tensor<?x3x?x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x?x6xf32>) -> tensor<?x?x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<?x?x3x6xf32>, tensor<3xi64>) -> tensor<?x?x18xf32>
  func.return %r : tensor<?x?x18xf32>
}

// CHECK-LABEL: func.func @named_rows(
// CHECK: %[[M:.*]] = onnx.Max(%m, %{{.*}})
// CHECK: onnx.Attention(%x, %y, %z, %[[M]], _, _, _)
func.func @named_rows(%x: tensor<?x?x12xf32> {onnx.dims = ["n", "s", ""]}, %y: tensor<?x?x12xf32> {onnx.dims = ["n", "t", ""]}, %z: tensor<?x?x18xf32>, %m: tensor<1x1x?x?xf32> {onnx.dims = ["", "", "s", "t"]}) -> tensor<?x?x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x?x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x4x?xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<?x?x18xf32>, tensor<4xi64>) -> tensor<?x?x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x6xf32>) -> tensor<?x3x?x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<?x3x?x4xf32>, tensor<?x3x4x?xf32>) -> tensor<?x3x?x?xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<?x3x?x?xf32>, tensor<f32>) -> tensor<?x3x?x?xf32>
  %t = onnx.Add(%u, %m) : (tensor<?x3x?x?xf32>, tensor<1x1x?x?xf32>) -> tensor<?x3x?x?xf32>
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x?x?xf32>, tensor<?x3x?x6xf32>) -> tensor<?x3x?x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x?x6xf32>) -> tensor<?x?x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<?x?x3x6xf32>, tensor<3xi64>) -> tensor<?x?x18xf32>
  func.return %r : tensor<?x?x18xf32>
}

// The result of open sizes is not joined by a constant: its heads stay an axis.

// CHECK-LABEL: func.func @heads_apart(
// CHECK: %[[A:.*]] = onnx.Attention(%x, %y, %z, _, _, _, _) {{.*}} -> tensor<?x?x18xf32>
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>}
// CHECK: %[[Y:.*]] = onnx.Reshape(%[[A]], %[[S]]) : (tensor<?x?x18xf32>, tensor<4xi64>) -> tensor<?x?x3x6xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @heads_apart(%x: tensor<?x?x12xf32>, %y: tensor<?x?x12xf32>, %z: tensor<?x?x18xf32>) -> tensor<?x?x3x6xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x?x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<?x?x12xf32>, tensor<4xi64>) -> tensor<?x?x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x?x3x4xf32>) -> tensor<?x3x4x?xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<?x?x18xf32>, tensor<4xi64>) -> tensor<?x?x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x?x3x6xf32>) -> tensor<?x3x?x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<?x3x?x4xf32>, tensor<?x3x4x?xf32>) -> tensor<?x3x?x?xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<?x3x?x?xf32>, tensor<f32>) -> tensor<?x3x?x?xf32>
  %w = onnx.Softmax(%u) {axis = -1 : i64} : (tensor<?x3x?x?xf32>) -> tensor<?x3x?x?xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<?x3x?x?xf32>, tensor<?x3x?x6xf32>) -> tensor<?x3x?x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x3x?x6xf32>) -> tensor<?x?x3x6xf32>
  func.return %p : tensor<?x?x3x6xf32>
}

// The mask repeats the scores of one sample.

// CHECK-LABEL: func.func @unmoved_mask_repeats(
// CHECK-NOT: onnx.Attention
// CHECK: func.return
func.func @unmoved_mask_repeats(%x: tensor<1x5x12xf32>, %y: tensor<1x7x12xf32>, %z: tensor<1x7x18xf32>, %m: tensor<4x1x5x7xf32>) -> tensor<4x5x18xf32> {
  %heads3x4 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %heads3x6 = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 6] : tensor<4xi64>>} : () -> tensor<4xi64>
  %qr = onnx.Reshape(%x, %heads3x4) : (tensor<1x5x12xf32>, tensor<4xi64>) -> tensor<1x5x3x4xf32>
  %q = onnx.Transpose(%qr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x5x3x4xf32>) -> tensor<1x3x5x4xf32>
  %kr = onnx.Reshape(%y, %heads3x4) : (tensor<1x7x12xf32>, tensor<4xi64>) -> tensor<1x7x3x4xf32>
  %k = onnx.Transpose(%kr) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x7x3x4xf32>) -> tensor<1x3x4x7xf32>
  %vr = onnx.Reshape(%z, %heads3x6) : (tensor<1x7x18xf32>, tensor<4xi64>) -> tensor<1x7x3x6xf32>
  %v = onnx.Transpose(%vr) {perm = array<i64: 0, 2, 1, 3>} : (tensor<1x7x3x6xf32>) -> tensor<1x3x7x6xf32>
  %s = onnx.MatMul(%q, %k) : (tensor<1x3x5x4xf32>, tensor<1x3x4x7xf32>) -> tensor<1x3x5x7xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.Mul(%s, %c) : (tensor<1x3x5x7xf32>, tensor<f32>) -> tensor<1x3x5x7xf32>
  %t = onnx.Add(%u, %m) : (tensor<1x3x5x7xf32>, tensor<4x1x5x7xf32>) -> tensor<4x3x5x7xf32>
  // expected-remark@+1 {{[compose-attention: attention-form]}}
  %w = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<4x3x5x7xf32>) -> tensor<4x3x5x7xf32>
  %o = onnx.MatMul(%w, %v) : (tensor<4x3x5x7xf32>, tensor<1x3x7x6xf32>) -> tensor<4x3x5x6xf32>
  %p = onnx.Transpose(%o) {perm = array<i64: 0, 2, 1, 3>} : (tensor<4x3x5x6xf32>) -> tensor<4x5x3x6xf32>
  %wide = onnx.Constant() {value = #onnx.tensor<[0, 0, 18] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = onnx.Reshape(%p, %wide) : (tensor<4x5x3x6xf32>, tensor<3xi64>) -> tensor<4x5x18xf32>
  func.return %r : tensor<4x5x18xf32>
}
}
