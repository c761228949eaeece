// RUN: OPT %s -p lower-to-integer | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-integer

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:3}>
!b = !quant.uniform<i32:f32:0, {0.01,0.005}>
!v = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>
!y = !quant.uniform<u8:f32, 0.04:9>

// Two convolutions below have a quantized result, which another form makes in one kernel: what the sums cost is said.

// expected-remark@unknown {{ConvInteger, with the ops that scale its sums, takes at least 2.1 times as long as a kernel with a quantized result; compile with --form qoperator [lower-to-integer: slower-form]}}
// expected-remark@unknown {{takes at least 2.2 times as long}}

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// A Gemm is a product and a sum; a constant weight that it transposes is written transposed.

// CHECK-LABEL: func.func @gemm(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 3, 5, 2, 4, 6] : tensor<2x3xi8>>}
// CHECK: %[[S:.*]] = onnx.MatMulInteger(%{{.*}}, %[[W]], %{{.*}}, %{{.*}}) : {{.*}} -> tensor<4x3xi32>
// CHECK: %[[C:.*]] = onnx.Cast(%[[S]])
// CHECK: %[[M:.*]] = onnx.Mul(%[[C]], %{{.*}})
// CHECK-NEXT: %[[A:.*]] = onnx.Add(%[[M]], %f)
// CHECK-NEXT: quant.qcast %[[A]]
func.func @gemm(%x: tensor<4x2x!x>, %f: tensor<3xf32>) -> tensor<4x3x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>
  %y = onnx.Gemm(%x, %w, %f) {transB = 1 : i64} : (tensor<4x2x!x>, tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>, tensor<3xf32>) -> tensor<4x3x!y>
  func.return %y : tensor<4x3x!y>
}

// CHECK-LABEL: func.func @unmoved_gemm_form(
// CHECK-NEXT: onnx.Gemm(
// CHECK-NEXT: onnx.Gemm(
func.func @unmoved_gemm_form(%x: tensor<4x2x!x>, %w: tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>) -> (tensor<4x3x!y>, tensor<4x3x!y>) {
  // expected-remark@+1 {{Gemm transposes a weight that is computed [lower-to-integer: computed-parameter]}}
  %y = onnx.Gemm(%x, %w) {transB = 1 : i64} : (tensor<4x2x!x>, tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<4x3x!y>
  // expected-remark@+1 {{Gemm transposes its activation, or scales its product or its bias [lower-to-integer: product-form]}}
  %z = onnx.Gemm(%x, %w) {transB = 1 : i64, alpha = 0.5 : f32} : (tensor<4x2x!x>, tensor<3x2x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<4x3x!y>
  func.return %y, %z : tensor<4x3x!y>, tensor<4x3x!y>
}

// The bias joins the sum as the integers it is, the scales follow along the channels.

// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[X:.*]] = quant.scast %x : tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x5x4xui8>
// CHECK-DAG: %[[W:.*]] = quant.scast %w : {{.*}} to tensor<2x2x3x2xi8>
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>}
// CHECK: %[[S:.*]] = onnx.ConvInteger(%[[X]], %[[W]], %[[XZ]], %[[WZ]]) {pads = array<i64: 1, 0, 2, 1>, strides = array<i64: 2, 1>} : (tensor<1x2x5x4xui8>, tensor<2x2x3x2xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x2x3x4xi32>
// CHECK: %[[B:.*]] = quant.scast %b : {{.*}} to tensor<2xi32>
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 1, 1] : tensor<4xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[B]], %[[H]]) : (tensor<2xi32>, tensor<4xi64>) -> tensor<1x2x1x1xi32>
// CHECK-NEXT: %[[A:.*]] = onnx.Add(%[[S]], %[[R]]) : (tensor<1x2x3x4xi32>, tensor<1x2x1x1xi32>) -> tensor<1x2x3x4xi32>
// CHECK-NEXT: %[[C:.*]] = onnx.Cast(%[[A]]) {to = 1 : i64} : (tensor<1x2x3x4xi32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.01, 0.005] : tensor<1x2x1x1xf32>>}
// CHECK-NEXT: %[[M:.*]] = onnx.Mul(%[[C]], %[[F]]) : (tensor<1x2x3x4xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x4xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[M]] : tensor<1x2x3x4xf32> to tensor<1x2x3x4x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Q]]
func.func @conv(%x: tensor<1x2x5x4x!x>, %w: tensor<2x2x3x2x!w>, %b: tensor<2x!b>) -> tensor<1x2x3x4x!y> {
  %y = onnx.Conv(%x, %w, %b) {pads = array<i64: 1, 0, 2, 1>, strides = array<i64: 2, 1>} : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!w>, tensor<2x!b>) -> tensor<1x2x3x4x!y>
  func.return %y : tensor<1x2x3x4x!y>
}

// A float bias is added behind the scales, to a float result.

// CHECK-LABEL: func.func @conv_float(
// CHECK: %[[S:.*]] = onnx.ConvInteger(
// CHECK-NEXT: %[[C:.*]] = onnx.Cast(%[[S]]) {to = 1 : i64}
// CHECK-NEXT: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.01, 0.005] : tensor<1x2x1x1xf32>>}
// CHECK-NEXT: %[[M:.*]] = onnx.Mul(%[[C]], %[[F]])
// CHECK-NEXT: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 1, 1] : tensor<4xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%b, %[[H]]) : (tensor<2xf32>, tensor<4xi64>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[M]], %[[R]]) : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @conv_float(%x: tensor<1x2x5x4x!x>, %w: tensor<2x2x3x2x!w>, %b: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %y = onnx.Conv(%x, %w, %b) : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!w>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %y : tensor<1x2x3x3xf32>
}

// A constant bias is given its shape at once: integers, floats, or integers of a scale of their own.

// CHECK-LABEL: func.func @constant_bias(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[7, -5] : tensor<1x2x1x1xi32>>}
// CHECK-NOT: onnx.Reshape
// CHECK: onnx.Add(%{{.*}}, %[[B]])
// CHECK: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -2.0] : tensor<1x2x1x1xf32>>}
// CHECK-NEXT: onnx.Add(%{{.*}}, %[[F]])
// CHECK-NOT: onnx.Reshape
// CHECK: %[[G:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, -0.5] : tensor<1x2x1x1xf32>>}
// CHECK-NEXT: onnx.Add(%{{.*}}, %[[G]])
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @constant_bias(%x: tensor<1x2x5x4x!x>, %w: tensor<2x2x3x2x!w>) -> (tensor<1x2x3x3x!y>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[7, -5] : tensor<2xi32>>} : () -> tensor<2x!b>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Conv(%x, %w, %b) : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!w>, tensor<2x!b>) -> tensor<1x2x3x3x!y>
  %z = onnx.Conv(%x, %w, %c) : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!w>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %i = onnx.Constant() {value = #onnx.tensor<[3, -1] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %e = quant.dcast %i : tensor<2x!quant.uniform<i8:f32, 0.5>> to tensor<2xf32>
  %u = onnx.Conv(%x, %w, %e) : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!w>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %y, %z, %u : tensor<1x2x3x3x!y>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>
}

// A product takes a zero point for each column.

// CHECK-LABEL: func.func @matmul(
// CHECK-DAG: %[[X:.*]] = quant.scast %x : {{.*}} to tensor<5x3x4xui8>
// CHECK-DAG: %[[W:.*]] = quant.scast %w : {{.*}} to tensor<4x2xi8>
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK: %[[S:.*]] = onnx.MatMulInteger(%[[X]], %[[W]], %[[XZ]], %[[WZ]]) : (tensor<5x3x4xui8>, tensor<4x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<5x3x2xi32>
// CHECK-NEXT: %[[C:.*]] = onnx.Cast(%[[S]]) {to = 1 : i64}
// CHECK-NEXT: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0.01, 0.005] : tensor<2xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[C]], %[[F]]) : (tensor<5x3x2xf32>, tensor<2xf32>) -> tensor<5x3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @matmul(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!v>) -> tensor<5x3x2xf32> {
  %y = onnx.MatMul(%x, %w) : (tensor<5x3x4x!x>, tensor<4x2x!v>) -> tensor<5x3x2xf32>
  func.return %y : tensor<5x3x2xf32>
}

// A float operand: no integers to sum.

// CHECK-LABEL: func.func @unmoved_float(
// CHECK-NEXT: onnx.MatMul(%x, %w)
func.func @unmoved_float(%x: tensor<3x4xf32>, %w: tensor<4x2x!v>) -> tensor<3x2xf32> {
  %y = onnx.MatMul(%x, %w) : (tensor<3x4xf32>, tensor<4x2x!v>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_expressed_type(
// CHECK-NEXT: onnx.MatMul(%x, %w)
func.func @unmoved_expressed_type(%x: tensor<3x4x!quant.uniform<u8:f16, 0.5:13>>, %w: tensor<4x2x!quant.uniform<i8:f16, 0.25:3>>) -> tensor<3x2xf16> {
  // expected-remark@+1 {{the scales are in f16, not in f32 [lower-to-integer: expressed-type]}}
  %y = onnx.MatMul(%x, %w) : (tensor<3x4x!quant.uniform<u8:f16, 0.5:13>>, tensor<4x2x!quant.uniform<i8:f16, 0.25:3>>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_per_axis(
// CHECK-NEXT: onnx.MatMul(%x, %w)
func.func @unmoved_per_axis(%x: tensor<2x4x!quant.uniform<u8:f32:0, {0.5:13,0.25}>>, %w: tensor<4x2x!v>) -> tensor<2x2xf32> {
  // expected-remark@+1 {{the activation has more than one scale [lower-to-integer: activation-per-axis]}}
  %y = onnx.MatMul(%x, %w) : (tensor<2x4x!quant.uniform<u8:f32:0, {0.5:13,0.25}>>, tensor<4x2x!v>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// The kernel of a convolution takes one zero point for the whole weight.

// CHECK-LABEL: func.func @unmoved_weight_zero_points(
// CHECK-NEXT: onnx.Conv(%x, %w, _)
func.func @unmoved_weight_zero_points(%x: tensor<1x2x5x4x!x>, %w: tensor<2x2x3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<1x2x3x3x!y> {
  // expected-remark@+1 {{the channels of the weight have different zero points [lower-to-integer: zero-point]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x2x5x4x!x>, tensor<2x2x3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<1x2x3x3x!y>
  func.return %y : tensor<1x2x3x3x!y>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK-NEXT: onnx.Conv(%x, %w, _)
func.func @unmoved_unknown_rank(%x: tensor<*x!x>, %w: tensor<2x2x3x2x!w>) -> tensor<*x!y> {
  // expected-remark@+1 {{the result's rank is not known [lower-to-integer: unknown-shape]}}
  %y = onnx.Conv(%x, %w) : (tensor<*x!x>, tensor<2x2x3x2x!w>) -> tensor<*x!y>
  func.return %y : tensor<*x!y>
}

// Nothing moves: the result of a Gemm is a matrix, but that of its sums would not be known to be one when read again.

// CHECK-LABEL: func.func @unmoved_operand_of_unknown_rank(
// CHECK: onnx.Gemm
func.func @unmoved_operand_of_unknown_rank(%x: tensor<*x!x>, %w: tensor<4x2x!v>) -> tensor<?x2x!y> {
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [lower-to-integer: unknown-shape]}}
  %r = onnx.Gemm(%x, %w, _) : (tensor<*x!x>, tensor<4x2x!v>) -> tensor<?x2x!y>
  func.return %r : tensor<?x2x!y>
}

// CHECK-LABEL: func.func @unmoved_no_kernel(
// CHECK-NEXT: onnx.MatMul(%x, %w)
func.func @unmoved_no_kernel(%x: tensor<3x4x!quant.uniform<u16:f32, 0.02:1300>>, %w: tensor<4x2x!v>) -> tensor<3x2xf32> {
  // expected-remark@+1 {{onnxruntime has no MatMulInteger for u16, i8 [lower-to-integer: no-kernel]}}
  %y = onnx.MatMul(%x, %w) : (tensor<3x4x!quant.uniform<u16:f32, 0.02:1300>>, tensor<4x2x!v>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
}
