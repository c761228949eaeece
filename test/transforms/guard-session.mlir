// RUN: OPT %s -p 'lower-to-qdq{target=onnxruntime},guard-session' | FILECHECK %s
// RUN: OPT %s -p lower-to-qdq | FILECHECK %s --check-prefix=GENERIC
// RUN: OPT %s -p 'lower-to-qdq{target=tensorrt}' | FILECHECK %s --check-prefix=FUSED

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.004:5>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// The sum of two computed values is written so that a session does not fuse it with the normalization of it.

// CHECK-LABEL: func.func @residual(
// CHECK: %[[S:.*]] = onnx.Sum(%x, %r) : (tensor<2x64x48xf32>, tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
// CHECK-NEXT: %[[N:.*]] = onnx.LayerNormalization(%[[S]], %g, _)
// CHECK-NEXT: func.return %[[N]], %[[S]]
// GENERIC-LABEL: func.func @residual(
// GENERIC: onnx.Add(%x, %r)
func.func @residual(%x: tensor<2x64x48xf32>, %r: tensor<2x64x48xf32>, %g: tensor<48xf32>) -> (tensor<2x64x48xf32>, tensor<2x64x48xf32>) {
  %s = onnx.Add(%x, %r) : (tensor<2x64x48xf32>, tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %n = onnx.LayerNormalization(%s, %g) : (tensor<2x64x48xf32>, tensor<48xf32>) -> tensor<2x64x48xf32>
  func.return %n, %s : tensor<2x64x48xf32>, tensor<2x64x48xf32>
}

// A bias, another shape, a difference, a constant: no session fuses these into something slower.

// CHECK-LABEL: func.func @unchanged_bias(
// CHECK: onnx.Add(
// CHECK-LABEL: func.func @unchanged_shape(
// CHECK: onnx.Add(
// CHECK-LABEL: func.func @unchanged_difference(
// CHECK: onnx.Sub(
// CHECK-LABEL: func.func @unchanged_constant(
// CHECK: onnx.LayerNormalization(
func.func @unchanged_bias(%x: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -0.5, 0.25, 2.0, 3.0, -7.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %s = onnx.Add(%x, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = onnx.LayerNormalization(%s, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %n : tensor<2x3xf32>
}
func.func @unchanged_shape(%x: tensor<2x3xf32>, %r: tensor<3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Add(%x, %r) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %n = onnx.LayerNormalization(%s, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %n : tensor<2x3xf32>
}
func.func @unchanged_difference(%x: tensor<2x3xf32>, %r: tensor<2x3xf32>, %g: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sub(%x, %r) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = onnx.LayerNormalization(%s, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %n : tensor<2x3xf32>
}
func.func @unchanged_constant(%g: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.5, -0.5, 0.25, 2.0, 3.0, -7.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %n = onnx.LayerNormalization(%s, %g) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %n : tensor<2x3xf32>
}

// Where the float kernel is the faster one, it does not stand right between casts that a session makes the integer one of.

// CHECK-LABEL: func.func @softmax(
// CHECK: %[[T:.*]] = onnx.Softmax(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[T]]) : (tensor<64x48xf32>) -> tensor<64x48xf32>
// CHECK-NEXT: onnx.QuantizeLinear(%[[S]],
// GENERIC-LABEL: func.func @softmax(
// GENERIC: %[[T:.*]] = onnx.Softmax(
// GENERIC-NEXT: onnx.QuantizeLinear(%[[T]],
func.func @softmax(%a: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %q = quant.qcast %a : tensor<64x48xf32> to tensor<64x48x!x>
  %t = onnx.Softmax(%q) {axis = -1 : i64} : (tensor<64x48x!x>) -> tensor<64x48x!y>
  %d = quant.dcast %t : tensor<64x48x!y> to tensor<64x48xf32>
  func.return %d : tensor<64x48xf32>
}

// Rows of 4: the integer kernel is the faster one.

// CHECK-LABEL: func.func @unchanged_short_rows(
// CHECK: %[[T:.*]] = onnx.Softmax(
// CHECK-NEXT: onnx.QuantizeLinear(%[[T]],
func.func @unchanged_short_rows(%a: tensor<64x4xf32>) -> tensor<64x4xf32> {
  %q = quant.qcast %a : tensor<64x4xf32> to tensor<64x4x!x>
  %t = onnx.Softmax(%q) {axis = -1 : i64} : (tensor<64x4x!x>) -> tensor<64x4x!quant.uniform<u8:f32, 0.01:5>>
  %d = quant.dcast %t : tensor<64x4x!quant.uniform<u8:f32, 0.01:5>> to tensor<64x4xf32>
  func.return %d : tensor<64x4xf32>
}

// A session fuses a product and the clamp behind it in float, unless casts stand between; other targets fuse them in
// integers.

// CHECK-LABEL: func.func @clamp(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%[[P]],
// CHECK-NEXT: %[[D:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[D]])
// CHECK-NEXT: func.return %[[R]]
// FUSED-LABEL: func.func @clamp(
// FUSED: %[[P:.*]] = onnx.MatMul(
// FUSED-NEXT: %[[R:.*]] = onnx.Relu(%[[P]])
// FUSED-NEXT: onnx.QuantizeLinear(%[[R]],
func.func @clamp(%a: tensor<2x3xf32>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!x>
  %v = quant.scast %w : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.5>>
  %p = onnx.MatMul(%q, %v) : (tensor<2x3x!x>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4x!y>
  %r = onnx.Relu(%p) : (tensor<2x4x!y>) -> tensor<2x4x!y>
  %d = quant.dcast %r : tensor<2x4x!y> to tensor<2x4xf32>
  func.return %d : tensor<2x4xf32>
}

// In 16 bits there is no integer kernel, and nothing to save.

// CHECK-LABEL: func.func @unchanged_wide_clamp(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Relu(%[[P]])
func.func @unchanged_wide_clamp(%a: tensor<2x3xf32>, %w: tensor<3x4xi8>) -> tensor<2x4xf32> {
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>
  %v = quant.scast %w : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.5>>
  %p = onnx.MatMul(%q, %v) : (tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4x!quant.uniform<i16:f32, 0.04:7>>
  %r = onnx.Relu(%p) : (tensor<2x4x!quant.uniform<i16:f32, 0.04:7>>) -> tensor<2x4x!quant.uniform<i16:f32, 0.04:7>>
  %d = quant.dcast %r : tensor<2x4x!quant.uniform<i16:f32, 0.04:7>> to tensor<2x4xf32>
  func.return %d : tensor<2x4xf32>
}

// A session quantizes the float weight of an op between casts, also of 16 bits, which no kernel takes. Integers it keeps, and
// what nobody quantizes.

// CHECK-LABEL: func.func @quantized_again(
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[P]])
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[R]])
// CHECK-NEXT: QuantizeLinear(%[[S]],
// CHECK: %[[M:.*]] = onnx.MatMul(
// CHECK-NEXT: QuantizeLinear(%[[M]],
// GENERIC-LABEL: func.func @quantized_again(
// GENERIC-NOT: onnx.Sum
func.func @quantized_again(%a: tensor<2x3xf32>, %w: tensor<3x4xi8>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i16:f32, 0.02:13>> to tensor<2x3xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, 8.0] : tensor<3x4xf32>>} : () -> tensor<3x4xf32>
  %p = onnx.MatMul(%x, %f) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = onnx.Relu(%p) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = quant.qcast %r : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i16:f32, 0.04:7>>
  %y = quant.dcast %s : tensor<2x4x!quant.uniform<i16:f32, 0.04:7>> to tensor<2x4xf32>
  %v = quant.scast %w : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.5>>
  %m = onnx.MatMul(%q, %v) : (tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>, tensor<3x4x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x4x!quant.uniform<i16:f32, 0.04:7>>
  %z = quant.dcast %m : tensor<2x4x!quant.uniform<i16:f32, 0.04:7>> to tensor<2x4xf32>
  func.return %y, %z : tensor<2x4xf32>, tensor<2x4xf32>
}

// Likewise where it moves the quantize in front of a MaxPool or a Transpose, not where another op stands between.

// CHECK-LABEL: func.func @quantized_again_past_moves(
// CHECK: %[[T:.*]] = onnx.Transpose(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[T]])
// CHECK-NEXT: QuantizeLinear(%[[S]],
// CHECK-NOT: onnx.Sum
// CHECK: func.return
// GENERIC-LABEL: func.func @quantized_again_past_moves(
// GENERIC-NOT: onnx.Sum
func.func @quantized_again_past_moves(%a: tensor<2x3xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i16:f32, 0.02:13>> to tensor<2x3xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, 8.0] : tensor<3x4xf32>>} : () -> tensor<3x4xf32>
  %p = onnx.MatMul(%x, %f) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %r = onnx.Relu(%p) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %s = quant.qcast %t : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i16:f32, 0.04:7>>
  %y = quant.dcast %s : tensor<4x2x!quant.uniform<i16:f32, 0.04:7>> to tensor<4x2xf32>
  %g = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, -1.0, -2.0, -3.0, -4.0, 5.0, 6.0, 7.0, 9.0] : tensor<3x4xf32>>} : () -> tensor<3x4xf32>
  %m = onnx.MatMul(%x, %g) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %e = onnx.Sigmoid(%m) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %n = onnx.Transpose(%e) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %k = quant.qcast %n : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i16:f32, 0.04:7>>
  %z = quant.dcast %k : tensor<4x2x!quant.uniform<i16:f32, 0.04:7>> to tensor<4x2xf32>
  func.return %y, %z : tensor<4x2xf32>, tensor<4x2xf32>
}

// A session dequantizes the weights of float products in the order of the file, or all of them first: they stand in front.

// CHECK-LABEL: func.func @weights_first(
// CHECK: onnx.DequantizeLinear({{.*}} -> tensor<3x2xf32>
// CHECK: onnx.DequantizeLinear({{.*}} -> tensor<2x2xf32>
// CHECK: onnx_ms.QuantizeLinear(%a,
// CHECK: onnx.MatMul(
// CHECK: onnx.MatMul(
// GENERIC-LABEL: func.func @weights_first(
// GENERIC: onnx.MatMul(
// GENERIC: DequantizeLinear({{.*}}tensor<2x2xi8>
func.func @weights_first(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32, 0.25>>
  %p = onnx.MatMul(%q, %w) : (tensor<2x3x!quant.uniform<i16:f32, 0.02:13>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x2x!quant.uniform<i16:f32, 0.04:7>>
  %r = onnx.MatMul(%p, %v) : (tensor<2x2x!quant.uniform<i16:f32, 0.04:7>>, tensor<2x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2xf32>
  func.return %r : tensor<2x2xf32>
}

// A slope for each channel: a product, and the larger of the two. Slopes on both sides of 1 stay.

// CHECK-LABEL: func.func @slopes(
// CHECK: %[[M:.*]] = onnx.Mul(%x, %s) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Max(%x, %[[M]]) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK: %[[Z:.*]] = onnx.PRelu(%x,
// CHECK-NEXT: func.return %[[Y]], %[[Z]]
// GENERIC-LABEL: func.func @slopes(
// GENERIC: onnx.PRelu(
// GENERIC: onnx.PRelu(
func.func @slopes(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, -0.5, 1.0] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  %y = onnx.PRelu(%x, %s) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.25, 1.5, 1.0] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  %z = onnx.PRelu(%x, %t) : (tensor<2x3x4xf32>, tensor<3x1xf32>) -> tensor<2x3x4xf32>
  func.return %y, %z : tensor<2x3x4xf32>, tensor<2x3x4xf32>
}

}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.004:5>

// A session makes an integer kernel of a convolution, whose weight in blocks the kernel refuses.

// CHECK-LABEL: func.func @weight_in_blocks(
// CHECK: %[[C:.*]] = onnx.Conv(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[C]])
// CHECK-NEXT: onnx.QuantizeLinear(%[[S]]
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
func.func @weight_in_blocks(%x: tensor<1x4x5x5xui8>) -> tensor<1x2x5x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, 6, 7, 8] : tensor<2x4x1x1xi8>>} : () -> tensor<2x4x1x1xi8>
  %k = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 0.5] : tensor<2x2x1x1xf32>>} : () -> tensor<2x2x1x1xf32>
  %q = quant.scast %x : tensor<1x4x5x5xui8> to tensor<1x4x5x5x!x>
  %r = quant.dcast %q : tensor<1x4x5x5x!x> to tensor<1x4x5x5xf32>
  %f = onnx.DequantizeLinear(%w, %k) {axis = 1 : i64, block_size = 3 : i64} : (tensor<2x4x1x1xi8>, tensor<2x2x1x1xf32>) -> tensor<2x4x1x1xf32>
  %c = onnx.Conv(%r, %f) : (tensor<1x4x5x5xf32>, tensor<2x4x1x1xf32>) -> tensor<1x2x5x5xf32>
  %p = quant.qcast %c : tensor<1x2x5x5xf32> to tensor<1x2x5x5x!y>
  %y = quant.dcast %p : tensor<1x2x5x5x!y> to tensor<1x2x5x5xf32>
  func.return %y : tensor<1x2x5x5xf32>
}
}

// -----

// A session would select among integers, whose order a negative scale turns round.

// CHECK-LABEL: func.func @selected(
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[D]])
// CHECK-NEXT: onnx.ArgMax(%[[S]])
// CHECK-LABEL: func.func @unmoved_positive_scale(
// CHECK: %[[D:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: onnx.ArgMax(%[[D]])
// GENERIC-LABEL: func.func @selected(
// GENERIC-NOT: onnx.Sum
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @selected(%q: tensor<1x4xi8>) -> tensor<1x1xi64> {
  %s = onnx.Constant() {value = #onnx.tensor<[-0.05] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>} : () -> tensor<i8>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %y = onnx.ArgMax(%d) {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x1xi64>
  func.return %y : tensor<1x1xi64>
}
func.func @unmoved_positive_scale(%q: tensor<1x4xi8>) -> tensor<1x1xi64> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.05] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>} : () -> tensor<i8>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<1x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4xf32>
  %y = onnx.ArgMax(%d) {axis = 1 : i64} : (tensor<1x4xf32>) -> tensor<1x1xi64>
  func.return %y : tensor<1x1xi64>
}
}

// -----

// A session counts the bias in steps of the product of the scales, of which one is 0; and it quantizes a float weight.

// CHECK-LABEL: func.func @product(
// CHECK: %[[S:.*]] = onnx.Sum(%w)
// CHECK-NEXT: onnx.MatMul(%d, %[[S]])
// CHECK-LABEL: func.func @float_weight(
// CHECK: %[[G:.*]] = onnx.Gemm(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[G]])
// CHECK-NEXT: onnx.QuantizeLinear(%[[S]],
// CHECK-LABEL: func.func @unmoved_float_product(
// CHECK: %[[M:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.QuantizeLinear(%[[M]],
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @product(%q: tensor<2x3xi8>) -> tensor<2x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %k = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -0.7] : tensor<2xf32>>} : () -> tensor<2xf32>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %w = onnx.DequantizeLinear(%k, %t, %z) : (tensor<3x2xi8>, tensor<f32>, tensor<i8>) -> tensor<3x2xf32>
  %m = onnx.MatMul(%d, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %y = onnx.Add(%m, %b) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}
func.func @float_weight(%q: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %m = onnx.Gemm(%d, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %y = onnx.QuantizeLinear(%m, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  func.return %y : tensor<2x2xi8>
}
func.func @unmoved_float_product(%q: tensor<2x3xi8>) -> tensor<2x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %m = onnx.MatMul(%d, %w) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %y = onnx.QuantizeLinear(%m, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  func.return %y : tensor<2x2xi8>
}
}
