// RUN: OPT %s -p 'lower-to-qdq{target=openvino}' | FILECHECK %s
// RUN: OPT %s -p 'lower-to-qdq{target=generic}' | FILECHECK %s --check-prefix=GENERIC

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.25>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// Where the target reads past what moves, one pair stands in front of all of it, and none behind.

// CHECK-LABEL: func.func @moved(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x,
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[D]])
// CHECK-NEXT: %[[M:.*]] = onnx.MaxPool(%[[T]])
// CHECK-NEXT: %[[W:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: onnx.Conv(%[[M]], %[[W]], _)
// GENERIC-LABEL: func.func @moved(
// GENERIC: %[[T:.*]] = onnx.Transpose(
// GENERIC-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[T]],
// GENERIC-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// GENERIC-NEXT: onnx.MaxPool(%[[D]])
func.func @moved(%x: tensor<1x5x4x2xf32>) -> (tensor<1x3x4x3xf32>, tensor<1x5x4x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!w>
  %q = quant.qcast %x : tensor<1x5x4x2xf32> to tensor<1x5x4x2x!x>
  %e = quant.dcast %q : tensor<1x5x4x2x!x> to tensor<1x5x4x2xf32>
  %t = onnx.Transpose(%q) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x5x4x2x!x>) -> tensor<1x2x5x4x!x>
  %m = onnx.MaxPool(%t) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x5x4x!x>) -> tensor<1x2x4x3x!x>
  %r = onnx.Conv(%m, %w, _) : (tensor<1x2x4x3x!x>, tensor<3x2x1x1x!w>) -> tensor<1x3x4x3xf32>
  func.return %r, %e : tensor<1x3x4x3xf32>, tensor<1x5x4x2xf32>
}

// It does not where the op says what it chose, nor past an op that its file does not name.

// CHECK-LABEL: func.func @unmoved_indices(
// CHECK: %[[M:.*]], %{{.*}} = onnx.MaxPool(
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]],
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: onnx.Conv(%[[D]],
func.func @unmoved_indices(%x: tensor<1x2x5x4xf32>) -> (tensor<1x3x4x3xf32>, tensor<1x2x4x3xi64>, tensor<1x2x5x4xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!w>
  %q = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!x>
  %e = quant.dcast %q : tensor<1x2x5x4x!x> to tensor<1x2x5x4xf32>
  %m, %i = onnx.MaxPool(%q) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x5x4x!x>) -> (tensor<1x2x4x3x!x>, tensor<1x2x4x3xi64>)
  %r = onnx.Conv(%m, %w, _) : (tensor<1x2x4x3x!x>, tensor<3x2x1x1x!w>) -> tensor<1x3x4x3xf32>
  func.return %r, %i, %e : tensor<1x3x4x3xf32>, tensor<1x2x4x3xi64>, tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_other(
// CHECK: %[[M:.*]] = onnx.Tile(
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]],
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: onnx.Conv(%[[D]],
func.func @unmoved_other(%x: tensor<1x1x5x4xf32>) -> (tensor<1x3x5x4xf32>, tensor<1x1x5x4xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -3, 4, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!w>
  %n = onnx.Constant() {value = #onnx.tensor<[1, 2, 1, 1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %q = quant.qcast %x : tensor<1x1x5x4xf32> to tensor<1x1x5x4x!x>
  %e = quant.dcast %q : tensor<1x1x5x4x!x> to tensor<1x1x5x4xf32>
  %m = onnx.Tile(%q, %n) : (tensor<1x1x5x4x!x>, tensor<4xi64>) -> tensor<1x2x5x4x!x>
  %r = onnx.Conv(%m, %w, _) : (tensor<1x2x5x4x!x>, tensor<3x2x1x1x!w>) -> tensor<1x3x5x4xf32>
  func.return %r, %e : tensor<1x3x5x4xf32>, tensor<1x1x5x4xf32>
}

// Pairs of 16 bits are left out by the target: what they saturate to is a clamp in front. Those of 8 bits need none.

// CHECK-LABEL: func.func @wide(
// CHECK-DAG: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-0.75] : tensor<f32>>}
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[16383.0] : tensor<f32>>}
// CHECK: %[[C:.*]] = onnx.Clip(%x, %[[L]], %[[H]])
// CHECK-NEXT: %[[Q:.*]] = onnx_ms.QuantizeLinear(%[[C]],
// CHECK: onnx.QuantizeLinear(%x,
// CHECK: onnx_ms.DequantizeLinear(%[[Q]],
// GENERIC-LABEL: func.func @wide(
// GENERIC-NOT: onnx.Clip
func.func @wide(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %q = quant.qcast %x : tensor<5xf32> to tensor<5x!quant.uniform<u16:f32, 0.25:3>>
  %d = quant.dcast %q : tensor<5x!quant.uniform<u16:f32, 0.25:3>> to tensor<5xf32>
  %p = quant.qcast %x : tensor<5xf32> to tensor<5x!x>
  %e = quant.dcast %p : tensor<5x!x> to tensor<5xf32>
  func.return %d, %e : tensor<5xf32>, tensor<5xf32>
}

}

// -----

// What is looked up in a table gets a pair in front of a product: a runtime would dequantize the table, and compute in float.

!i = !quant.uniform<i8:f32, 0.5>

// CHECK-LABEL: func.func @table(
// CHECK: %[[T:.*]] = onnx.DequantizeLinear(
// CHECK: %[[G:.*]] = onnx.Gather(%[[T]],
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[G]],
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: onnx.MatMul(%[[D]],
// GENERIC-LABEL: func.func @table(
// GENERIC: %[[G:.*]] = onnx.Gather(
// GENERIC-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[G]],
// GENERIC-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// GENERIC: onnx.MatMul(%[[D]],
func.func @table(%i: tensor<2xi64>) -> tensor<2x2xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!i>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!i>
  %g = onnx.Gather(%t, %i) {axis = 0 : i64} : (tensor<3x2x!i>, tensor<2xi64>) -> tensor<2x2x!i>
  %y = onnx.MatMul(%g, %w) : (tensor<2x2x!i>, tensor<2x2x!i>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Not in front of another op.

// CHECK-LABEL: func.func @unmoved_table(
// CHECK: %[[G:.*]] = onnx.Gather(
// CHECK-NEXT: onnx.Sigmoid(%[[G]])
func.func @unmoved_table(%i: tensor<2xi64>) -> tensor<2x2xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!i>
  %g = onnx.Gather(%t, %i) {axis = 0 : i64} : (tensor<3x2x!i>, tensor<2xi64>) -> tensor<2x2x!i>
  %y = onnx.Sigmoid(%g) : (tensor<2x2x!i>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}
