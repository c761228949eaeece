// RUN: OPT %s -p lower-to-qdq | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-qdq

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>
!y = !quant.uniform<u8:f32, 0.04:9>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// Another type saturates: its casts stay above an op whose results are indices, behind which no quantize could stand.

// CHECK-LABEL: func.func @unmoved_indices(
// CHECK: %[[M:.*]] = onnx.ReduceMax(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]],
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK-NEXT: onnx.ArgMin(%[[D]])
func.func @unmoved_indices(%x: tensor<2x3x5xf32>) -> (tensor<1x1x5xi64>, tensor<2x3x5xf32>) {
  %q = quant.qcast %x : tensor<2x3x5xf32> to tensor<2x3x5x!x>
  %d = quant.dcast %q : tensor<2x3x5x!x> to tensor<2x3x5xf32>
  %m = onnx.ReduceMax(%q) {axes = array<i64: 1>} : (tensor<2x3x5x!x>) -> tensor<2x1x5x!x>
  %r = quant.dcast %m : tensor<2x1x5x!x> to tensor<2x1x5xf32>
  %p = quant.qcast %r : tensor<2x1x5xf32> to tensor<2x1x5x!quant.uniform<u8:f32, 0.01>>
  %i = onnx.ArgMin(%p) {axis = 0 : i64} : (tensor<2x1x5x!quant.uniform<u8:f32, 0.01>>) -> tensor<1x1x5xi64>
  func.return %i, %d : tensor<1x1x5xi64>, tensor<2x3x5xf32>
}

// An op between casts. A clamp behind it that the zero point is not stands in front of them. What a session would fuse
// wrongly is left as it is: `guard-session` knows.

// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[WS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK-DAG: %[[BS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.01, 0.005] : tensor<2xf32>>}
// CHECK-DAG: %[[BZ:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi32>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>}
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %[[XS]], %[[XZ]])
// CHECK-NEXT: %[[A:.*]] = onnx.DequantizeLinear(%[[Q]], %[[XS]], %[[XZ]])
// CHECK-NEXT: %[[V:.*]] = onnx.DequantizeLinear(%v, %[[WS]], %[[WZ]]) {axis = 0 : i64}
// CHECK-NEXT: %[[C:.*]] = onnx.DequantizeLinear(%[[B]], %[[BS]], %[[BZ]]) {axis = 0 : i64}
// CHECK-NEXT: %[[T:.*]] = onnx.Conv(%[[A]], %[[V]], %[[C]]) {strides = array<i64: 2, 1>} : (tensor<1x4x5x5xf32>, tensor<2x4x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
// CHECK-NEXT: %[[U:.*]] = onnx.Relu(%[[T]])
// CHECK-NEXT: %[[P:.*]] = onnx.QuantizeLinear(%[[U]], %[[YS]], %[[YZ]])
// CHECK-NEXT: %[[O:.*]] = onnx.DequantizeLinear(%[[P]], %[[YS]], %[[YZ]])
// CHECK-NEXT: func.return %[[O]]
func.func @conv(%x: tensor<1x4x5x5xf32>, %v: tensor<2x4x3x3xi8>) -> tensor<1x2x3x3xf32> {
  %w = quant.scast %v : tensor<2x4x3x3xi8> to tensor<2x4x3x3x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>>
  %a = quant.qcast %x : tensor<1x4x5x5xf32> to tensor<1x4x5x5x!x>
  %t = onnx.Conv(%a, %w, %b) {strides = array<i64: 2, 1>} : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>>) -> tensor<1x2x3x3x!y>
  %u = onnx.Relu(%t) : (tensor<1x2x3x3x!y>) -> tensor<1x2x3x3x!y>
  %q = quant.dcast %u : tensor<1x2x3x3x!y> to tensor<1x2x3x3xf32>
  func.return %q : tensor<1x2x3x3xf32>
}

// What moves stands in front of the quantize.

// CHECK-LABEL: func.func @layout(
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: %[[T:.*]] = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[T]], %[[XS]], %[[XZ]])
// CHECK-NEXT: func.return %[[Q]]
func.func @layout(%x: tensor<2x3x4xf32>) -> tensor<3x4x2xui8> {
  %a = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!x>
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4x!x>) -> tensor<3x4x2x!x>
  %q = quant.scast %t : tensor<3x4x2x!x> to tensor<3x4x2xui8>
  func.return %q : tensor<3x4x2xui8>
}

// Two readers of one value share a pair.

// CHECK-LABEL: func.func @sum(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: %[[A:.*]] = onnx.DequantizeLinear(%a, %[[XS]], %[[XZ]])
// CHECK-NEXT: %[[B:.*]] = onnx.DequantizeLinear(%b, %[[YS]], %[[YZ]])
// CHECK-NEXT: %[[T:.*]] = onnx.Add(%[[A]], %[[B]])
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[T]], %[[YS]], %[[YZ]])
// CHECK-NEXT: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]], %[[YS]], %[[YZ]])
// CHECK-NEXT: %[[V:.*]] = onnx.Sigmoid(%[[R]])
// CHECK-NEXT: func.return %[[R]], %[[V]]
func.func @sum(%a: tensor<2x3xui8>, %b: tensor<2x3xui8>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %p = quant.scast %a : tensor<2x3xui8> to tensor<2x3x!x>
  %q = quant.scast %b : tensor<2x3xui8> to tensor<2x3x!y>
  %t = onnx.Add(%p, %q) : (tensor<2x3x!x>, tensor<2x3x!y>) -> tensor<2x3x!y>
  %u = quant.dcast %t : tensor<2x3x!y> to tensor<2x3xf32>
  %v = onnx.Sigmoid(%t) : (tensor<2x3x!y>) -> tensor<2x3xf32>
  func.return %u, %v : tensor<2x3xf32>, tensor<2x3xf32>
}

// Storage bounds are a clamp of reals in front of the quantize.

// CHECK-LABEL: func.func @narrow_storage(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-0.24] : tensor<f32>>}
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[7.64] : tensor<f32>>}
// CHECK: %[[C:.*]] = onnx.Clip(%x, %[[L]], %[[H]])
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[C]], %[[YS]], %[[YZ]])
// CHECK-NEXT: onnx.DequantizeLinear(%[[Q]], %[[YS]], %[[YZ]])
func.func @narrow_storage(%x: tensor<3xf32>) -> tensor<3xf32> {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!quant.uniform<u8<3:200>:f32, 0.04:9>>
  %u = quant.dcast %p : tensor<3x!quant.uniform<u8<3:200>:f32, 0.04:9>> to tensor<3xf32>
  func.return %u : tensor<3xf32>
}

// 16 bits before opset 21 are onnxruntime's own.

// CHECK-LABEL: func.func @wide(
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<i16>>}
// CHECK: %[[Q:.*]] = onnx_ms.QuantizeLinear(%x, %{{.*}}, %[[Z]])
// CHECK-NEXT: onnx_ms.DequantizeLinear(%[[Q]], %{{.*}}, %[[Z]])
func.func @wide(%x: tensor<3xf32>) -> tensor<3xf32> {
  %p = quant.qcast %x : tensor<3xf32> to tensor<3x!quant.uniform<i16:f32, 0.04:9>>
  %u = quant.dcast %p : tensor<3x!quant.uniform<i16:f32, 0.04:9>> to tensor<3xf32>
  func.return %u : tensor<3xf32>
}

// CHECK-LABEL: func.func @axis(
// CHECK-DAG: %[[WS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %[[WS]], %[[WZ]]) {axis = 0 : i64}
// CHECK-NEXT: onnx.DequantizeLinear(%[[Q]], %[[WS]], %[[WZ]]) {axis = 0 : i64}
func.func @axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %p = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!w>
  %u = quant.dcast %p : tensor<2x3x!w> to tensor<2x3xf32>
  func.return %u : tensor<2x3xf32>
}

// Nothing is written anew: floats and plain integers have no casts.

// CHECK-LABEL: func.func @unchanged_float(
// CHECK-NEXT: %[[T:.*]] = onnx.Add(%x, %x)
// CHECK-NEXT: %[[M:.*]] = onnx.Max(%i, %i)
// CHECK-NEXT: func.return %[[T]], %[[M]]
func.func @unchanged_float(%x: tensor<2x3xf32>, %i: tensor<2xi8>) -> (tensor<2x3xf32>, tensor<2xi8>) {
  %t = onnx.Add(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = onnx.Max(%i, %i) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  func.return %t, %m : tensor<2x3xf32>, tensor<2xi8>
}

// Nothing stands in front of a quantize that somebody else needs.

// CHECK-LABEL: func.func @unmoved_clamp(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]]
// CHECK-NEXT: %[[M:.*]] = onnx.Relu(%[[R]])
// CHECK: func.return %[[M]], %[[Q]]
func.func @unmoved_clamp(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %i = quant.scast %q : tensor<2x3x!x> to tensor<2x3xui8>
  %m = onnx.Relu(%q) : (tensor<2x3x!x>) -> tensor<2x3x!x>
  %r = quant.dcast %m : tensor<2x3x!x> to tensor<2x3xf32>
  func.return %r, %i : tensor<2x3xf32>, tensor<2x3xui8>
}

}

// -----

// Blocks, from opset 21 on.

// CHECK-LABEL: func.func @blocks(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2x1xf32>>}
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2x1xi8>>}
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %[[S]], %[[Z]]) {axis = 0 : i64, block_size = 2 : i64}
// CHECK-NEXT: onnx.DequantizeLinear(%[[Q]], %[[S]], %[[Z]]) {axis = 0 : i64, block_size = 2 : i64}
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
func.func @blocks(%x: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %p = quant.qcast %x : tensor<4x1xf32> to tensor<4x1x!quant.uniform<i8:f32:{0:2, 1:1}, {{0.5:3}, {0.25:-7}}>>
  %u = quant.dcast %p : tensor<4x1x!quant.uniform<i8:f32:{0:2, 1:1}, {{0.5:3}, {0.25:-7}}>> to tensor<4x1xf32>
  func.return %u : tensor<4x1xf32>
}
}

// -----

// A cast divides in f32, as QuantizeLinear of half precision does from opset 23 on only if it says so. On 8 bits the
// other quotient is a step off at most, and the node stays as it was read.

// CHECK-LABEL: func.func @division(
// CHECK: onnx.QuantizeLinear(%x, {{.*}}) {precision = 1 : i64} : {{.*}} -> tensor<4xi16>
// CHECK: onnx.QuantizeLinear(%x, {{[^{]*}}) : {{.*}} -> tensor<4xi8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {
func.func @division(%x: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf16>) {
  %p = quant.qcast %x : tensor<4xf16> to tensor<4x!quant.uniform<i16:f16, 0.25>>
  %u = quant.dcast %p : tensor<4x!quant.uniform<i16:f16, 0.25>> to tensor<4xf16>
  %q = quant.qcast %x : tensor<4xf16> to tensor<4x!quant.uniform<i8:f16, 0.25>>
  %v = quant.dcast %q : tensor<4x!quant.uniform<i8:f16, 0.25>> to tensor<4xf16>
  func.return %u, %v : tensor<4xf16>, tensor<4xf16>
}
}
