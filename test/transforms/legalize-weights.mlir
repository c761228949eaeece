// RUN: OPT %s -p 'legalize-weights{target=openvino}' | FILECHECK %s
// RUN: OPT %s -p 'legalize-weights{target=generic}' | FILECHECK %s --check-prefix=GENERIC
// RUN: OPT %s -p 'legalize-weights{target=onnxruntime}' | FILECHECK %s --check-prefix=RUNTIME
// RUN: OPT %s -p 'legalize-weights{target=tensorrt}' | FILECHECK %s --check-prefix=TENSORRT
// RUN: DIAGNOSTICS -p 'legalize-weights{target=openvino}'

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.5:7>
!c = !quant.uniform<u8:f32:1, {0.02:13,0.03:11}>
!w = !quant.uniform<u8:f32, 0.25:131>
!p = !quant.uniform<i8:f32:0, {0.25:3,0.5:-2,0.75}>
!m = !quant.uniform<u8:f32:1, {0.25:131,0.5:90}>

// 8 bits hold every difference: the weight is written without its zero points.

// CHECK-LABEL: func.func @shifted(
// CHECK-NEXT: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-1, 124, 3, -98, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.75}>>
// CHECK-NEXT: onnx.Conv(%x, %[[V]], _) : (tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.75}>>) -> tensor<1x3x5x4x!quant.uniform<u8:f32, 0.5:7>>
// GENERIC-LABEL: func.func @shifted(
// GENERIC: onnx.Conv({{.*}}{0.25:3,0.5:-2,0.75}
func.func @shifted(%x: tensor<1x2x5x4x!x>) -> tensor<1x3x5x4x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[2, 127, 1, -100, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!p>
  %r = onnx.Conv(%x, %w, _) : (tensor<1x2x5x4x!x>, tensor<3x2x1x1x!p>) -> tensor<1x3x5x4x!y>
  func.return %r : tensor<1x3x5x4x!y>
}

// What i8 does not hold, -131 and -130, comes in by second copies of the inputs concerned.

// CHECK-LABEL: func.func @copied(
// CHECK: %[[I:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 2, 3, 4, 5, 6, 7, 6] : tensor<9xi64>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Gather(%x, %[[I]]) {axis = 1 : i64} : (tensor<?x8x5x4x!quant.uniform<u8:f32, 0.02:13>>, tensor<9xi64>) -> tensor<?x9x5x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-127, 0, 1, 2, 3, 4, -128, 119, -3, -128, 124, 3, 1, -1, 69, -128, -31, -2] : tensor<2x9x1x1xi8>>} : () -> tensor<2x9x1x1x!quant.uniform<i8:f32, 0.25>>
// CHECK-NEXT: onnx.Conv(%[[C]], %[[V]], %b)
func.func @copied(%x: tensor<?x8x5x4x!x>, %b: tensor<2xf32>) -> tensor<?x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[4, 131, 132, 133, 134, 135, 0, 250, 3, 255, 134, 132, 130, 200, 1, 100] : tensor<2x8x1x1xui8>>} : () -> tensor<2x8x1x1x!w>
  %r = onnx.Conv(%x, %w, %b) : (tensor<?x8x5x4x!x>, tensor<2x8x1x1x!w>, tensor<2xf32>) -> tensor<?x2x5x4xf32>
  func.return %r : tensor<?x2x5x4xf32>
}

// Of many elements only those are gathered.

// CHECK-LABEL: func.func @copied_of_many(
// CHECK: %[[G:.*]] = onnx.Gather(%x, {{.*}} -> tensor<?x1x60x60x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[C:.*]] = onnx.Concat(%x, %[[G]]) {axis = 1 : i64} : {{.*}} -> tensor<?x9x60x60x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: onnx.Conv(%[[C]],
func.func @copied_of_many(%x: tensor<?x8x60x60x!x>) -> tensor<?x2x60x60xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[4, 131, 132, 133, 134, 135, 0, 250, 3, 255, 134, 132, 130, 200, 1, 100] : tensor<2x8x1x1xui8>>} : () -> tensor<2x8x1x1x!w>
  %r = onnx.Conv(%x, %w, _) : (tensor<?x8x60x60x!x>, tensor<2x8x1x1x!w>) -> tensor<?x2x60x60xf32>
  func.return %r : tensor<?x2x60x60xf32>
}

// Integers that are read as another type are copied before they are read, where `sink-dequantize` has them.

// CHECK-LABEL: func.func @copied_before(
// CHECK: %[[C:.*]] = onnx.Gather(%x, {{.*}} -> tensor<?x9x5x4x!quant.uniform<u8:f32, 0.5:7>>
// CHECK: %[[S:.*]] = quant.scast %[[C]]
// CHECK-NEXT: %[[R:.*]] = quant.scast %[[S]] : tensor<?x9x5x4xui8> to tensor<?x9x5x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: onnx.Conv(%[[R]],
func.func @copied_before(%x: tensor<?x8x5x4x!y>) -> tensor<?x2x5x4xf32> {
  %s = quant.scast %x : tensor<?x8x5x4x!y> to tensor<?x8x5x4xui8>
  %q = quant.scast %s : tensor<?x8x5x4xui8> to tensor<?x8x5x4x!x>
  %w = onnx.Constant() {value = #onnx.tensor<[4, 131, 132, 133, 134, 135, 0, 250, 3, 255, 134, 132, 130, 200, 1, 100] : tensor<2x8x1x1xui8>>} : () -> tensor<2x8x1x1x!w>
  %r = onnx.Conv(%q, %w, _) : (tensor<?x8x5x4x!x>, tensor<2x8x1x1x!w>) -> tensor<?x2x5x4xf32>
  func.return %r : tensor<?x2x5x4xf32>
}

// The inputs of a product of matrices run along the last axis; a zero point for each column.

// CHECK-LABEL: func.func @product(
// CHECK: %[[I:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 2, 3, 2] : tensor<5xi64>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Gather(%x, %[[I]]) {axis = 2 : i64} : {{.*}} -> tensor<3x2x5x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-126, 0, 1, 5, -128, 127, 4, 9, -3, 38] : tensor<5x2xi8>>} : () -> tensor<5x2x!quant.uniform<i8:f32:1, {0.25,0.5}>>
// CHECK-NEXT: onnx.MatMul(%[[C]], %[[V]])
func.func @product(%x: tensor<3x2x4x!x>) -> tensor<3x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 90, 132, 95, 0, 255, 135, 99] : tensor<4x2xui8>>} : () -> tensor<4x2x!m>
  %r = onnx.MatMul(%x, %w) : (tensor<3x2x4x!x>, tensor<4x2x!m>) -> tensor<3x2x2xf32>
  func.return %r : tensor<3x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_beyond_i8(
// CHECK: onnx.MatMul(%x, %w)
func.func @unmoved_beyond_i8(%x: tensor<3x4x!x>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 0, 0, 95, 0, 255, 135, 99] : tensor<4x2xui8>>} : () -> tensor<4x2x!w>
  // expected-remark@+1 {{i8 does not hold the weights of 3 of 4 inputs; quantize the weights symmetrically [legalize-weights: beyond-i8]}}
  %r = onnx.MatMul(%x, %w) : (tensor<3x4x!x>, tensor<4x2x!w>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_grouped(
// CHECK: onnx.Conv(%x, %w, _)
func.func @unmoved_grouped(%x: tensor<1x2x5x4x!x>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 130] : tensor<2x1x1x1xui8>>} : () -> tensor<2x1x1x1x!w>
  // expected-remark@+1 {{the convolution has groups, and a copied input channel would belong to another group [legalize-weights: float-result]}}
  %r = onnx.Conv(%x, %w, _) {group = 2 : i64} : (tensor<1x2x5x4x!x>, tensor<2x1x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_activation_per_axis(
// CHECK: onnx.Conv(%x, %w, _)
func.func @unmoved_activation_per_axis(%x: tensor<1x2x5x4x!c>) -> tensor<1x2x5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 130, 131, 4] : tensor<2x2x1x1xui8>>} : () -> tensor<2x2x1x1x!w>
  // expected-remark@+1 {{the activation has a scale for each channel [legalize-weights: activation-per-axis]}}
  %r = onnx.Conv(%x, %w, _) : (tensor<1x2x5x4x!c>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4xf32>
  func.return %r : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.Gemm(%x, %w, _)
func.func @unmoved_unknown_rank(%x: tensor<2x3x!x>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 130, 131, 4] : tensor<2x2xui8>>} : () -> tensor<2x2x!w>
  // expected-remark@+1 {{[legalize-weights: unknown-shape]}}
  %r = onnx.Gemm(%x, %w, _) {transA = 1 : i64} : (tensor<2x3x!x>, tensor<2x2x!w>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// OpenVINO merges a sum into a convolution in integers, and the rounding between the two is gone.

// CHECK-LABEL: func.func @unmoved_sum_skips_rounding(
// CHECK: onnx.Conv(%x, %w, _)
func.func @unmoved_sum_skips_rounding(%x: tensor<1x2x5x4x!x>, %z: tensor<1x2x5x4x!x>) -> tensor<1x2x5x4x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 130, 131, 4] : tensor<2x2x1x1xui8>>} : () -> tensor<2x2x1x1x!w>
  // expected-remark@+1 {{openvino would add another branch to the result before it is rounded; quantize the weights symmetrically [legalize-weights: zero-point]}}
  %r = onnx.Conv(%x, %w, _) : (tensor<1x2x5x4x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4x!y>
  %s = onnx.Add(%r, %z) : (tensor<1x2x5x4x!y>, tensor<1x2x5x4x!x>) -> tensor<1x2x5x4x!x>
  func.return %s : tensor<1x2x5x4x!x>
}

// CHECK-LABEL: func.func @unmoved_behind_relu(
// CHECK: onnx.Conv(%x, %w, _)
func.func @unmoved_behind_relu(%x: tensor<1x2x5x4x!x>, %z: tensor<1x2x5x4x!x>) -> tensor<1x2x5x4x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 130, 131, 4] : tensor<2x2x1x1xui8>>} : () -> tensor<2x2x1x1x!w>
  // expected-remark@+1 {{openvino would add another branch to the result before it is rounded; quantize the weights symmetrically [legalize-weights: zero-point]}}
  %r = onnx.Conv(%x, %w, _) : (tensor<1x2x5x4x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x5x4xf32>
  %a = onnx.Relu(%r) : (tensor<1x2x5x4xf32>) -> tensor<1x2x5x4x!y>
  %s = onnx.Add(%a, %z) : (tensor<1x2x5x4x!y>, tensor<1x2x5x4x!x>) -> tensor<1x2x5x4x!x>
  func.return %s : tensor<1x2x5x4x!x>
}

// i4 becomes i8 under the same scales, where integers are multiplied with it; u4 loses its zero point. Floats take i4.

// CHECK-LABEL: func.func @widened(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-8, 7, -1, 2] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
// CHECK: onnx.Constant() {value = #onnx.tensor<[-3, 12, 0, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>}
// GENERIC-LABEL: func.func @widened(
// GENERIC: #onnx.tensor<[-8, 7, -1, 2] : tensor<2x2xi4>>
// RUNTIME-LABEL: func.func @widened(
// RUNTIME: #onnx.tensor<[-8, 7, -1, 2] : tensor<2x2xi8>>
// RUNTIME: #onnx.tensor<[-3, 12, 0, 4] : tensor<2x2xi8>>
// RUNTIME: #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>
func.func @widened(%q: tensor<3x2x!x>, %x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 7, -1, 2] : tensor<2x2xi4>>} : () -> tensor<2x2x!quant.uniform<i4:f32:1, {0.5,0.25}>>
  %v = onnx.Constant() {value = #onnx.tensor<[0, 15, 3, 7] : tensor<2x2xui4>>} : () -> tensor<2x2x!quant.uniform<u4:f32, 0.5:3>>
  %f = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>} : () -> tensor<2x2x!quant.uniform<i4:f32, 0.5>>
  %y = onnx.MatMul(%q, %w) : (tensor<3x2x!x>, tensor<2x2x!quant.uniform<i4:f32:1, {0.5,0.25}>>) -> tensor<3x2xf32>
  %z = onnx.MatMul(%q, %v) : (tensor<3x2x!x>, tensor<2x2x!quant.uniform<u4:f32, 0.5:3>>) -> tensor<3x2xf32>
  %d = quant.dcast %f : tensor<2x2x!quant.uniform<i4:f32, 0.5>> to tensor<2x2xf32>
  %e = onnx.MatMul(%x, %d) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y, %z, %e : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

// A weight that products of integers and of floats share: the floats' stays.

// CHECK-LABEL: func.func @shared_weight(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>}
// CHECK-DAG: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>}
// CHECK: onnx.MatMul(%q, %[[V]])
// CHECK: quant.dcast %[[W]]
// RUNTIME-LABEL: func.func @shared_weight(
// RUNTIME-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>}
// RUNTIME-DAG: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>}
// RUNTIME: onnx.MatMul(%q, %[[V]])
// RUNTIME: quant.dcast %[[W]]
func.func @shared_weight(%q: tensor<3x2x!x>, %x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi4>>} : () -> tensor<2x2x!quant.uniform<i4:f32, 0.5>>
  %y = onnx.MatMul(%q, %w) : (tensor<3x2x!x>, tensor<2x2x!quant.uniform<i4:f32, 0.5>>) -> tensor<3x2xf32>
  %d = quant.dcast %w : tensor<2x2x!quant.uniform<i4:f32, 0.5>> to tensor<2x2xf32>
  %e = onnx.MatMul(%x, %d) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y, %e : tensor<3x2xf32>, tensor<3x2xf32>
}

// Weights of floats: u4 that i4 holds without zero point, and u4 that only i8 holds.

// CHECK-LABEL: func.func @unmoved_weights_of_floats(
// CHECK-DAG: #onnx.tensor<[0, 15, 3, 7] : tensor<2x2xui4>>} : () -> tensor<2x2x!quant.uniform<u4:f32, 0.5:8>>
// CHECK-DAG: #onnx.tensor<[0, 15, 3, 7] : tensor<2x2xui4>>} : () -> tensor<2x2x!quant.uniform<u4:f32, 0.5:3>>
// TENSORRT-LABEL: func.func @unmoved_weights_of_floats(
// TENSORRT-DAG: #onnx.tensor<[-8, 7, -5, -1] : tensor<2x2xi4>>} : () -> tensor<2x2x!quant.uniform<i4:f32, 0.5>>
// TENSORRT-DAG: #onnx.tensor<[-3, 12, 0, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32, 0.5>>
func.func @unmoved_weights_of_floats(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 15, 3, 7] : tensor<2x2xui4>>} : () -> tensor<2x2x!quant.uniform<u4:f32, 0.5:8>>
  %v = onnx.Constant() {value = #onnx.tensor<[0, 15, 3, 7] : tensor<2x2xui4>>} : () -> tensor<2x2x!quant.uniform<u4:f32, 0.5:3>>
  %a = quant.dcast %w : tensor<2x2x!quant.uniform<u4:f32, 0.5:8>> to tensor<2x2xf32>
  %b = quant.dcast %v : tensor<2x2x!quant.uniform<u4:f32, 0.5:3>> to tensor<2x2xf32>
  %y = onnx.MatMul(%x, %a) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %z = onnx.MatMul(%x, %b) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}

// A scale for each input of a weight is no scale that the plugin takes; one for each output is.

// CHECK-LABEL: func.func @real(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 0.75, 1.0] : tensor<2x2xf32>>}
// CHECK: onnx.MatMul(%x, %[[W]])
// CHECK: %[[V:.*]] = quant.dcast
// CHECK-NEXT: onnx.MatMul(%x, %[[V]])
func.func @real(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
  %a = quant.dcast %w : tensor<2x2x!quant.uniform<i8:f32:0, {0.5,0.25}>> to tensor<2x2xf32>
  %y = onnx.MatMul(%x, %a) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %b = quant.dcast %v : tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>> to tensor<2x2xf32>
  %z = onnx.MatMul(%x, %b) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return %y, %z : tensor<3x2xf32>, tensor<3x2xf32>
}

// The weight of floats has no zero point either: the plugin computes wrong numbers for transposed convolutions.

// CHECK-LABEL: func.func @of_floats(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-3, 120, 0, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.5>>
// GENERIC-LABEL: func.func @of_floats(
// GENERIC: #onnx.tensor<[125, 248, 128, 132]
func.func @of_floats(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[125, 248, 128, 132] : tensor<2x2x1x1xui8>>} : () -> tensor<2x2x1x1x!quant.uniform<u8:f32, 0.5:128>>
  %a = quant.dcast %w : tensor<2x2x1x1x!quant.uniform<u8:f32, 0.5:128>> to tensor<2x2x1x1xf32>
  %y = onnx.ConvTranspose(%x, %a, _) : (tensor<1x2x3x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x3x4xf32>
  func.return %y : tensor<1x2x3x4xf32>
}

// A scale for each row, but one zero point: OpenVINO does not load such a product with an i8 weight of zero point 0.

// CHECK-LABEL: func.func @one_zero_point_of_many_scales(
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[133, 132, 0, 255, 128, 127] : tensor<3x2xui8>>} : () -> tensor<3x2x!quant.uniform<u8:f32, 0.25:128>>
// CHECK-NEXT: onnx.MatMul(%x, %[[V]])
// CHECK: onnx.MatMul(%z, %w)
// CHECK: onnx.MatMul(%i, %w)
// GENERIC-LABEL: func.func @one_zero_point_of_many_scales(
// GENERIC: onnx.MatMul(%x, %w)
func.func @one_zero_point_of_many_scales(%x: tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.03:13}>>, %z: tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.03:12}>>, %i: tensor<2x3x!quant.uniform<i8:f32:0, {0.02,0.03}>>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 4, -128, 127, 0, -1] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25>>
  // expected-remark@+1 {{an activation has a scale for each channel [legalize-weights: activation-per-axis]}}
  %r = onnx.MatMul(%x, %w) : (tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.03:13}>>, tensor<3x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2xf32>
  %s = onnx.MatMul(%z, %w) : (tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.03:12}>>, tensor<3x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2xf32>
  %t = onnx.MatMul(%i, %w) : (tensor<2x3x!quant.uniform<i8:f32:0, {0.02,0.03}>>, tensor<3x2x!quant.uniform<i8:f32, 0.25>>) -> tensor<2x2xf32>
  func.return %r, %s, %t : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
