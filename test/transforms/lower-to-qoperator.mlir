// RUN: OPT %s -p lower-to-qoperator --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-qoperator

!x = !quant.uniform<u8:f32, 0.02:13>
!z = !quant.uniform<u8:f32, 0.03:7>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>
!v = !quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>
!y = !quant.uniform<u8:f32, 0.04:9>

builtin.module attributes {onnx.opset_import = {ai.onnx = 19 : i64}} {

// Integers in, integers out: x, w, y with scale and zero point each, then the bias.

// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[WS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>}
// CHECK: %[[Y:.*]] = onnx.QLinearConv(%x, %[[XS]], %[[XZ]], %w, %[[WS]], %[[WZ]], %[[YS]], %[[YZ]], %[[B]]) {strides = array<i64: 2, 1>} : {{.*}} -> tensor<1x2x3x3xui8>
// CHECK-NEXT: func.return %[[Y]]
func.func @conv(%x: tensor<1x4x5x5xui8>, %w: tensor<2x4x3x3xi8>) -> tensor<1x2x3x3xui8> {
  %a = quant.scast %x : tensor<1x4x5x5xui8> to tensor<1x4x5x5x!x>
  %v = quant.scast %w : tensor<2x4x3x3xi8> to tensor<2x4x3x3x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[8, -4] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>>
  %t = onnx.Conv(%a, %v, %b) {strides = array<i64: 2, 1>} : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>>) -> tensor<1x2x3x3x!y>
  %q = quant.scast %t : tensor<1x2x3x3x!y> to tensor<1x2x3x3xui8>
  func.return %q : tensor<1x2x3x3xui8>
}

// CHECK-LABEL: func.func @gemm(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[ZS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.03] : tensor<f32>>}
// CHECK-DAG: %[[ZZ:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>}
// CHECK-DAG: %[[A:.*]] = quant.scast %a
// CHECK-DAG: %[[V:.*]] = quant.scast %v
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[8, -4, 1] : tensor<3xi32>>}
// CHECK: %[[Y:.*]] = onnx_ms.QGemm(%[[A]], %[[XS]], %[[XZ]], %[[V]], %[[ZS]], %[[ZZ]], %[[B]], %[[YS]], %[[YZ]]) {alpha = 1.000000e+00 : f32} : {{.*}} -> tensor<2x3xui8>
// CHECK-NEXT: quant.scast %[[Y]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.04:9>>
func.func @gemm(%a: tensor<2x4x!x>, %v: tensor<4x3x!z>) -> tensor<2x3x!y> {
  %b = onnx.Constant() {value = #onnx.tensor<[8, -4, 1] : tensor<3xi32>>} : () -> tensor<3x!quant.uniform<i32:f32, 0.0006>>
  %t = onnx.Gemm(%a, %v, %b) {beta = 1.0 : f32, alpha = 1.0 : f32} : (tensor<2x4x!x>, tensor<4x3x!z>, tensor<3x!quant.uniform<i32:f32, 0.0006>>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// Without a bias, alpha scales the float result.

// CHECK-LABEL: func.func @gemm_to_float(
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[ZS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.03] : tensor<f32>>}
// CHECK-DAG: %[[ZZ:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>}
// CHECK: onnx_ms.QGemm(%{{.*}}, %[[XS]], %[[XZ]], %{{.*}}, %[[ZS]], %[[ZZ]], _, _, _) {alpha = 2.000000e+00 : f32} : {{.*}} -> tensor<2x3xf32>
func.func @gemm_to_float(%a: tensor<2x4x!x>, %v: tensor<4x3x!z>) -> tensor<2x3xf32> {
  %t = onnx.Gemm(%a, %v) {alpha = 2.0 : f32} : (tensor<2x4x!x>, tensor<4x3x!z>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}

// A float bias is added to the float result.

// CHECK-LABEL: func.func @gemm_and_float_bias(
// CHECK: %[[T:.*]] = onnx_ms.QGemm(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, _, _, _) {transB = 1 : i64} : {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT: onnx.Add(%[[T]], %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
func.func @gemm_and_float_bias(%a: tensor<2x4x!x>, %v: tensor<3x4x!z>, %c: tensor<3xf32>) -> tensor<2x3xf32> {
  %t = onnx.Gemm(%a, %v, %c) {transB = 1 : i64} : (tensor<2x4x!x>, tensor<3x4x!z>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}

// A scale for each column; with a float result and without.

// CHECK-LABEL: func.func @matmul(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[WS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>}
// CHECK-DAG: %[[WZ:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>}
// CHECK: onnx_ms.MatMulIntegerToFloat(%{{.*}}, %{{.*}}, %[[XS]], %[[WS]], %[[XZ]], %[[WZ]], _) : {{.*}} -> tensor<2x2xf32>
// CHECK: onnx.QLinearMatMul(%{{.*}}, %[[XS]], %[[XZ]], %{{.*}}, %[[WS]], %[[WZ]], %[[YS]], %[[YZ]]) : {{.*}} -> tensor<2x2xui8>
func.func @matmul(%a: tensor<2x4x!x>, %v: tensor<4x2x!v>) -> (tensor<2x2xf32>, tensor<2x2x!y>) {
  %t = onnx.MatMul(%a, %v) : (tensor<2x4x!x>, tensor<4x2x!v>) -> tensor<2x2xf32>
  %u = onnx.MatMul(%a, %v) : (tensor<2x4x!x>, tensor<4x2x!v>) -> tensor<2x2x!y>
  func.return %t, %u : tensor<2x2xf32>, tensor<2x2x!y>
}

// Operands of several scales: the kernel requantizes. Its own parameters come first.

// CHECK-LABEL: func.func @concat(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[ZS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.03] : tensor<f32>>}
// CHECK-DAG: %[[ZZ:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearConcat(%[[YS]], %[[YZ]], %{{.*}}, %[[XS]], %[[XZ]], %{{.*}}, %[[ZS]], %[[ZZ]]) {axis = 0 : i64} : {{.*}} -> tensor<5x4xui8>
func.func @concat(%a: tensor<2x4x!x>, %b: tensor<3x4x!z>) -> tensor<5x4x!y> {
  %t = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x4x!x>, tensor<3x4x!z>) -> tensor<5x4x!y>
  func.return %t : tensor<5x4x!y>
}

// CHECK-LABEL: func.func @where(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK-DAG: %[[ZS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.03] : tensor<f32>>}
// CHECK-DAG: %[[ZZ:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearWhere(%p, %{{.*}}, %[[XS]], %[[XZ]], %{{.*}}, %[[ZS]], %[[ZZ]], %[[YS]], %[[YZ]])
func.func @where(%p: tensor<2x4xi1>, %a: tensor<2x4x!x>, %b: tensor<4x!z>) -> tensor<2x4x!y> {
  %t = onnx.Where(%p, %a, %b) : (tensor<2x4xi1>, tensor<2x4x!x>, tensor<4x!z>) -> tensor<2x4x!y>
  func.return %t : tensor<2x4x!y>
}

// The kernel's defaults depend on the opset, so they are written out.

// CHECK-LABEL: func.func @softmax(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearSoftmax(%{{.*}}, %[[XS]], %[[XZ]], %[[YS]], %[[YZ]]) {axis = -1 : i64, opset = 19 : i64}
func.func @softmax(%a: tensor<2x4x!x>) -> tensor<2x4x!y> {
  %t = onnx.Softmax(%a) : (tensor<2x4x!x>) -> tensor<2x4x!y>
  func.return %t : tensor<2x4x!y>
}

// CHECK-LABEL: func.func @pool(
// CHECK-DAG: %[[YS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.04] : tensor<f32>>}
// CHECK-DAG: %[[YZ:.*]] = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>}
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearAveragePool(%{{.*}}, %[[XS]], %[[XZ]], %[[YS]], %[[YZ]]) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>}
func.func @pool(%a: tensor<1x2x4x4x!x>) -> tensor<1x2x2x2x!y> {
  %t = onnx.AveragePool(%a) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4x!x>) -> tensor<1x2x2x2x!y>
  func.return %t : tensor<1x2x2x2x!y>
}

// Storage bounds are a clamp behind the kernel.

// CHECK-LABEL: func.func @narrow_storage(
// CHECK-DAG: %[[XS:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>}
// CHECK-DAG: %[[XZ:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: %[[Y:.*]] = onnx_ms.QLinearSigmoid(%{{.*}}, %[[XS]], %[[XZ]],
// CHECK-DAG: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>}
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[200] : tensor<ui8>>}
// CHECK: onnx.Clip(%[[Y]], %[[L]], %[[H]]) : (tensor<2x4xui8>, tensor<ui8>, tensor<ui8>)
func.func @narrow_storage(%a: tensor<2x4x!x>) -> tensor<2x4x!quant.uniform<u8<3:200>:f32, 0.04:9>> {
  %t = onnx.Sigmoid(%a) : (tensor<2x4x!x>) -> tensor<2x4x!quant.uniform<u8<3:200>:f32, 0.04:9>>
  func.return %t : tensor<2x4x!quant.uniform<u8<3:200>:f32, 0.04:9>>
}

// What moves runs on the integers, whatever their scales.

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT: %[[A:.*]] = quant.scast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[A]]) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xi16>) -> tensor<3x4x2xi16>
// CHECK-NEXT: quant.scast %[[T]] : tensor<3x4x2xi16> to tensor<3x4x2x!quant.uniform<i16:f32:0, {0.5:3,0.25:-7,2.0}>>
func.func @transpose(%a: tensor<2x3x4x!quant.uniform<i16:f32:1, {0.5:3,0.25:-7,2.0}>>) -> tensor<3x4x2x!quant.uniform<i16:f32:0, {0.5:3,0.25:-7,2.0}>> {
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4x!quant.uniform<i16:f32:1, {0.5:3,0.25:-7,2.0}>>) -> tensor<3x4x2x!quant.uniform<i16:f32:0, {0.5:3,0.25:-7,2.0}>>
  func.return %t : tensor<3x4x2x!quant.uniform<i16:f32:0, {0.5:3,0.25:-7,2.0}>>
}

// CHECK-LABEL: func.func @split(
// CHECK: %[[T:.*]], %[[U:.*]] = onnx.Split(%{{.*}}, %{{.*}}) {axis = 1 : i64} : (tensor<2x3xui8>, tensor<2xi64>) -> (tensor<2x1xui8>, tensor<2x2xui8>)
// CHECK-NEXT: quant.scast %[[T]]
// CHECK-NEXT: quant.scast %[[U]]
func.func @split(%a: tensor<2x3x!x>) -> (tensor<2x1x!x>, tensor<2x2x!x>) {
  %p = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %t, %u = onnx.Split(%a, %p) {axis = 1 : i64} : (tensor<2x3x!x>, tensor<2xi64>) -> (tensor<2x1x!x>, tensor<2x2x!x>)
  func.return %t, %u : tensor<2x1x!x>, tensor<2x2x!x>
}

// Relu clamps at each channel's zero point.

// CHECK-LABEL: func.func @relu(
// CHECK-DAG: %[[ZERO:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2x1xi8>>}
// CHECK: onnx.Max(%{{.*}}, %[[ZERO]]) : (tensor<2x3xi8>, tensor<2x1xi8>) -> tensor<2x3xi8>
func.func @relu(%a: tensor<3x2x!w>, %b: tensor<2x3x!w>) -> tensor<2x3x!w> {
  %t = onnx.Relu(%b) : (tensor<2x3x!w>) -> tensor<2x3x!w>
  func.return %t : tensor<2x3x!w>
}

// A missing bound is the end of the range, 1.0 is 63.

// CHECK-LABEL: func.func @clip(
// CHECK-DAG: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>}
// CHECK-DAG: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[63] : tensor<ui8>>}
// CHECK: onnx.Clip(%{{.*}}, %[[L]], %[[H]]) : (tensor<2x3xui8>, tensor<ui8>, tensor<ui8>)
func.func @clip(%a: tensor<2x3x!x>) -> tensor<2x3x!x> {
  %h = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Clip(%a, _, %h) : (tensor<2x3x!x>, tensor<f32>) -> tensor<2x3x!x>
  func.return %t : tensor<2x3x!x>
}

// Pad puts in the zero point.

// CHECK-LABEL: func.func @pad(
// CHECK-DAG: %[[ZERO:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: onnx.Pad(%{{.*}}, %p, %[[ZERO]], _) : (tensor<2x3xui8>, tensor<4xi64>, tensor<ui8>) -> tensor<2x6xui8>
func.func @pad(%a: tensor<2x3x!x>) -> tensor<2x6x!x> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %t = onnx.Pad(%a, %p) : (tensor<2x3x!x>, tensor<4xi64>) -> tensor<2x6x!x>
  func.return %t : tensor<2x6x!x>
}

// Nothing is lowered: there is no kernel for these types.

// CHECK-LABEL: func.func @unmoved_no_kernel(
// CHECK: %[[T:.*]] = onnx.Add(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_no_kernel(%a: tensor<2x3x!x>, %b: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{onnx.Add 'onnx.Add': onnxruntime has no QLinearAdd for u8, i8 -> u8 [lower-to-qoperator: no-kernel]}}
  %t = onnx.Add(%a, %b) : (tensor<2x3x!x>, tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_no_float_kernel(
// CHECK: %[[T:.*]] = onnx.Add(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_no_float_kernel(%a: tensor<2x3x!x>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{onnxruntime has no kernel with a float result [lower-to-qoperator: no-kernel]}}
  %t = onnx.Add(%a, %a) : (tensor<2x3x!x>, tensor<2x3x!x>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_no_storage_kernel(
// CHECK: %[[T:.*]] = onnx.GlobalMaxPool(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_no_storage_kernel(%a: tensor<1x3x4x4x!quant.uniform<u16:f32, 0.02:13>>) -> tensor<1x3x1x1x!quant.uniform<u16:f32, 0.02:13>> {
  // expected-remark@+1 {{onnxruntime has no GlobalMaxPool on u16 in this opset [lower-to-qoperator: no-kernel]}}
  %t = onnx.GlobalMaxPool(%a) : (tensor<1x3x4x4x!quant.uniform<u16:f32, 0.02:13>>) -> tensor<1x3x1x1x!quant.uniform<u16:f32, 0.02:13>>
  func.return %t : tensor<1x3x1x1x!quant.uniform<u16:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_float_operand(
// CHECK: %[[T:.*]] = onnx.Add(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_float_operand(%a: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{operand 1 is float; quantize every operand [lower-to-qoperator: float-operand]}}
  %t = onnx.Add(%a, %c) : (tensor<2x3x!x>, tensor<f32>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_half(
// CHECK: %[[T:.*]] = onnx.Sigmoid(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_half(%a: tensor<2x3x!quant.uniform<u8:f16, 0.5:13>>) -> tensor<2x3x!quant.uniform<u8:f16, 0.25:9>> {
  // expected-remark@+1 {{the kernels compute in f32, not in f16 [lower-to-qoperator: expressed-type]}}
  %t = onnx.Sigmoid(%a) : (tensor<2x3x!quant.uniform<u8:f16, 0.5:13>>) -> tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>
}

// CHECK-LABEL: func.func @unmoved_operand_per_axis(
// CHECK: %[[T:.*]] = onnx.Sigmoid(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_operand_per_axis(%a: tensor<2x3x!w>) -> tensor<2x3x!quant.uniform<i8:f32, 0.25:9>> {
  // expected-remark@+1 {{operand 0 has a scale for each channel, the kernel takes one [lower-to-qoperator: activation-per-axis]}}
  %t = onnx.Sigmoid(%a) : (tensor<2x3x!w>) -> tensor<2x3x!quant.uniform<i8:f32, 0.25:9>>
  func.return %t : tensor<2x3x!quant.uniform<i8:f32, 0.25:9>>
}

// CHECK-LABEL: func.func @unmoved_batched_weight(
// CHECK: %[[T:.*]] = onnx.MatMul(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_batched_weight(%a: tensor<2x3x4x!x>, %b: tensor<2x4x2x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7}>>) -> tensor<2x3x2x!y> {
  // expected-remark@+1 {{the kernel takes scales for the channels of one matrix, not of a batch of them; quantize the weight per tensor, or leave out its axes of size 1 [lower-to-qoperator: weight-axis]}}
  %t = onnx.MatMul(%a, %b) : (tensor<2x3x4x!x>, tensor<2x4x2x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7}>>) -> tensor<2x3x2x!y>
  func.return %t : tensor<2x3x2x!y>
}

// CHECK-LABEL: func.func @unmoved_result_per_axis(
// CHECK: %[[T:.*]] = onnx.Sigmoid(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_result_per_axis(%a: tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32:0, {0.5:3,0.25}>> {
  // expected-remark@+1 {{the result has a scale for each channel, the kernel takes one [lower-to-qoperator: activation-per-axis]}}
  %t = onnx.Sigmoid(%a) : (tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32:0, {0.5:3,0.25}>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32:0, {0.5:3,0.25}>>
}

// CHECK-LABEL: func.func @unmoved_float_bias(
// CHECK: %[[T:.*]] = onnx.Conv(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_float_bias(%a: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>, %b: tensor<2xf32>) -> tensor<1x2x3x3x!y> {
  // expected-remark@+1 {{the bias is not int32 in steps of x_scale * w_scale; run rescale-bias [lower-to-qoperator: bias-scale]}}
  %t = onnx.Conv(%a, %w, %b) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>, tensor<2xf32>) -> tensor<1x2x3x3x!y>
  func.return %t : tensor<1x2x3x3x!y>
}

// CHECK-LABEL: func.func @unmoved_gemm_beta(
// CHECK: %[[T:.*]] = onnx.Gemm(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_gemm_beta(%a: tensor<2x4x!x>, %b: tensor<4x3x!z>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{Gemm scales its bias; fold beta into the bias [lower-to-qoperator: product-form]}}
  %t = onnx.Gemm(%a, %b) {beta = 0.5 : f32} : (tensor<2x4x!x>, tensor<4x3x!z>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_gemm_alpha(
// CHECK: %[[T:.*]] = onnx.Gemm(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_gemm_alpha(%a: tensor<2x4x!x>, %b: tensor<4x3x!z>, %c: tensor<3x!quant.uniform<i32:f32, 0.0006>>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{[lower-to-qoperator: product-form]}}
  %t = onnx.Gemm(%a, %b, %c) {alpha = 0.5 : f32} : (tensor<2x4x!x>, tensor<4x3x!z>, tensor<3x!quant.uniform<i32:f32, 0.0006>>) -> tensor<2x3x!y>
  func.return %t : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_dilated_pool(
// CHECK: %[[T:.*]] = onnx.AveragePool(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_dilated_pool(%a: tensor<1x2x5x5x!x>) -> tensor<1x2x3x3x!y> {
  // expected-remark@+1 {{no integer kernel averages over a dilated window [lower-to-qoperator: window-form]}}
  %t = onnx.AveragePool(%a) {kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x2x5x5x!x>) -> tensor<1x2x3x3x!y>
  func.return %t : tensor<1x2x3x3x!y>
}

// CHECK-LABEL: func.func @unmoved_ragged_pool(
// CHECK: %[[T:.*]] = onnx.AveragePool(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_ragged_pool(%a: tensor<1x2x5x4x!x>) -> tensor<1x2x3x2x!y> {
  // expected-remark@+1 {{a window ends beyond the padding, and the kernel counts that part in the mean, the op does not [lower-to-qoperator: window-form]}}
  %t = onnx.AveragePool(%a) {ceil_mode = 1 : i64, count_include_pad = 1 : i64, kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x5x4x!x>) -> tensor<1x2x3x2x!y>
  func.return %t : tensor<1x2x3x2x!y>
}

// CHECK-LABEL: func.func @unmoved_pool_of_open_size(
// CHECK: %[[T:.*]] = onnx.AveragePool(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_pool_of_open_size(%a: tensor<1x2x?x4x!x>) -> tensor<1x2x?x2x!y> {
  // expected-remark@+1 {{[lower-to-qoperator: window-form]}}
  %t = onnx.AveragePool(%a) {ceil_mode = 1 : i64, count_include_pad = 1 : i64, kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x?x4x!x>) -> tensor<1x2x?x2x!y>
  func.return %t : tensor<1x2x?x2x!y>
}

// CHECK-LABEL: func.func @unmoved_clip_per_axis(
// CHECK: %[[T:.*]] = onnx.Clip(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_clip_per_axis(%a: tensor<2x3x!w>) -> tensor<2x3x!w> {
  %h = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{Clip has one bound, on integers it would differ by channel [lower-to-qoperator: activation-per-axis]}}
  %t = onnx.Clip(%a, _, %h) : (tensor<2x3x!w>, tensor<f32>) -> tensor<2x3x!w>
  func.return %t : tensor<2x3x!w>
}

// CHECK-LABEL: func.func @unmoved_pad_per_axis(
// CHECK: %[[T:.*]] = onnx.Pad(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_pad_per_axis(%a: tensor<2x3x!w>) -> tensor<2x6x!w> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  // expected-remark@+1 {{Pad has one value, stored as a different integer in each channel [lower-to-qoperator: zero-point]}}
  %t = onnx.Pad(%a, %p) : (tensor<2x3x!w>, tensor<4xi64>) -> tensor<2x6x!w>
  func.return %t : tensor<2x6x!w>
}

// Nothing is lowered: the kernel's 32 bits do not hold 1 / (4 * 1e-9).

// CHECK-LABEL: func.func @unmoved_short_softmax(
// CHECK-NEXT: onnx.Softmax(%a)
func.func @unmoved_short_softmax(%a: tensor<2x4x!x>) -> tensor<2x4x!quant.uniform<u8:f32, 1.0e-09:9>> {
  // expected-remark@+1 {{the kernel overflows at this scale for a row this short, or of unknown length [lower-to-qoperator: made-by-session]}}
  %t = onnx.Softmax(%a) : (tensor<2x4x!x>) -> tensor<2x4x!quant.uniform<u8:f32, 1.0e-09:9>>
  func.return %t : tensor<2x4x!quant.uniform<u8:f32, 1.0e-09:9>>
}

}

// -----

// In opset 10, Pad has no integers and MaxPool no int8.

builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {

// CHECK-LABEL: func.func @unmoved_old_pad(
// CHECK-NEXT: %[[T:.*]] = onnx.Pad(%a
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_old_pad(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  // expected-remark@+1 {{Pad takes integers from opset 11 on [lower-to-qoperator: opset]}}
  %t = onnx.Pad(%a) {pads = array<i64: 0, 1, 0, 2>} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_old_max_pool(
// CHECK-NEXT: %[[T:.*]] = onnx.MaxPool(%a)
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_old_max_pool(%a: tensor<*x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<*x!quant.uniform<u8:f32, 0.02:13>> {
  // expected-remark@+1 {{onnxruntime has no MaxPool on u8 in this opset [lower-to-qoperator: no-kernel]}}
  %t = onnx.MaxPool(%a) {kernel_shape = array<i64: 2>} : (tensor<*x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<*x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<*x!quant.uniform<u8:f32, 0.02:13>>
}

}

// -----

// Before opset 13, Softmax took everything from axis 1 on for one row.

// CHECK-LABEL: func.func @old_softmax(
// CHECK: onnx_ms.QLinearSoftmax({{.*}}) {axis = 1 : i64, opset = 12 : i64}
builtin.module attributes {onnx.opset_import = {ai.onnx = 12 : i64}} {
func.func @old_softmax(%a: tensor<2x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x4x!quant.uniform<u8:f32, 0.04:9>> {
  %t = onnx.Softmax(%a) : (tensor<2x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x4x!quant.uniform<u8:f32, 0.04:9>>
  func.return %t : tensor<2x4x!quant.uniform<u8:f32, 0.04:9>>
}
}

// -----

// A float activation and a weight of 4 bits, one block of 16 inputs for each of 2 outputs: stored unsigned, the first
// input in the lower half of the byte, zero points -1 and 2 as 7 and 10.
// CHECK-LABEL: func.func @weight_only(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[144, 128, 128, 128, 128, 128, 128, 240, 139, 136, 136, 136, 136, 136, 136, 136] : tensor<2x1x8xui8>>}
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>}
// CHECK-NEXT: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[7, 10] : tensor<2xui8>>}
// CHECK-NEXT: %[[Y:.*]] = onnx_ms.MatMulNBits(%x, %[[W]], %[[S]], %[[Z]]
// CHECK-SAME: {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64, accuracy_level = 1 : i64}
// CHECK-NEXT: func.return %[[Y]]
func.func @weight_only(%x: tensor<3x16xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 1, -8, 0, -8, 0, -8, 0, -8, 0, -8, 0, -8, 0, -8, 7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] : tensor<2x16xi4>>} : () -> tensor<2x16x!quant.uniform<i4:f32:0, {0.5:-1,0.25:2}>>
  %r = quant.dcast %w : tensor<2x16x!quant.uniform<i4:f32:0, {0.5:-1,0.25:2}>> to tensor<2x16xf32>
  %y = onnx.Gemm(%x, %r) {transB = 1 : i64} : (tensor<3x16xf32>, tensor<2x16xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_block_size(
// CHECK: onnx.Gemm
func.func @unmoved_block_size(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 3, 1, 5, -6, 4, 2, 7] : tensor<2x4xi4>>} : () -> tensor<2x4x!quant.uniform<i4:f32:{0:1, 1:2}, {{0.5, 0.25}, {0.125, 1.0}}>>
  %r = quant.dcast %w : tensor<2x4x!quant.uniform<i4:f32:{0:1, 1:2}, {{0.5, 0.25}, {0.125, 1.0}}>> to tensor<2x4xf32>
  // expected-remark@+1 {{the kernel takes only blocks of 16, 32, 64, ... along the inputs [lower-to-qoperator: block-size]}}
  %y = onnx.Gemm(%x, %r) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_gemm_form(
// CHECK: onnx.Gemm
func.func @unmoved_gemm_form(%x: tensor<4x3xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 3, 1, 5, -6, 4, 2, 7] : tensor<4x2xi4>>} : () -> tensor<4x2x!quant.uniform<i4:f32, 0.5>>
  %r = quant.dcast %w : tensor<4x2x!quant.uniform<i4:f32, 0.5>> to tensor<4x2xf32>
  // expected-remark@+1 {{Gemm transposes its activation, or scales its product or its bias [lower-to-qoperator: product-form]}}
  %y = onnx.Gemm(%x, %r) {transA = 1 : i64} : (tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_eight_bits(
// CHECK: onnx.MatMul
func.func @unmoved_eight_bits(%x: tensor<3x4xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 3, 1, 5, -6, 4, 2, 7] : tensor<4x2xi8>>} : () -> tensor<4x2x!quant.uniform<i8:f32, 0.5:9>>
  %r = quant.dcast %w : tensor<4x2x!quant.uniform<i8:f32, 0.5:9>> to tensor<4x2xf32>
  // expected-remark@+1 {{onnxruntime has no MatMulNBits for i8 [lower-to-qoperator: no-kernel]}}
  %y = onnx.MatMul(%x, %r) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// -----

// Images are pooled with channels last, from any opset on.
// CHECK-LABEL: func.func @channels_last(
// CHECK: %[[X:.*]] = quant.scast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x5x4xui8>) -> tensor<1x5x4x2xui8>
// CHECK-NEXT: %[[P:.*]] = onnx_ms.NhwcMaxPool(%[[T]]) {kernel_shape = array<i64: 2, 1>{{.*}}} : (tensor<1x5x4x2xui8>) -> tensor<1x4x4x2xui8>
// CHECK-NEXT: %[[B:.*]] = onnx.Transpose(%[[P]]) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xui8>) -> tensor<1x2x4x4xui8>
// CHECK-NEXT: %[[Y:.*]] = quant.scast %[[B]]
// CHECK-NEXT: func.return %[[Y]]
func.func @channels_last(%a: tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x4x4x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.MaxPool(%a) {kernel_shape = array<i64: 2, 1>} : (tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x4x4x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<1x2x4x4x!quant.uniform<u8:f32, 0.02:13>>
}

// -----

// Rows of three at a scale of 1/500: the kernel's sums overflow.
// CHECK-LABEL: func.func @unmoved_short_softmax(
// CHECK: onnx.Softmax(
func.func @unmoved_short_softmax(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.002:9>> {
  // expected-remark@+1 {{[lower-to-qoperator: made-by-session]}}
  %t = onnx.Softmax(%a) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.002:9>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.002:9>>
}

// CHECK-LABEL: func.func @unmoved_gemm_form(
// CHECK: onnx.Gemm(
func.func @unmoved_gemm_form(%x: tensor<3x16xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-8, 3, 1, 0, -8, 0, 0, 0, -8, 0, 0, 0, -8, 0, 0, 0, -8, 0, 0, 0, -8, 0, 0, 0, -8, 0, 0, 0, -8, 0, 7, 0] : tensor<16x2xi4>>} : () -> tensor<16x2x!quant.uniform<i4:f32:1, {0.5:-1,0.25:2}>>
  %r = quant.dcast %w : tensor<16x2x!quant.uniform<i4:f32:1, {0.5:-1,0.25:2}>> to tensor<16x2xf32>
  // expected-remark@+1 {{Gemm transposes its activation, or scales its product or its bias [lower-to-qoperator: product-form]}}
  %y = onnx.Gemm(%x, %r) {alpha = 0.5 : f32} : (tensor<3x16xf32>, tensor<16x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A triangle keeps its elements and has the zero point elsewhere.

// CHECK-LABEL: func.func @trilu(
// CHECK: %[[M:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1, 1, 0, 1, 1] : tensor<2x3xi1>>}
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: onnx.Where(%[[M]], %{{.*}}, %[[Z]]) : (tensor<2x3xi1>, tensor<4x2x3xui8>, tensor<ui8>) -> tensor<4x2x3xui8>
func.func @trilu(%a: tensor<4x2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.Trilu(%a) : (tensor<4x2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<4x2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_large_mask(
// CHECK: %[[T:.*]] = onnx.Trilu(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_large_mask(%a: tensor<2000x2000x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2000x2000x!quant.uniform<u8:f32, 0.02:13>> {
  // expected-remark@+1 {{the triangle as a mask would take more than 1048576 bytes [lower-to-qoperator: too-large]}}
  %t = onnx.Trilu(%a) : (tensor<2000x2000x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2000x2000x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2000x2000x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_computed_diagonal(
// CHECK: %[[T:.*]] = onnx.Trilu(
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_computed_diagonal(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %k: tensor<i64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  // expected-remark@+1 {{[lower-to-qoperator: computed-parameter]}}
  %t = onnx.Trilu(%a, %k) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<i64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// The index of the greatest byte is that of the greatest number.

// CHECK-LABEL: func.func @arg_max(
// CHECK: %[[S:.*]] = quant.scast %a
// CHECK-NEXT: %[[T:.*]] = onnx.ArgMax(%[[S]]) {axis = -1 : i64} : (tensor<4x9xui8>) -> tensor<4x1xi64>
// CHECK-NEXT: func.return %[[T]]
func.func @arg_max(%a: tensor<4x9x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x1xi64> {
  %t = onnx.ArgMax(%a) {axis = -1 : i64} : (tensor<4x9x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x1xi64>
  func.return %t : tensor<4x1xi64>
}

// CHECK-LABEL: func.func @unmoved_strided_search(
// CHECK: %[[T:.*]] = onnx.ArgMax(%a)
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_strided_search(%a: tensor<1x9x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x1x4xi64> {
  // expected-remark@+1 {{ArgMax on bytes is fast only along the last axis [lower-to-qoperator: does-not-pay]}}
  %t = onnx.ArgMax(%a) {axis = 1 : i64} : (tensor<1x9x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x1x4xi64>
  func.return %t : tensor<1x1x4xi64>
}

// -----

// Nothing moves: a sum of nothing is the bias, but a kernel leaves it as memory was.

// CHECK-LABEL: func.func @unmoved_empty_sum(
// CHECK: onnx.MatMul(%a, %b)
func.func @unmoved_empty_sum(%a: tensor<2x0x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<0x3x!quant.uniform<i8:f32, 0.03>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.04:7>> {
  // expected-remark@+1 {{the sums have no terms, and kernels leave such results undefined [lower-to-qoperator: empty-tensor]}}
  %t = onnx.MatMul(%a, %b) : (tensor<2x0x!quant.uniform<u8:f32, 0.02:13>>, tensor<0x3x!quant.uniform<i8:f32, 0.03>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.04:7>>
  func.return %t : tensor<2x3x!quant.uniform<u8:f32, 0.04:7>>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!y = !quant.uniform<u8:f32, 0.004>

// 64 rows of 48: the float kernel between casts is faster. Rows of 4 are the integer kernel's,
// and so is a row whose length is not known at a scale that never overflows.

// CHECK-LABEL: func.func @float_softmax(
// CHECK: %[[D:.*]] = quant.dcast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Softmax(%[[D]]) {axis = -1 : i64} : (tensor<?x64x48xf32>) -> tensor<?x64x48xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[T]]
// CHECK-NEXT: func.return %[[Q]]
// expected-remark@unknown {{for rows of this length the float kernel between casts is faster [lower-to-qoperator: float-faster]}}
func.func @float_softmax(%a: tensor<?x64x48x!x>) -> tensor<?x64x48x!y> {
  %t = onnx.Softmax(%a) {axis = -1 : i64} : (tensor<?x64x48x!x>) -> tensor<?x64x48x!y>
  func.return %t : tensor<?x64x48x!y>
}

// CHECK-LABEL: func.func @integer_softmax(
// CHECK: onnx_ms.QLinearSoftmax(
// CHECK: onnx_ms.QLinearSoftmax(
func.func @integer_softmax(%a: tensor<64x4x!x>, %b: tensor<64x?x!x>) -> (tensor<64x4x!quant.uniform<u8:f32, 0.01>>, tensor<64x?x!quant.uniform<u8:f32, 0.01>>) {
  %t = onnx.Softmax(%a) : (tensor<64x4x!x>) -> tensor<64x4x!quant.uniform<u8:f32, 0.01>>
  %u = onnx.Softmax(%b) : (tensor<64x?x!x>) -> tensor<64x?x!quant.uniform<u8:f32, 0.01>>
  func.return %t, %u : tensor<64x4x!quant.uniform<u8:f32, 0.01>>, tensor<64x?x!quant.uniform<u8:f32, 0.01>>
}
