// RUN: OPT %s -p rescale-bias | FILECHECK %s
// RUN: DIAGNOSTICS -p rescale-bias

!x = !quant.uniform<u8:f32, 0.5:13>
!w = !quant.uniform<i8:f32:0, {0.25:3,0.125:-7}>
!v = !quant.uniform<i8:f32, 0.25:3>
!y = !quant.uniform<u8:f32, 0.7:7>
!f = !quant.uniform<u8:f32, 0.03:7>

// One step for each channel: x_scale * w_scale, half to even.

// CHECK-LABEL: func.func @per_channel(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32:0, {0.125,0.0625}>>
// CHECK-NEXT: onnx.Conv(%x, %w, %[[B]])
func.func @per_channel(%x: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>) -> tensor<1x2x3x3x!y> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, -0.28] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Conv(%x, %w, %b) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2xf32>) -> tensor<1x2x3x3x!y>
  func.return %t : tensor<1x2x3x3x!y>
}

// One step for all; a dequantized bias counts as the floats that it stands for: (20 - 4) * 0.1 and so on.

// CHECK-LABEL: func.func @dequantized(
// CHECK-NOT: quant.dcast
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[13, -6, 0] : tensor<3xi32>>} : () -> tensor<3x!quant.uniform<i32:f32, 0.125>>
// CHECK-NEXT: onnx.Gemm(%x, %w, %[[B]])
func.func @dequantized(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>) -> tensor<2x3x!y> {
  %b = onnx.Constant() {value = #onnx.tensor<[20, -4, 4] : tensor<3xi8>>} : () -> tensor<3x!quant.uniform<i8:f32, 0.1:4>>
  %r = quant.dcast %b : tensor<3x!quant.uniform<i8:f32, 0.1:4>> to tensor<3xf32>
  %t = onnx.Gemm(%x, %w, %r) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// One bias for all channels is one for each; a row is a row.

// CHECK-LABEL: func.func @broadcast(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, 8, 8] : tensor<3xi32>>}
// CHECK-NEXT: onnx.Gemm(%x, %w, %[[B]])
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[8, 16, 24] : tensor<3xi32>>}
// CHECK-NEXT: onnx.Gemm(%x, %w, %[[C]])
func.func @broadcast(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>) -> (tensor<2x3x!y>, tensor<2x3x!y>) {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Gemm(%x, %w, %b) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<f32>) -> tensor<2x3x!y>
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<1x3xf32>>} : () -> tensor<1x3xf32>
  %t = onnx.Gemm(%x, %w, %c) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<1x3xf32>) -> tensor<2x3x!y>
  func.return %s, %t : tensor<2x3x!y>, tensor<2x3x!y>
}

// Weights that are all 0, or their zero point, have any scale: one that lets the bias be what it is.

// CHECK-LABEL: func.func @refined(
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}}: () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.25:3,2.3841858e-07:-7}>>
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, 1048576] : tensor<2xi32>>}
// CHECK-NEXT: onnx.Gemm(%x, %[[W]], %[[B]])
func.func @refined(%x: tensor<2x3x!x>) -> tensor<2x2x!f> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, -7, 6, -7, 7, -7] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.25:3,1.0:-7}>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 0.125] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!quant.uniform<i8:f32:1, {0.25:3,1.0:-7}>>, tensor<2xf32>) -> tensor<2x2x!f>
  func.return %t : tensor<2x2x!f>
}

// Weights of few bits in finer steps are the same numbers, and so are the sums: 3 times 16, -2 times 16 for one scale;
// for each channel only where the bias needs it. With 40 in it there is no room.

// CHECK-LABEL: func.func @few_bits(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[48, -32, 16, 0, -48, 32] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.0625>>
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[11, 32] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.03125>>
// CHECK-NEXT: onnx.Gemm(%x, %[[W]], %[[B]])
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -32, 40, 0, -3, 32] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,0.0625}>>
// CHECK-NEXT: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 10] : tensor<2xi32>>}
// CHECK-NEXT: onnx.Gemm(%x, %[[V]], %[[C]])
func.func @few_bits(%x: tensor<2x3x!x>) -> (tensor<2x2x!f>, tensor<2x2x!y>) {
  %w = onnx.Constant() {value = #onnx.tensor<[3, -2, 1, 0, -3, 2] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8<-3:3>:f32, 1.0>>
  %b = onnx.Constant() {value = #onnx.tensor<[0.34, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %s = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!quant.uniform<i8<-3:3>:f32, 1.0>>, tensor<2xf32>) -> tensor<2x2x!f>
  %v = onnx.Constant() {value = #onnx.tensor<[3, -2, 40, 0, -3, 2] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,1.0}>>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, 0.3125] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Gemm(%x, %v, %c) : (tensor<2x3x!x>, tensor<3x2x!quant.uniform<i8:f32:1, {1.0,1.0}>>, tensor<2xf32>) -> tensor<2x2x!y>
  func.return %s, %t : tensor<2x2x!f>, tensor<2x2x!y>
}

// One channel in finer steps beside one of zeros, whose scale is far too small for its bias: both at once.

// CHECK-LABEL: func.func @few_bits_beside_zeros(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[48, 0, 16, 0, -48, 0] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.0625,
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[11,
// CHECK-NEXT: onnx.Gemm(%x, %[[W]], %[[B]])
func.func @few_bits_beside_zeros(%x: tensor<2x3x!x>) -> tensor<2x2x!f> {
  %w = onnx.Constant() {value = #onnx.tensor<[3, 0, 1, 0, -3, 0] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,1.0e-45}>>
  %b = onnx.Constant() {value = #onnx.tensor<[0.34, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %0 = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!quant.uniform<i8:f32:1, {1.0,1.0e-45}>>, tensor<2xf32>) -> tensor<2x2x!f>
  func.return %0 : tensor<2x2x!f>
}

// Nothing moves: half an accumulator step is eight steps of the result, and the weight's own integers need the scale.

// CHECK-LABEL: func.func @unmoved_coarse_bias(
// CHECK: onnx.Gemm({{.*}}tensor<2xf32>) ->
func.func @unmoved_coarse_bias(%x: tensor<2x3x!x>, %w: tensor<3x2x!quant.uniform<i8:f32:1, {0.25:3,1.0:-7}>>) -> tensor<2x2x!f> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 0.22] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{an accumulator step is too coarse for the bias: rounding it would change the result; quantize the weight with a finer scale [rescale-bias: bias-range]}}
  %t = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!quant.uniform<i8:f32:1, {0.25:3,1.0:-7}>>, tensor<2xf32>) -> tensor<2x2x!f>
  func.return %t : tensor<2x2x!f>
}

// Nothing moves: the bias is one for each row of the result, which happens to have as many rows as columns.

// CHECK-LABEL: func.func @unmoved_bias_of_rows(
// CHECK: onnx.Gemm({{.*}}tensor<3x1xf32>) ->
func.func @unmoved_bias_of_rows(%x: tensor<3x4x!x>, %w: tensor<4x3x!v>) -> tensor<3x3x!y> {
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  // expected-remark@+1 {{onnx.Gemm 'onnx.Gemm': the bias has shape [3, 1], not one value for each channel [rescale-bias: bias-shape]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<3x4x!x>, tensor<4x3x!v>, tensor<3x1xf32>) -> tensor<3x3x!y>
  func.return %t : tensor<3x3x!y>
}

// Nothing moves: a result of 16 bits may have finer steps than the sums, and no kernel makes it.

// CHECK-LABEL: func.func @unmoved_sixteen_bits(
// CHECK: onnx.Gemm({{.*}}tensor<3xf32>) ->
func.func @unmoved_sixteen_bits(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>) -> tensor<2x3x!quant.uniform<u16:f32, 0.01:7>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 0.05] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{no integer kernel returns this result, so the bias stays in float [rescale-bias: no-kernel]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<3xf32>) -> tensor<2x3x!quant.uniform<u16:f32, 0.01:7>>
  func.return %t : tensor<2x3x!quant.uniform<u16:f32, 0.01:7>>
}

// Nothing moves: the result is float, and 0.07 is 0.56 of a step; 8 and 4 steps are a bias all the same.

// CHECK-LABEL: func.func @unmoved_float_result(
// CHECK: onnx.Gemm({{.*}}tensor<2xf32>) -> tensor<3x2xf32>
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, 4] : tensor<2xi32>>}
// CHECK-NEXT: onnx.Gemm(%x, %w, %[[B]]) : {{.*}} -> tensor<3x2xf32>
func.func @unmoved_float_result(%x: tensor<3x4x!x>, %w: tensor<4x2x!v>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[0.07, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{the result is float, so rounding this bias by half an accumulator step matters [rescale-bias: float-result]}}
  %s = onnx.Gemm(%x, %w, %b) : (tensor<3x4x!x>, tensor<4x2x!v>, tensor<2xf32>) -> tensor<3x2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Gemm(%x, %w, %c) : (tensor<3x4x!x>, tensor<4x2x!v>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %s, %t : tensor<3x2xf32>, tensor<3x2xf32>
}

// However small a bias is, a ten thousandth of it is what it may move: 200.4 steps.

// CHECK-LABEL: func.func @unmoved_small_bias(
// CHECK: onnx.Gemm({{.*}}tensor<2xf32>) -> tensor<3x2xf32>
func.func @unmoved_small_bias(%x: tensor<3x4x!x>, %w: tensor<4x2x!quant.uniform<i8:f32, 0.0001:3>>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[0.01002, 0.005] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[rescale-bias: float-result]}}
  %s = onnx.Gemm(%x, %w, %b) : (tensor<3x4x!x>, tensor<4x2x!quant.uniform<i8:f32, 0.0001:3>>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %s : tensor<3x2xf32>
}

// Nothing moves: the activation has several scales.

// CHECK-LABEL: func.func @unmoved_activation_per_axis(
// CHECK: onnx.Gemm({{.*}}tensor<3xf32>) ->
func.func @unmoved_activation_per_axis(%x: tensor<2x4x!w>, %w: tensor<4x3x!v>) -> tensor<2x3x!y> {
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{the activation has a scale for each channel [rescale-bias: activation-per-axis]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<2x4x!w>, tensor<4x3x!v>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// Nothing moves: no kernel makes several scales, nor convolves backwards at all.

// CHECK-LABEL: func.func @unmoved_no_kernel(
// CHECK: onnx.Gemm({{.*}}tensor<2xf32>) ->
// CHECK: onnx.ConvTranspose({{.*}}tensor<2xf32>) ->
func.func @unmoved_no_kernel(%x: tensor<3x4x!x>, %w: tensor<4x2x!v>, %i: tensor<1x4x5x5x!x>, %k: tensor<4x2x3x3x!v>) -> (tensor<3x2x!quant.uniform<u8:f32:1, {0.5,0.25:7}>>, tensor<1x2x7x7x!y>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{no integer kernel returns this result, so the bias stays in float [rescale-bias: no-kernel]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<3x4x!x>, tensor<4x2x!v>, tensor<2xf32>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5,0.25:7}>>
  // expected-remark@+1 {{[rescale-bias: no-kernel]}}
  %u = onnx.ConvTranspose(%i, %k, %c) : (tensor<1x4x5x5x!x>, tensor<4x2x3x3x!v>, tensor<2xf32>) -> tensor<1x2x7x7x!y>
  func.return %t, %u : tensor<3x2x!quant.uniform<u8:f32:1, {0.5,0.25:7}>>, tensor<1x2x7x7x!y>
}

// Nothing moves: the bias comes at run time.

// CHECK-LABEL: func.func @unmoved_computed_bias(
// CHECK-NEXT: onnx.Gemm(%x, %w, %c)
func.func @unmoved_computed_bias(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>, %c: tensor<3xf32>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{the bias is computed at run time [rescale-bias: computed-parameter]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// Nothing moves: 3e8 / 0.125 does not fit in int32, and clipping it would ruin the channel.

// CHECK-LABEL: func.func @unmoved_bias_overflow(
// CHECK: onnx.Gemm({{.*}}tensor<3xf32>) ->
func.func @unmoved_bias_overflow(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>) -> tensor<2x3x!y> {
  %c = onnx.Constant() {value = #onnx.tensor<[1.0, 300000000.0, -300000000.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{2 of 3 biases do not fit in int32 at x_scale * w_scale [rescale-bias: bias-range]}}
  %t = onnx.Gemm(%x, %w, %c) : (tensor<2x4x!x>, tensor<4x3x!v>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// Nothing moves: the weight is float, or there is no bias.

// CHECK-LABEL: func.func @unmoved_no_bias(
// CHECK-NEXT: onnx.Gemm(%x, %w, _)
// CHECK-NEXT: onnx.Gemm(%x, %f, %c) : (tensor<2x4x!quant.uniform<u8:f32, 0.5:13>>, tensor<4x3xf32>, tensor<3xf32>)
func.func @unmoved_no_bias(%x: tensor<2x4x!x>, %w: tensor<4x3x!v>, %f: tensor<4x3xf32>, %c: tensor<3xf32>) -> (tensor<2x3x!y>, tensor<2x3x!y>) {
  %s = onnx.Gemm(%x, %w) : (tensor<2x4x!x>, tensor<4x3x!v>) -> tensor<2x3x!y>
  %t = onnx.Gemm(%x, %f, %c) : (tensor<2x4x!x>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %s, %t : tensor<2x3x!y>, tensor<2x3x!y>
}

// A bias of 1e10 steps of 0.5 * 2e-10: channel 0 gets a scale at which it is 2^30, (103 - 3) * 2e-10 is 11 of those steps.
// Channel 1 stays.

// CHECK-LABEL: func.func @widened(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[14, -3, 7, 9] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {1.862647e-09:3,0.25}>>
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1073740800, -4] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32:0, {9.313235e-10,0.125}>>
// CHECK-NEXT: onnx.Conv(%x, %[[W]], %[[B]])
func.func @widened(%x: tensor<1x2x5x4x!x>) -> tensor<1x2x5x4x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[103, -50, 7, 9] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.0000000002:3,0.25}>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, -0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Conv(%x, %w, %b) : (tensor<1x2x5x4x!x>, tensor<2x2x1x1x!quant.uniform<i8:f32:0, {0.0000000002:3,0.25}>>, tensor<2xf32>) -> tensor<1x2x5x4x!y>
  func.return %t : tensor<1x2x5x4x!y>
}

// Sixteen weights of 4 * 2e-10 are 0 at that scale, which moves sums of 65535 * 0.5 by 4.2e-4: under half a step of 0.001,
// over half a step of 0.0005.

// CHECK-LABEL: func.func @widened_by_less_than_half_a_step(
// CHECK: onnx.Gemm(%x, %{{.*}}, %{{.*}}) {{.*}}tensor<16x1x!quant.uniform<i8:f32, 1.862647e-09>>,
func.func @widened_by_less_than_half_a_step(%x: tensor<5x16x!quant.uniform<u16:f32, 0.5>>) -> tensor<5x1x!quant.uniform<u8:f32, 0.001>> {
  %w = onnx.Constant() {value = #onnx.tensor<[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4] : tensor<16x1xi8>>} : () -> tensor<16x1x!quant.uniform<i8:f32:1, {0.0000000002}>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %t = onnx.Gemm(%x, %w, %b) : (tensor<5x16x!quant.uniform<u16:f32, 0.5>>, tensor<16x1x!quant.uniform<i8:f32:1, {0.0000000002}>>, tensor<1xf32>) -> tensor<5x1x!quant.uniform<u8:f32, 0.001>>
  func.return %t : tensor<5x1x!quant.uniform<u8:f32, 0.001>>
}

// CHECK-LABEL: func.func @unmoved_half_a_step(
// CHECK: onnx.Gemm({{.*}}tensor<1xf32>) ->
func.func @unmoved_half_a_step(%x: tensor<5x16x!quant.uniform<u16:f32, 0.5>>) -> tensor<5x1x!quant.uniform<u8:f32, 0.0005>> {
  %w = onnx.Constant() {value = #onnx.tensor<[4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4] : tensor<16x1xi8>>} : () -> tensor<16x1x!quant.uniform<i8:f32:1, {0.0000000002}>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  // expected-remark@+1 {{1 of 1 biases do not fit in int32 at x_scale * w_scale [rescale-bias: bias-range]}}
  %t = onnx.Gemm(%x, %w, %b) : (tensor<5x16x!quant.uniform<u16:f32, 0.5>>, tensor<16x1x!quant.uniform<i8:f32:1, {0.0000000002}>>, tensor<1xf32>) -> tensor<5x1x!quant.uniform<u8:f32, 0.0005>>
  func.return %t : tensor<5x1x!quant.uniform<u8:f32, 0.0005>>
}

// Nothing moves: 50000 * 65522 wraps, whatever the bias.

// CHECK-LABEL: func.func @unmoved_accumulator_overflow(
// CHECK: onnx.Gemm({{.*}}tensor<1xf32>) ->
func.func @unmoved_accumulator_overflow(%x: tensor<5x2x!quant.uniform<u16:f32, 0.5:13>>) -> tensor<5x1x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[30000, -20000] : tensor<2x1xi16>>} : () -> tensor<2x1x!quant.uniform<i16:f32, 0.25>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  // expected-remark@+1 {{sums can reach 3276100008, int32 holds at most 2147483647 [rescale-bias: accumulator-overflow]}}
  %t = onnx.Gemm(%x, %w, %b) : (tensor<5x2x!quant.uniform<u16:f32, 0.5:13>>, tensor<2x1x!quant.uniform<i16:f32, 0.25>>, tensor<1xf32>) -> tensor<5x1x!y>
  func.return %t : tensor<5x1x!y>
}

// Of signed integers below a positive zero point: 50000 * (32768 + 20000).

// CHECK-LABEL: func.func @unmoved_signed_accumulator_overflow(
// CHECK: onnx.Gemm({{.*}}tensor<1xf32>) ->
func.func @unmoved_signed_accumulator_overflow(%x: tensor<5x2x!quant.uniform<i16:f32, 0.5:20000>>) -> tensor<5x1x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[30000, -20000] : tensor<2x1xi16>>} : () -> tensor<2x1x!quant.uniform<i16:f32, 0.25>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  // expected-remark@+1 {{sums can reach 2638400008, int32 holds at most 2147483647 [rescale-bias: accumulator-overflow]}}
  %t = onnx.Gemm(%x, %w, %b) : (tensor<5x2x!quant.uniform<i16:f32, 0.5:20000>>, tensor<2x1x!quant.uniform<i16:f32, 0.25>>, tensor<1xf32>) -> tensor<5x1x!y>
  func.return %t : tensor<5x1x!y>
}

// Nothing moves: the product of two half-precision scales is no half-precision scale.

// CHECK-LABEL: func.func @unmoved_expressed_type(
// CHECK: onnx.Gemm({{.*}}tensor<3xf16>) ->
func.func @unmoved_expressed_type(%x: tensor<5x2x!quant.uniform<u8:f16, 0.5:13>>, %w: tensor<2x3x!quant.uniform<i8:f16, 0.25>>) -> tensor<5x3x!quant.uniform<u8:f16, 0.5:3>> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3xf16>>} : () -> tensor<3xf16>
  // expected-remark@+1 {{the kernels compute in f32, not in f16 [rescale-bias: expressed-type]}}
  %t = onnx.Gemm(%x, %w, %b) : (tensor<5x2x!quant.uniform<u8:f16, 0.5:13>>, tensor<2x3x!quant.uniform<i8:f16, 0.25>>, tensor<3xf16>) -> tensor<5x3x!quant.uniform<u8:f16, 0.5:3>>
  func.return %t : tensor<5x3x!quant.uniform<u8:f16, 0.5:3>>
}
