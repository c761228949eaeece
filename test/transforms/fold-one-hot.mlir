// RUN: OPT %s -p fold-one-hot --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-one-hot

// CHECK-LABEL: func.func @rows(
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i32>>}
// CHECK: %[[D:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i32>>}
// CHECK: %[[N:.*]] = onnx.Less(%i, %[[Z]])
// CHECK-NEXT: %[[P:.*]] = onnx.Add(%i, %[[D]])
// CHECK-NEXT: %[[A:.*]] = onnx.Where(%[[N]], %[[P]], %i)
// CHECK-NEXT: %[[L:.*]] = onnx.Less(%[[A]], %[[Z]])
// CHECK-NEXT: %[[B:.*]] = onnx.Where(%[[L]], %[[D]], %[[A]])
// CHECK-NEXT: %[[U:.*]] = onnx.Less(%[[B]], %[[D]])
// CHECK-NEXT: %[[C:.*]] = onnx.Where(%[[U]], %[[B]], %[[D]])
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0, 0.0] : tensor<4x2xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Gather(%[[W]], %[[C]]) {axis = 0 : i64} : (tensor<4x2xf32>, tensor<?x5xi32>) -> tensor<?x5x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @rows(%i: tensor<?x5xi32>) -> tensor<?x5x2xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %o = onnx.OneHot(%i, %d, %v) {axis = -1 : i64} : (tensor<?x5xi32>, tensor<1xi64>, tensor<2xf32>) -> tensor<?x5x3xf32>
  %y = onnx.MatMul(%o, %w) : (tensor<?x5x3xf32>, tensor<3x2xf32>) -> tensor<?x5x2xf32>
  func.return %y : tensor<?x5x2xf32>
}

// The integers of a one are 255, under a zero point of 0; the weight's is 2 here.

// CHECK-LABEL: func.func @rows_at_run_time(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.003921569] : tensor<f32>>}
// CHECK: onnx.Mul(%[[S]], %f)
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-255, 0, 255, 510, 765, 1020, 0, 0] : tensor<4x2xi32>>}
// CHECK-NEXT: %[[G:.*]] = onnx.Gather(%[[W]], %{{.*}}) {axis = 0 : i64} : (tensor<4x2xi32>, tensor<?x5xi64>) -> tensor<?x5x2xi32>
// CHECK: onnx.Reshape(%[[G]], %{{.*}}) : (tensor<?x5x2xi32>, tensor<2xi64>) -> tensor<?x2xi32>
func.func @rows_at_run_time(%i: tensor<?x5xi64>, %f: tensor<f32>) -> (tensor<?x2xi32>, tensor<f32>) {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  %t = onnx.Constant() {value = #onnx.tensor<[2] : tensor<ui8>>} : () -> tensor<ui8>
  %to = onnx.Constant() {value = #onnx.tensor<[-1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<?x5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<?x5x3xf32>
  %r = onnx.Reshape(%o, %to) : (tensor<?x5x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%r) : (tensor<?x3xf32>) -> (tensor<?x3xui8>, tensor<f32>, tensor<ui8>)
  %m = onnx.Mul(%s, %f) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.MatMulInteger(%q, %w, %z, %t) : (tensor<?x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<?x2xi32>
  func.return %y, %m : tensor<?x2xi32>, tensor<f32>
}

// All sizes are known: 4 * 5 rows.

// CHECK-LABEL: func.func @rows_of_known_number(
// CHECK: %[[G:.*]] = onnx.Gather({{.*}} -> tensor<4x5x2xi32>
// CHECK: onnx.Reshape(%[[G]], %{{.*}}) : (tensor<4x5x2xi32>, tensor<2xi64>) -> tensor<20x2xi32>
func.func @rows_of_known_number(%i: tensor<4x5xi64>, %f: tensor<f32>) -> (tensor<20x2xi32>, tensor<f32>) {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  %t = onnx.Constant() {value = #onnx.tensor<[2] : tensor<ui8>>} : () -> tensor<ui8>
  %to = onnx.Constant() {value = #onnx.tensor<[-1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<4x5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<4x5x3xf32>
  %r = onnx.Reshape(%o, %to) : (tensor<4x5x3xf32>, tensor<2xi64>) -> tensor<20x3xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%r) : (tensor<20x3xf32>) -> (tensor<20x3xui8>, tensor<f32>, tensor<ui8>)
  %m = onnx.Mul(%s, %f) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.MatMulInteger(%q, %w, %z, %t) : (tensor<20x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<20x2xi32>
  func.return %y, %m : tensor<20x2xi32>, tensor<f32>
}

// The scale is a result of the graph: of numbers beyond the depth alone it is another.

// CHECK-LABEL: func.func @unmoved_scale_is_used(
// CHECK: onnx.MatMulInteger(
func.func @unmoved_scale_is_used(%i: tensor<5xi64>) -> (tensor<5x2xi32>, tensor<f32>) {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<5x3xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%o) : (tensor<5x3xf32>) -> (tensor<5x3xui8>, tensor<f32>, tensor<ui8>)
  %y = onnx.MatMulInteger(%q, %w, %z, _) : (tensor<5x3xui8>, tensor<3x2xui8>, tensor<ui8>) -> tensor<5x2xi32>
  func.return %y, %s : tensor<5x2xi32>, tensor<f32>
}

// CHECK-LABEL: func.func @unmoved_other_values(
// CHECK: onnx.MatMul(
func.func @unmoved_other_values(%i: tensor<5xi64>, %w: tensor<3x2xf32>) -> (tensor<5x2xf32>, tensor<5x2xf32>) {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[-1.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %u = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<5x3xf32>
  %p = onnx.OneHot(%i, %d, %u) : (tensor<5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<5x3xf32>
  %y = onnx.MatMul(%o, %c) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %z = onnx.MatMul(%p, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %y, %z : tensor<5x2xf32>, tensor<5x2xf32>
}

// A sum with an infinity and zeros is not a number.

// CHECK-LABEL: func.func @unmoved_infinity(
// CHECK: onnx.MatMul(
func.func @unmoved_infinity(%i: tensor<5xi64>) -> tensor<5x1xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0e39] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<5x2xf32>
  %y = onnx.MatMul(%o, %w) : (tensor<5x2xf32>, tensor<2x1xf32>) -> tensor<5x1xf32>
  func.return %y : tensor<5x1xf32>
}

// CHECK-LABEL: func.func @unmoved_along_the_first_axis(
// CHECK: onnx.MatMul(
func.func @unmoved_along_the_first_axis(%i: tensor<3xi64>) -> tensor<3x2xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %o = onnx.OneHot(%i, %d, %v) {axis = 0 : i64} : (tensor<3xi64>, tensor<i64>, tensor<2xf32>) -> tensor<3x3xf32>
  %y = onnx.MatMul(%o, %w) : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Nothing makes a constant row by row.

// CHECK-LABEL: func.func @unmoved_constant(
// CHECK: onnx.MatMul(
func.func @unmoved_constant() -> tensor<1x2xf32> {
  %o = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0, 0.0] : tensor<1x3xf32>>} : () -> tensor<1x3xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %y = onnx.MatMul(%o, %w) : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
  func.return %y : tensor<1x2xf32>
}

// Rows are taken by integers of 32 or 64 bits.

// CHECK-LABEL: func.func @unmoved_numbers_of_floats(
// CHECK: onnx.MatMul(
func.func @unmoved_numbers_of_floats(%i: tensor<5xf32>) -> tensor<5x2xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<5xf32>, tensor<i64>, tensor<2xf32>) -> tensor<5x3xf32>
  %y = onnx.MatMul(%o, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  func.return %y : tensor<5x2xf32>
}

// The table would hold the weight less its zero point, which is not known.

// CHECK-LABEL: func.func @unmoved_zero_point_of_run_time(
// CHECK: onnx.MatMulInteger(
func.func @unmoved_zero_point_of_run_time(%i: tensor<5xi64>, %t: tensor<ui8>) -> tensor<5x2xi32> {
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.0, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  %o = onnx.OneHot(%i, %d, %v) : (tensor<5xi64>, tensor<i64>, tensor<2xf32>) -> tensor<5x3xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%o) : (tensor<5x3xf32>) -> (tensor<5x3xui8>, tensor<f32>, tensor<ui8>)
  %y = onnx.MatMulInteger(%q, %w, %z, %t) : (tensor<5x3xui8>, tensor<3x2xui8>, tensor<ui8>, tensor<ui8>) -> tensor<5x2xi32>
  func.return %y : tensor<5x2xi32>
}
