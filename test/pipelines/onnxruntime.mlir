// RUN: qdialect-opt %s -o %t.onnx && qdialect compile %t.onnx -o %t.out.onnx --check-numerics && qdialect-opt %t.out.onnx | FILECHECK %s
// RUN: qdialect-opt %s -o %t.onnx && qdialect compile %t.onnx -o %t.out.onnx --form qdq && qdialect-opt %t.out.onnx | FILECHECK %s --check-prefix=QDQ
// RUN: qdialect-opt %s -o %t.onnx && qdialect compile %t.onnx -o %t.out.onnx --form integer && qdialect-opt %t.out.onnx | FILECHECK %s --check-prefix=INTEGER

// A convolution between casts, behind a Transpose that moves integers: one kernel, and the float ends of the graph.

// CHECK: func.func @main(%[[X:.*]]: tensor<1x4x5x2xf32>
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[X]],
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[Q]]) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x2xui8>) -> tensor<1x2x4x5xui8>
// CHECK: %[[C:.*]] = onnx.QLinearConv(%[[T]],
// CHECK: onnx.DequantizeLinear(%[[C]],

// QDQ: %[[Q:.*]] = onnx.QuantizeLinear(
// QDQ-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// QDQ-NEXT: %[[W:.*]] = onnx.DequantizeLinear({{.*}}(tensor<3x2x1x1xi8>
// QDQ-NEXT: %[[C:.*]] = onnx.Conv(%[[D]], %[[W]], _)
// QDQ-NEXT: onnx.QuantizeLinear(%[[C]],

// INTEGER: %[[Q:.*]] = onnx.QuantizeLinear(
// INTEGER-NEXT: %[[I:.*]] = onnx.ConvInteger(%[[Q]],
// INTEGER-NEXT: %[[S:.*]] = onnx.Cast(%[[I]])
// INTEGER-NEXT: onnx.Mul(%[[S]],
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}, onnx.ir_version = 8 : i64} {
func.func @main(%x: tensor<1x4x5x2xf32> {onnx.name = "x"}) -> (tensor<1x3x4x5xf32> {onnx.name = "y"}) {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.05] : tensor<f32>>} : () -> tensor<f32>
  %yz = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[11, -21, 31, -41, 51, -61] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1xi8>
  %ws = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5, 0.125] : tensor<3xf32>>} : () -> tensor<3xf32>
  %wz = onnx.Constant() {value = #onnx.tensor<[0, 0, 0] : tensor<3xi8>>} : () -> tensor<3xi8>
  %q = onnx.QuantizeLinear(%x, %xs, %xz) : (tensor<1x4x5x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x5x2xui8>
  %d = onnx.DequantizeLinear(%q, %xs, %xz) : (tensor<1x4x5x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x5x2xf32>
  %t = onnx.Transpose(%d) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x5x2xf32>) -> tensor<1x2x4x5xf32>
  %r = onnx.DequantizeLinear(%w, %ws, %wz) {axis = 0 : i64} : (tensor<3x2x1x1xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3x2x1x1xf32>
  %c = onnx.Conv(%t, %r, _) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x5xf32>
  %p = onnx.QuantizeLinear(%c, %ys, %yz) : (tensor<1x3x4x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x5xui8>
  %y = onnx.DequantizeLinear(%p, %ys, %yz) : (tensor<1x3x4x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}
}
