// RUN: OPT %s -p lower-to-table | FILECHECK %s
// RUN: OPT %s -p lower-to-table{target=openvino} | FILECHECK %s --check-prefix=OTHER
// RUN: DIAGNOSTICS -p lower-to-table

// OTHER-NOT: LayerNormalization

// Normalizations that are written out: (x - mean) / sqrt(variance + epsilon) * factor + shift.

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// One factor for each channel, one shift for all.

// CHECK-LABEL: func.func @over_channels(
// CHECK: %[[T:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<2x32x3x5xf32>) -> tensor<2x3x5x32xf32>
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.625, {{.*}}] : tensor<32xf32>>}
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.5, {{.*}}] : tensor<32xf32>>}
// CHECK: %[[L:.*]] = onnx.LayerNormalization(%[[T]], %[[W]], %[[B]]) {axis = -1 : i64, epsilon = 1.000000e-03 : f32}
// CHECK: %[[Y:.*]] = onnx.Transpose(%[[L]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK-NEXT: func.return %[[Y]]
func.func @over_channels(%x: tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[0.5, 0.625, 0.75, 0.875, 1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2.0, 2.125, 2.25, 2.375, 2.5, 2.625, 2.75, 2.875, 3.0, 3.125, 3.25, 3.375, 3.5, 3.625, 3.75, 3.875, 4.0, 4.125, 4.25, 4.375] : tensor<32x1x1xf32>>} : () -> tensor<32x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<32x1x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y : tensor<2x32x3x5xf32>
}

// Other orders, a product instead of a power, an axis counted from the end, rank 3.

// CHECK-LABEL: func.func @over_rows_of_sound(
// CHECK: onnx.LayerNormalization(%{{.*}}) {axis = -1 : i64, epsilon = 1.000000e-03 : f32} : (tensor<2x7x40xf32>,
// CHECK-NEXT: onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 1>}
func.func @over_rows_of_sound(%x: tensor<2x40x7xf32>) -> tensor<2x40x7xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x40x7xf32>, tensor<1xi64>) -> tensor<2x1x7xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x40x7xf32>, tensor<2x1x7xf32>) -> tensor<2x40x7xf32>
  %s = onnx.Mul(%d, %d) : (tensor<2x40x7xf32>, tensor<2x40x7xf32>) -> tensor<2x40x7xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x40x7xf32>, tensor<1xi64>) -> tensor<2x1x7xf32>
  %a = onnx.Add(%e, %v) : (tensor<f32>, tensor<2x1x7xf32>) -> tensor<2x1x7xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x7xf32>) -> tensor<2x1x7xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x40x7xf32>, tensor<2x1x7xf32>) -> tensor<2x40x7xf32>
  %p = onnx.Mul(%n, %w) : (tensor<2x40x7xf32>, tensor<1x1xf32>) -> tensor<2x40x7xf32>
  %y = onnx.Add(%b, %p) : (tensor<1x1xf32>, tensor<2x40x7xf32>) -> tensor<2x40x7xf32>
  func.return %y : tensor<2x40x7xf32>
}

// Between casts, bytes are moved.

// CHECK-LABEL: func.func @between_casts(
// CHECK: %[[T:.*]] = onnx.Transpose(%q) {perm = array<i64: 0, 2, 1>} : (tensor<2x32x3x!quant.uniform<u8:f32, 0.1>>)
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[T]]
// CHECK: %[[L:.*]] = onnx.LayerNormalization(%[[D]],
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[L]] : tensor<2x3x32xf32> to tensor<2x3x32x!quant.uniform<u8:f32, 0.2:9>>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[Q]]) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: func.return %[[Y]]
func.func @between_casts(%q: tensor<2x32x3x!quant.uniform<u8:f32, 0.1>>) -> tensor<2x32x3x!quant.uniform<u8:f32, 0.2:9>> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %x = quant.dcast %q : tensor<2x32x3x!quant.uniform<u8:f32, 0.1>> to tensor<2x32x3xf32>
  %u = onnx.ReduceMean(%x, %i) : (tensor<2x32x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3xf32>, tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
  %s = onnx.Mul(%d, %d) : (tensor<2x32x3xf32>, tensor<2x32x3xf32>) -> tensor<2x32x3xf32>
  %v = onnx.ReduceMean(%s, %i) : (tensor<2x32x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x1x3xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3xf32>, tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
  %p = onnx.Mul(%n, %e) : (tensor<2x32x3xf32>, tensor<f32>) -> tensor<2x32x3xf32>
  %y = onnx.Add(%p, %e) : (tensor<2x32x3xf32>, tensor<f32>) -> tensor<2x32x3xf32>
  %z = quant.qcast %y : tensor<2x32x3xf32> to tensor<2x32x3x!quant.uniform<u8:f32, 0.2:9>>
  func.return %z : tensor<2x32x3x!quant.uniform<u8:f32, 0.2:9>>
}

// A session makes one op of these.

// CHECK-LABEL: func.func @unmoved_last_axis(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_last_axis(%x: tensor<2x3x32xf32>) -> tensor<2x3x32xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x3x32xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x3x32xf32>, tensor<2x3x1xf32>) -> tensor<2x3x32xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x3x32xf32>, tensor<f32>) -> tensor<2x3x32xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x3x32xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x3x1xf32>, tensor<f32>) -> tensor<2x3x1xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x3x32xf32>, tensor<2x3x1xf32>) -> tensor<2x3x32xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1xf32>, tensor<2x3x32xf32>) -> tensor<2x3x32xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x3x32xf32>, tensor<1x1xf32>) -> tensor<2x3x32xf32>
  func.return %y : tensor<2x3x32xf32>
}

// With so few channels the ops take less time than the Transposes.

// CHECK-LABEL: func.func @unmoved_few_channels(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_few_channels(%x: tensor<2x8x3x5xf32>) -> tensor<2x8x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x8x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x8x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x8x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x8x3x5xf32>, tensor<f32>) -> tensor<2x8x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x8x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x8x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x8x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1x1xf32>, tensor<2x8x3x5xf32>) -> tensor<2x8x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x8x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x8x3x5xf32>
  func.return %y : tensor<2x8x3x5xf32>
}

// Something else reads a part.

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_second_consumer(%x: tensor<2x32x3x5xf32>) -> (tensor<2x32x3x5xf32>, tensor<2x32x3x5xf32>) {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y, %n : tensor<2x32x3x5xf32>, tensor<2x32x3x5xf32>
}

// Not the square.

// CHECK-LABEL: func.func @unmoved_other_power(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_other_power(%x: tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y : tensor<2x32x3x5xf32>
}

// Not the variance.

// CHECK-LABEL: func.func @unmoved_other_base(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_other_base(%x: tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%x, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y : tensor<2x32x3x5xf32>
}

// The variance of something else.

// CHECK-LABEL: func.func @unmoved_other_axis(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_other_axis(%x: tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %j = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %j) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x32x1x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x32x1x5xf32>, tensor<f32>) -> tensor<2x32x1x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x32x1x5xf32>) -> tensor<2x32x1x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x32x1x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<1x1x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y : tensor<2x32x3x5xf32>
}

// A factor for each row of pixels.

// CHECK-LABEL: func.func @unmoved_other_factor(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_other_factor(%x: tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %k = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1x1xf32>>} : () -> tensor<1x1x1xf32>
  %u = onnx.ReduceMean(%x, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %s = onnx.Pow(%d, %k) : (tensor<2x32x3x5xf32>, tensor<f32>) -> tensor<2x32x3x5xf32>
  %v = onnx.ReduceMean(%s, %i) {keepdims = 1 : i64} : (tensor<2x32x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3x5xf32>, tensor<f32>) -> tensor<2x1x3x5xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3x5xf32>) -> tensor<2x1x3x5xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3x5xf32>, tensor<2x1x3x5xf32>) -> tensor<2x32x3x5xf32>
  %p = onnx.Mul(%w, %n) : (tensor<3x1xf32>, tensor<2x32x3x5xf32>) -> tensor<2x32x3x5xf32>
  %y = onnx.Add(%p, %b) : (tensor<2x32x3x5xf32>, tensor<1x1x1xf32>) -> tensor<2x32x3x5xf32>
  func.return %y : tensor<2x32x3x5xf32>
}
}

// -----

// The op is of opset 17.

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 16 : i64}} {
// CHECK-LABEL: func.func @unmoved_opset(
// CHECK-NOT: onnx.LayerNormalization
// CHECK: func.return
func.func @unmoved_opset(%x: tensor<2x32x3xf32>) -> tensor<2x32x3xf32> {
  %e = onnx.Constant() {value = #onnx.tensor<[0.001] : tensor<f32>>} : () -> tensor<f32>
  %u = onnx.ReduceMean(%x) {axes = array<i64: 1>} : (tensor<2x32x3xf32>) -> tensor<2x1x3xf32>
  %d = onnx.Sub(%x, %u) : (tensor<2x32x3xf32>, tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
  %s = onnx.Mul(%d, %d) : (tensor<2x32x3xf32>, tensor<2x32x3xf32>) -> tensor<2x32x3xf32>
  %v = onnx.ReduceMean(%s) {axes = array<i64: 1>} : (tensor<2x32x3xf32>) -> tensor<2x1x3xf32>
  %a = onnx.Add(%v, %e) : (tensor<2x1x3xf32>, tensor<f32>) -> tensor<2x1x3xf32>
  %r = onnx.Sqrt(%a) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
  %n = onnx.Div(%d, %r) : (tensor<2x32x3xf32>, tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
  %p = onnx.Mul(%n, %e) : (tensor<2x32x3xf32>, tensor<f32>) -> tensor<2x32x3xf32>
  %y = onnx.Add(%p, %e) : (tensor<2x32x3xf32>, tensor<f32>) -> tensor<2x32x3xf32>
  func.return %y : tensor<2x32x3xf32>
}
}
