// RUN: OPT %s -p lower-to-integer | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-integer

!x = !quant.uniform<u8:f32, 0.5:13>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:3}>
!v = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>
!y = !quant.uniform<u8:f32, 0.03:7>
!b = !quant.uniform<i32:f32:0, {0.25,0.125}>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// The sum in int32 with its bias, then x_scale * w_scale of each channel. The kernel takes one zero point for the weight.

// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: %[[S:.*]] = onnx.ConvInteger(%{{.*}}, %{{.*}}, %[[XZ]], %[[WZ]]) {strides = array<i64: 1, 2>} : {{.*}} -> tensor<1x2x3x2xi32>
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>}
// CHECK-DAG: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -1, 1, 1] : tensor<4xi64>>}
// CHECK: %[[R:.*]] = onnx.Reshape(%[[B]], %[[C]])
// CHECK: %[[T:.*]] = onnx.Add(%[[S]], %[[R]]) : {{.*}} -> tensor<1x2x3x2xi32>
// CHECK-NEXT: %[[F:.*]] = onnx.Cast(%[[T]]) {to = 1 : i64}
// CHECK-NEXT: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25, 0.125] : tensor<1x2x1x1xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[F]], %[[P]])
// CHECK-NEXT: func.return %[[Y]]
func.func @conv(%a: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>) -> tensor<1x2x3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>} : () -> tensor<2x!b>
  %t = onnx.Conv(%a, %w, %b) {strides = array<i64: 1, 2>} : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2x!b>) -> tensor<1x2x3x2xf32>
  func.return %t : tensor<1x2x3x2xf32>
}

// A scale and a zero point for each column; a quantized result is quantized at the end.

// CHECK-LABEL: func.func @matmul(
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: %[[S:.*]] = onnx.MatMulInteger(%{{.*}}, %{{.*}}, %[[XZ]], %[[WZ]]) : {{.*}} -> tensor<3x2xi32>
// CHECK-NEXT: %[[F:.*]] = onnx.Cast(%[[S]]) {to = 1 : i64}
// CHECK-NEXT: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25, 0.125] : tensor<2xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[F]], %[[P]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[Y]] : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: func.return %[[Q]]
func.func @matmul(%a: tensor<3x4x!x>, %w: tensor<4x2x!v>) -> tensor<3x2x!y> {
  %t = onnx.MatMul(%a, %w) : (tensor<3x4x!x>, tensor<4x2x!v>) -> tensor<3x2x!y>
  func.return %t : tensor<3x2x!y>
}

// A float bias is added in float.

// CHECK-LABEL: func.func @float_bias(
// CHECK: %[[M:.*]] = onnx.Mul(
// CHECK: %[[R:.*]] = onnx.Reshape(%b, %{{.*}})
// CHECK: onnx.Add(%[[M]], %[[R]]) : {{.*}} -> tensor<1x2x3x3xf32>
func.func @float_bias(%a: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>, %b: tensor<2xf32>) -> tensor<1x2x3x3xf32> {
  %t = onnx.Conv(%a, %w, %b) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  func.return %t : tensor<1x2x3x3xf32>
}

// Nothing is lowered: the channels have several zero points, the kernel takes one.

// CHECK-LABEL: func.func @unmoved_weight_zero_points(
// CHECK: onnx.Conv(
func.func @unmoved_weight_zero_points(%a: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<1x2x3x3xf32> {
  // expected-remark@+1 {{onnx.Conv 'onnx.Conv': the channels of the weight have different zero points [lower-to-integer: weight-zero-points]}}
  %t = onnx.Conv(%a, %w) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<1x2x3x3xf32>
  func.return %t : tensor<1x2x3x3xf32>
}

// CHECK-LABEL: func.func @unmoved_per_axis(
// CHECK: onnx.MatMul(
func.func @unmoved_per_axis(%a: tensor<3x2x!v>, %w: tensor<2x2x!v>) -> tensor<3x2xf32> {
  // expected-remark@+1 {{the activation has more than one scale [lower-to-integer: per-axis]}}
  %t = onnx.MatMul(%a, %w) : (tensor<3x2x!v>, tensor<2x2x!v>) -> tensor<3x2xf32>
  func.return %t : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_half(
// CHECK: onnx.MatMul(
func.func @unmoved_half(%a: tensor<3x2x!quant.uniform<u8:f16, 0.5:13>>, %w: tensor<2x2x!quant.uniform<i8:f16, 0.5:3>>) -> tensor<3x2xf16> {
  // expected-remark@+1 {{the scales are in f16, not in f32 [lower-to-integer: expressed-type]}}
  %t = onnx.MatMul(%a, %w) : (tensor<3x2x!quant.uniform<u8:f16, 0.5:13>>, tensor<2x2x!quant.uniform<i8:f16, 0.5:3>>) -> tensor<3x2xf16>
  func.return %t : tensor<3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.MatMul(
func.func @unmoved_unknown_rank(%a: tensor<*x!x>, %w: tensor<4x2x!v>) -> tensor<*xf32> {
  // expected-remark@+1 {{the result's rank is not known [lower-to-integer: unknown-rank]}}
  %t = onnx.MatMul(%a, %w) : (tensor<*x!x>, tensor<4x2x!v>) -> tensor<*xf32>
  func.return %t : tensor<*xf32>
}

// CHECK-LABEL: func.func @unmoved_no_kernel(
// CHECK: onnx.MatMul(
func.func @unmoved_no_kernel(%a: tensor<3x4x!quant.uniform<u16:f32, 0.5:13>>, %w: tensor<4x2x!v>) -> tensor<3x2xf32> {
  // expected-remark@+1 {{onnxruntime has no MatMulInteger for u16, i8 [lower-to-integer: no-kernel]}}
  %t = onnx.MatMul(%a, %w) : (tensor<3x4x!quant.uniform<u16:f32, 0.5:13>>, tensor<4x2x!v>) -> tensor<3x2xf32>
  func.return %t : tensor<3x2xf32>
}

// Nothing is lowered: a float operand is nobody's concern here.

// CHECK-LABEL: func.func @unmoved_float(
// CHECK: onnx.MatMul(%a, %w)
func.func @unmoved_float(%a: tensor<3x4xf32>, %w: tensor<4x2x!v>) -> tensor<3x2xf32> {
  %t = onnx.MatMul(%a, %w) : (tensor<3x4xf32>, tensor<4x2x!v>) -> tensor<3x2xf32>
  func.return %t : tensor<3x2xf32>
}

}
