// RUN: OPT %s -p 'fold-float-weights{elements=4 growth=90 least=0}' | FILECHECK %s
// RUN: OPT %s -p 'fold-float-weights{elements=4 growth=90 least=0}' --verify-diagnostics
// RUN: OPT %s -p 'fold-float-weights{elements=4 growth=90 least=0},fold-float-weights{elements=4 growth=90 least=0}' | FILECHECK %s
// RUN: OPT %s -p 'fold-float-weights{elements=4}' | FILECHECK %s --check-prefix=LEAST

// A convolution of integers that stays in float: the weight is what its dequantize makes, the others get casts.

// CHECK-LABEL: func.func @activation_quantized(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
// CHECK: %[[X:.*]] = quant.dcast %x
// CHECK: onnx.Conv(%[[X]], %[[W]], _) {group = 2 : i64} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.5,0.25:8}>
func.func @activation_quantized(%x: tensor<1x2x4x4x!x>) -> tensor<1x2x4x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 4] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!w>
  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<1x2x4x4x!x>, tensor<2x1x1x1x!w>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// CHECK-LABEL: func.func @weight_only(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5, 2.0] : tensor<2x2xf32>>}
// CHECK-NEXT: onnx.MatMul(%x, %[[W]])
!w = !quant.uniform<i8:f32, 0.5>
func.func @weight_only(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!w>
  %r = quant.dcast %w : tensor<2x2x!w> to tensor<2x2xf32>
  %y = onnx.MatMul(%x, %r) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_large_weight(
// CHECK: onnx.MatMul(%x, %r)
!w = !quant.uniform<i8:f32, 0.5>
func.func @unmoved_large_weight(%x: tensor<3x1xf32>) -> tensor<3x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5] : tensor<1x5xi8>>} : () -> tensor<1x5x!w>
  %r = quant.dcast %w : tensor<1x5x!w> to tensor<1x5xf32>
  // expected-remark@+1 {{the file would grow by three bytes for each of more than 4 weights; compile with --float-weights [fold-float-weights: large-weight]}}
  %y = onnx.MatMul(%x, %r) : (tensor<3x1xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// A quantize follows, behind a clamp.

// CHECK-LABEL: func.func @unmoved_quantized_next(
// CHECK: onnx.MatMul(%x, %r)
!w = !quant.uniform<i8:f32, 0.5>
!y = !quant.uniform<u8:f32, 0.1>
func.func @unmoved_quantized_next(%x: tensor<3x1xf32>) -> tensor<3x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x2xi8>>} : () -> tensor<1x2x!w>
  %r = quant.dcast %w : tensor<1x2x!w> to tensor<1x2xf32>
  // expected-remark@+1 {{a quantize follows, so onnxruntime would quantize a float weight again [fold-float-weights: made-by-session]}}
  %m = onnx.MatMul(%x, %r) : (tensor<3x1xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %c = onnx.Relu(%m) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = quant.qcast %c : tensor<3x2xf32> to tensor<3x2x!y>
  func.return %y : tensor<3x2x!y>
}

// -----

// Nor does the weight of a transposed convolution become float for its scale for each channel: its dequantizes run as they
// are, where an integer product of two would be refused.

// CHECK-LABEL: func.func @unmoved_scales_of_channels(
// CHECK: onnx.ConvTranspose(%x, %r, _)
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.5, 0.25}>
!y = !quant.uniform<u8:f32, 0.1>
func.func @unmoved_scales_of_channels(%q: tensor<1x1x3x4x!x>) -> tensor<1x2x3x4x!y> {
  %x = quant.dcast %q : tensor<1x1x3x4x!x> to tensor<1x1x3x4xf32>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x2x1x1xi8>>} : () -> tensor<1x2x1x1x!w>
  %r = quant.dcast %w : tensor<1x2x1x1x!w> to tensor<1x2x1x1xf32>
  // expected-remark@+1 {{a quantize follows, so onnxruntime would quantize a float weight again [fold-float-weights: made-by-session]}}
  %m = onnx.ConvTranspose(%x, %r) : (tensor<1x1x3x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x4xf32>
  %y = quant.qcast %m : tensor<1x2x3x4xf32> to tensor<1x2x3x4x!y>
  func.return %y : tensor<1x2x3x4x!y>
}

// -----

// The weight is computed, or the result quantized: nothing to do.

// CHECK-LABEL: func.func @unmoved_quantized(
// CHECK: onnx.MatMul(%x, %w)
// CHECK: onnx.MatMul(%x, %v)
!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.5>
func.func @unmoved_quantized(%x: tensor<3x1x!x>, %w: tensor<1x2x!w>) -> (tensor<3x2xf32>, tensor<3x2x!x>) {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x2xi8>>} : () -> tensor<1x2x!w>
  %y = onnx.MatMul(%x, %w) : (tensor<3x1x!x>, tensor<1x2x!w>) -> tensor<3x2xf32>
  %z = onnx.MatMul(%x, %v) : (tensor<3x1x!x>, tensor<1x2x!w>) -> tensor<3x2x!x>
  func.return %y, %z : tensor<3x2xf32>, tensor<3x2x!x>
}

// Under an activation of several scales the weight becomes float whatever follows: the integer product of both is refused.

// CHECK-LABEL: func.func @activation_per_axis(
// CHECK-DAG: %[[X:.*]] = quant.dcast %x
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25, -0.5, 0.75, 1.25] : tensor<2x2xf32>>}
// CHECK: %[[P:.*]] = onnx.MatMul(%[[X]], %[[W]]) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: quant.qcast %[[P]] : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.04:9>>
func.func @activation_per_axis(%x: tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.25:7}>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.04:9>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 5] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>
  %y = onnx.MatMul(%x, %w) : (tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.25:7}>>, tensor<2x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.04:9>>
  func.return %y : tensor<3x2x!quant.uniform<u8:f32, 0.04:9>>
}

// -----

// Six weights of a grouped convolution and eight of another, beside 14 bytes of others: 90 per cent of the 28 bytes let the
// six be float. The weight of one group of channels has no part in it. Any file may grow by 256 KiB.

// CHECK-LABEL: func.func @grouped(
// LEAST-LABEL: func.func @grouped(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {{{.*}} : () -> tensor<6x1x1x1xf32>
// CHECK: onnx.Conv(%{{.*}}, %[[W]], _) {group = 6 : i64}
// CHECK: onnx.Conv(%y, %v, _) {group = 8 : i64}
// CHECK: onnx.Conv(%x, %u, _)
// LEAST-COUNT-2: group = {{.*}}xf32>, tensor<{{.*}}xf32>) ->
// LEAST: onnx.Conv(%x, %u, _)
func.func @grouped(%x: tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>, %y: tensor<1x8x4x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<1x6x4x5xf32>, tensor<1x8x4x5xf32>, tensor<1x1x4x5xf32>, tensor<8xi8>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<6x1x1x1xi8>>} : () -> tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<8x1x1x1xi8>>} : () -> tensor<8x1x1x1x!quant.uniform<i8:f32, 0.5>>
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<1x6x1x1xi8>>} : () -> tensor<1x6x1x1x!quant.uniform<i8:f32, 0.5>>
  %o = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<8xi8>>} : () -> tensor<8xi8>
  %a = onnx.Conv(%x, %w) {group = 6 : i64} : (tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x4x5xf32>
  // expected-remark@+1 {{[fold-float-weights: large-weight]}}
  %b = onnx.Conv(%y, %v) {group = 8 : i64} : (tensor<1x8x4x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<8x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x4x5xf32>
  // expected-remark@+1 {{[fold-float-weights: large-weight]}}
  %c = onnx.Conv(%x, %u) : (tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<1x6x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x4x5xf32>
  func.return %a, %b, %c, %o : tensor<1x6x4x5xf32>, tensor<1x8x4x5xf32>, tensor<1x1x4x5xf32>, tensor<8xi8>
}

// -----

// onnxruntime makes a kernel of a product and its casts that refuses the several scales of a batch of matrices.

// CHECK-LABEL: func.func @batch_of_matrices(
// CHECK: %[[W:.*]] = onnx.Constant() {{{.*}} : () -> tensor<2x1x2xf32>
// CHECK: %[[X:.*]] = quant.dcast %x
// CHECK: onnx.MatMul(%[[X]], %[[W]])
func.func @batch_of_matrices(%x: tensor<2x3x1x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x2x!quant.uniform<u8:f32, 0.04:7>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x2xi8>>} : () -> tensor<2x1x2x!quant.uniform<i8:f32:2, {0.5,0.25}>>
  %y = onnx.MatMul(%x, %w) : (tensor<2x3x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x1x2x!quant.uniform<i8:f32:2, {0.5,0.25}>>) -> tensor<2x3x2x!quant.uniform<u8:f32, 0.04:7>>
  func.return %y : tensor<2x3x2x!quant.uniform<u8:f32, 0.04:7>>
}

// -----

// A float constant would be packed in blocks of channels, and for each pixel that costs more than it saves.

// CHECK-LABEL: func.func @unmoved_many_pixels(
// CHECK: %[[W:.*]] = quant.dcast %{{.*}} to tensor<1x1x1x1xf32>
// CHECK-NEXT: onnx.Conv(%x, %[[W]], _)
func.func @unmoved_many_pixels(%x: tensor<1x1x64x48xf32>) -> tensor<1x1x64x48xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5>>
  %r = quant.dcast %w : tensor<1x1x1x1x!quant.uniform<i8:f32, 0.5>> to tensor<1x1x1x1xf32>
  %y = onnx.Conv(%x, %r) : (tensor<1x1x64x48xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x64x48xf32>
  func.return %y : tensor<1x1x64x48xf32>
}

// -----

// Of 20 bytes, 90 per cent are 18, what six weights need; of 19 they are 17.

// CHECK-LABEL: func.func @to_the_byte(
// CHECK: onnx.Constant() {{{.*}} : () -> tensor<6x1x1x1xf32>
func.func @to_the_byte(%x: tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<1x6x4x5xf32>, tensor<14xi8>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<6x1x1x1xi8>>} : () -> tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>
  %o = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14] : tensor<14xi8>>} : () -> tensor<14xi8>
  %a = onnx.Conv(%x, %w) {group = 6 : i64} : (tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x4x5xf32>
  func.return %a, %o : tensor<1x6x4x5xf32>, tensor<14xi8>
}

// -----

// CHECK-LABEL: func.func @unmoved_beyond_by_a_byte(
// CHECK: onnx.Constant() {{{.*}} : () -> tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>
func.func @unmoved_beyond_by_a_byte(%x: tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<1x6x4x5xf32>, tensor<13xi8>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<6x1x1x1xi8>>} : () -> tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>
  %o = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] : tensor<13xi8>>} : () -> tensor<13xi8>
  // expected-remark@+1 {{[fold-float-weights: large-weight]}}
  %a = onnx.Conv(%x, %w) {group = 6 : i64} : (tensor<1x6x4x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<6x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x6x4x5xf32>
  func.return %a, %o : tensor<1x6x4x5xf32>, tensor<13xi8>
}

// -----

// No integer kernel takes 16 bits: the op computes in float, and its result is quantized behind it. Beside 24 bytes of
// others, the file may grow by the 18 of this weight.

// CHECK-LABEL: func.func @wide_activation(
// CHECK: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, -0.5, 1.5, 2.0, -2.5, 3.0] : tensor<2x3xf32>>}
// CHECK-NEXT: %[[D:.*]] = quant.dcast %x
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[D]], %[[F]]) : (tensor<5x2xf32>, tensor<2x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[P]]
func.func @wide_activation(%x: tensor<5x2x!quant.uniform<u16:f32, 0.02:130>>) -> (tensor<5x3x!quant.uniform<u16:f32, 0.04:70>>, tensor<3xi64>) {
  %o = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xi64>>} : () -> tensor<3xi64>
  %w = onnx.Constant() {value = #onnx.tensor<[2, -1, 3, 4, -5, 6] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32, 0.5>>
  %y = onnx.MatMul(%x, %w) : (tensor<5x2x!quant.uniform<u16:f32, 0.02:130>>, tensor<2x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x3x!quant.uniform<u16:f32, 0.04:70>>
  func.return %y, %o : tensor<5x3x!quant.uniform<u16:f32, 0.04:70>>, tensor<3xi64>
}

// -----

// Of an op without a kernel the small constants are float, dequantized or as they are stored, once for all users; larger
// ones stay, and so do those that are moved as integers.

// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, -0.5, 1.5] : tensor<3xf32>>}
// CHECK-NEXT: %[[L:.*]] = onnx.Constant() {{.*}} : () -> tensor<2x3x!
// CHECK: onnx.LayerNormalization(%x, %[[G]], _)
// CHECK: onnx.Sub(%y, %[[G]]) : (tensor<2x3x!{{.*}}>, tensor<3xf32>) -> tensor<2x3x!
// CHECK: %[[D:.*]] = quant.dcast %[[L]]
// CHECK-NEXT: onnx.Pow(%x, %[[D]])
// CHECK: onnx.Concat(%y, %[[L]])
!y = !quant.uniform<u16:f32, 0.02:130>
func.func @constants(%x: tensor<2x3xf32>, %y: tensor<2x3x!y>) -> (tensor<2x3xf32>, tensor<2x3x!y>, tensor<2x3xf32>, tensor<4x3x!y>) {
  %g = onnx.Constant() {value = #onnx.tensor<[2, -1, 3] : tensor<3xi16>>} : () -> tensor<3x!quant.uniform<i16:f32, 0.5>>
  %l = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<2x3xui16>>} : () -> tensor<2x3x!y>
  %f = quant.dcast %g : tensor<3x!quant.uniform<i16:f32, 0.5>> to tensor<3xf32>
  %a = onnx.LayerNormalization(%x, %f) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %b = onnx.Sub(%y, %g) : (tensor<2x3x!y>, tensor<3x!quant.uniform<i16:f32, 0.5>>) -> tensor<2x3x!y>
  %d = quant.dcast %l : tensor<2x3x!y> to tensor<2x3xf32>
  %c = onnx.Pow(%x, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = onnx.Concat(%y, %l) {axis = 0 : i64} : (tensor<2x3x!y>, tensor<2x3x!y>) -> tensor<4x3x!y>
  func.return %a, %b, %c, %e : tensor<2x3xf32>, tensor<2x3x!y>, tensor<2x3xf32>, tensor<4x3x!y>
}

// -----

// A bias in steps of the weight's scale goes with it.

// CHECK-LABEL: func.func @bias(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.0] : tensor<2x1x1x1xf32>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25, -0.125] : tensor<2xf32>>}
// CHECK: %[[X:.*]] = quant.dcast %x
// CHECK-NEXT: onnx.Conv(%[[X]], %[[W]], %[[B]]) {group = 2 : i64}
!x = !quant.uniform<i16:f32, 0.03125:13>
!w = !quant.uniform<i8:f32:0, {0.5,0.25:8}>
!b = !quant.uniform<i32:f32:0, {0.015625,0.0078125}>
func.func @bias(%x: tensor<1x2x4x4x!x>) -> tensor<1x2x4x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 4] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[16, -16] : tensor<2xi32>>} : () -> tensor<2x!b>
  %c = quant.dcast %b : tensor<2x!b> to tensor<2xf32>
  %y = onnx.Conv(%x, %w, %c) {group = 2 : i64} : (tensor<1x2x4x4x!x>, tensor<2x1x1x1x!w>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  func.return %y : tensor<1x2x4x4xf32>
}

// -----

// Moves between the constant and the op that stays in float are computed, too: scales of rows that are no rows there.

// CHECK-LABEL: func.func @moved_rows(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.75, 1.0, 1.0] : tensor<2x2xf32>>}
// CHECK-NEXT: onnx.MatMul(%x, %[[W]])
!r = !quant.uniform<u8:f32:0, {0.5,0.25}>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @moved_rows(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xui8>>} : () -> tensor<2x2x!r>
  %d = quant.dcast %w : tensor<2x2x!r> to tensor<2x2xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %m = onnx.Reshape(%d, %s) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %t = onnx.Transpose(%m) {perm = array<i64: 1, 0>} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = onnx.MatMul(%x, %t) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
}

// -----

// What depends on constants alone is computed, too, also by an op that does not move elements: a decay -exp(a), say.

// CHECK-LABEL: func.func @computed(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-2.0, -4.0] : tensor<2xf32>>}
// CHECK-NEXT: onnx.Mul(%x, %[[W]])
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @computed(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[8, 32] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  %d = quant.dcast %w : tensor<2x!quant.uniform<u8:f32, 0.5>> to tensor<2xf32>
  %s = onnx.Sqrt(%d) : (tensor<2xf32>) -> tensor<2xf32>
  %n = onnx.Neg(%s) : (tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.Mul(%x, %n) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
}

// -----

// onnxruntime makes an integer product of a MatMul below one scale that is computed; of a Gemm, or for two, it makes none.

// CHECK-LABEL: func.func @below_a_computed_scale(
// CHECK: %[[D:.*]] = quant.dcast %w
// CHECK: onnx.MatMul(%{{.*}}, %[[D]])
// CHECK: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5, 2.0] : tensor<2x2xf32>>}
// CHECK: onnx.Gemm(%{{.*}}, %[[F]]
// CHECK: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5, 2.0] : tensor<2x2xf32>>}
// CHECK: onnx.MatMul(%{{.*}}, %[[G]])
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @below_a_computed_scale(%x: tensor<3x2xi8>, %s: tensor<f32>, %t: tensor<2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xui8>>} : () -> tensor<2x2x!quant.uniform<u8:f32, 0.5>>
  %z = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi8>>} : () -> tensor<2xi8>
  %d = quant.dcast %w : tensor<2x2x!quant.uniform<u8:f32, 0.5>> to tensor<2x2xf32>
  %a = onnx.DequantizeLinear(%x, %s, _) : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %b = onnx.DequantizeLinear(%x, %t, %z) {axis = 1 : i64} : (tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%a, %d) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %g = onnx.Gemm(%a, %d, _) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %m = onnx.MatMul(%b, %d) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y, %g, %m : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
}
