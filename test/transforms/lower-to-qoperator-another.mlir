// RUN: OPT %s -p lower-to-qoperator --print-constants | FILECHECK %s
// RUN: OPT %s -p lower-to-qoperator --verify-diagnostics

!x = !quant.uniform<u8:f32, 0.5:3>
!v = !quant.uniform<u8:f32, 0.25:7>
!s = !quant.uniform<i8<-127:127>:f32, 0.5:3>
!y = !quant.uniform<u8:f32, 0.125:9>
!z = !quant.uniform<i8:f32, 0.125:9>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {

// x - y is x + -y: the bits of y and of its zero point are turned.

// CHECK-LABEL: func.func @difference(
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[248] : tensor<ui8>>}
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>}
// CHECK: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[255] : tensor<ui8>>}
// CHECK: %[[N:.*]] = onnx.Sub(%[[O]], %{{.*}}) : (tensor<ui8>, tensor<3x1xui8>) -> tensor<3x1xui8>
// CHECK: onnx_ms.QLinearAdd(%{{.*}}, %{{.*}}, %{{.*}}, %[[N]], %[[S]], %[[Z]], %{{.*}}, %{{.*}}) : {{.*}} -> tensor<2x3x4xui8>
func.func @difference(%x: tensor<2x3x4x!x>, %v: tensor<3x1x!v>) -> tensor<2x3x4x!y> {
  %y = onnx.Sub(%x, %v) : (tensor<2x3x4x!x>, tensor<3x1x!v>) -> tensor<2x3x4x!y>
  func.return %y : tensor<2x3x4x!y>
}

// A constant is turned now, and i8 has a bit pattern for each.

// CHECK-LABEL: func.func @less_a_constant(
// CHECK-DAG: onnx.Constant() {value = #onnx.tensor<[-4] : tensor<i8>>}
// CHECK-DAG: onnx.Constant() {value = #onnx.tensor<[126, 0, -128, 126, 0, -128] : tensor<2x3xi8>>}
// CHECK-NOT: onnx.Sub(
// CHECK: onnx_ms.QLinearAdd(
// CHECK: func.return
func.func @less_a_constant(%x: tensor<2x3x!s>) -> tensor<2x3x!z> {
  %c = onnx.Constant() {value = #onnx.tensor<[-127, -1, 127] : tensor<3xi8>>} : () -> tensor<3x!s>
  %y = onnx.Sub(%x, %c) : (tensor<2x3x!s>, tensor<3x!s>) -> tensor<2x3x!z>
  func.return %y : tensor<2x3x!z>
}

// x at alpha times its scale, and beta; what leaves [0, 1] saturates.

// CHECK-LABEL: func.func @line(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.125] : tensor<f32>>}
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.75] : tensor<f32>>}
// CHECK: %[[X:.*]] = quant.scast %x
// CHECK: %[[ONE:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearAdd(%[[X]], %[[S]], %[[Z]], %[[ONE]], %[[B]], %{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> tensor<2x3xui8>
// CHECK-NOT: onnx.Clip
// CHECK: func.return
func.func @line(%x: tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32, 0.00390625>> {
  %y = onnx.HardSigmoid(%x) {alpha = 0.25 : f32, beta = 0.75 : f32} : (tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32, 0.00390625>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.00390625>>
}

// A type that reaches beyond [0, 1] is clamped: 0.125 * (1 - -7) is 1.

// CHECK-LABEL: func.func @line_within(
// CHECK: %[[A:.*]] = onnx_ms.QLinearAdd(
// CHECK: %[[LOW:.*]] = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>}
// CHECK: %[[HIGH:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i8>>}
// CHECK: onnx.Clip(%[[A]], %[[LOW]], %[[HIGH]])
func.func @line_within(%x: tensor<2x3x!z>) -> tensor<2x3x!quant.uniform<i8:f32, 0.125:-7>> {
  %y = onnx.HardSigmoid(%x) {beta = -0.5 : f32} : (tensor<2x3x!z>) -> tensor<2x3x!quant.uniform<i8:f32, 0.125:-7>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32, 0.125:-7>>
}

// CHECK-LABEL: func.func @unmoved_line(
// CHECK-NOT: onnx_ms.
// CHECK: func.return
func.func @unmoved_line(%x: tensor<2x3x!x>, %t: tensor<2x3x!quant.uniform<u8:f32, 1.0e-38:3>>) -> (tensor<2x3x!y>, tensor<2x3x!y>) {
  // expected-remark@+1 {{the slope times the operand's scale is not positive, or is subnormal [lower-to-qoperator: scale-value]}}
  %a = onnx.HardSigmoid(%x) {alpha = -0.25 : f32} : (tensor<2x3x!x>) -> tensor<2x3x!y>
  // expected-remark@+1 {{[lower-to-qoperator: scale-value]}}
  %b = onnx.HardSigmoid(%t) : (tensor<2x3x!quant.uniform<u8:f32, 1.0e-38:3>>) -> tensor<2x3x!y>
  func.return %a, %b : tensor<2x3x!y>, tensor<2x3x!y>
}

// Nor is the greatest of the result's numbers one of float32.

// CHECK-LABEL: func.func @unmoved_beyond_float(
// CHECK: onnx.HardSigmoid(
func.func @unmoved_beyond_float(%x: tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32, 2.0e+36>> {
  // expected-remark@+1 {{[lower-to-qoperator: bound-outside]}}
  %y = onnx.HardSigmoid(%x) {alpha = 0.25 : f32} : (tensor<2x3x!x>) -> tensor<2x3x!quant.uniform<u8:f32, 2.0e+36>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 2.0e+36>>
}

// CHECK-LABEL: func.func @mean(
// CHECK: onnx_ms.QLinearGlobalAveragePool({{.*}} -> tensor<?x3x1x1xui8>
// CHECK: func.return
func.func @mean(%x: tensor<?x3x4x5x!x>) -> tensor<?x3x1x1x!y> {
  %y = onnx.ReduceMean(%x, _) {axes = array<i64: -1, 2>} : (tensor<?x3x4x5x!x>) -> tensor<?x3x1x1x!y>
  func.return %y : tensor<?x3x1x1x!y>
}

// Channels last, and the pixels' axes gone.

// CHECK-LABEL: func.func @mean_channels_last(
// CHECK: %[[T:.*]] = onnx.Transpose({{.*}}) {perm = array<i64: 0, 3, 1, 2>}
// CHECK: %[[P:.*]] = onnx_ms.QLinearGlobalAveragePool(%[[T]], {{.*}} -> tensor<?x3x1x1xui8>
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, -1] : tensor<2xi64>>}
// CHECK: onnx.Reshape(%[[P]], %[[S]]) {{.*}} -> tensor<?x3xui8>
func.func @mean_channels_last(%x: tensor<?x4x5x3x!x>) -> tensor<?x3x!y> {
  %y = onnx.ReduceMean(%x, _) {axes = array<i64: 1, 2>, keepdims = 0 : i64} : (tensor<?x4x5x3x!x>) -> tensor<?x3x!y>
  func.return %y : tensor<?x3x!y>
}

// CHECK-LABEL: func.func @mean_of_a_line(
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>}
// CHECK: onnx_ms.QLinearGlobalAveragePool({{.*}} -> tensor<2x3x1xui8>
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>} : {{.*}} -> tensor<2x1x3xui8>
func.func @mean_of_a_line(%x: tensor<2x4x3x!x>) -> tensor<2x1x3x!y> {
  %y = onnx.ReduceMean(%x, _) {axes = array<i64: 1>} : (tensor<2x4x3x!x>) -> tensor<2x1x3x!y>
  func.return %y : tensor<2x1x3x!y>
}

// CHECK-LABEL: func.func @unmoved_means(
// CHECK-NOT: onnx_ms.
// CHECK: func.return
func.func @unmoved_means(%x: tensor<2x3x4x5x!x>, %u: tensor<*x!x>) -> (tensor<2x3x4x1x!y>, tensor<1x1x1x1x!y>, tensor<?x!y>, tensor<2x3x1x1xf32>) {
  // expected-remark@+1 {{the mean is not over all pixels of each channel [lower-to-qoperator: window-form]}}
  %a = onnx.ReduceMean(%x, _) {axes = array<i64: 3>} : (tensor<2x3x4x5x!x>) -> tensor<2x3x4x1x!y>
  // expected-remark@+1 {{[lower-to-qoperator: window-form]}}
  %b = onnx.ReduceMean(%x, _) : (tensor<2x3x4x5x!x>) -> tensor<1x1x1x1x!y>
  // expected-remark@+1 {{[lower-to-qoperator: unknown-shape]}}
  %c = onnx.ReduceMean(%u, _) {axes = array<i64: 1>} : (tensor<*x!x>) -> tensor<?x!y>
  // expected-remark@+1 {{not all operands and the result are quantized [lower-to-qoperator: float-operand]}}
  %d = onnx.ReduceMean(%x, _) {axes = array<i64: 2, 3>} : (tensor<2x3x4x5x!x>) -> tensor<2x3x1x1xf32>
  func.return %a, %b, %c, %d : tensor<2x3x4x1x!y>, tensor<1x1x1x1x!y>, tensor<?x!y>, tensor<2x3x1x1xf32>
}

// CHECK-LABEL: func.func @unmoved_differences(
// CHECK-NOT: onnx_ms.
// CHECK: func.return
func.func @unmoved_differences(%x: tensor<2x3x!x>, %s: tensor<2x3x!s>, %f: tensor<2x3xf32>, %p: tensor<2x3x!quant.uniform<u8:f32:1, {0.5,0.25,0.125}>>, %h: tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>) -> (tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>) {
  // expected-remark@+1 {{onnxruntime has no QLinearAdd for u8, i8 -> u8 in this opset [lower-to-qoperator: no-kernel]}}
  %a = onnx.Sub(%x, %s) : (tensor<2x3x!x>, tensor<2x3x!s>) -> tensor<2x3x!y>
  // expected-remark@+1 {{[lower-to-qoperator: float-operand]}}
  %b = onnx.Sub(%x, %f) : (tensor<2x3x!x>, tensor<2x3xf32>) -> tensor<2x3x!y>
  // expected-remark@+1 {{there is a scale for each channel, the kernel takes one [lower-to-qoperator: activation-per-axis]}}
  %c = onnx.Sub(%x, %p) : (tensor<2x3x!x>, tensor<2x3x!quant.uniform<u8:f32:1, {0.5,0.25,0.125}>>) -> tensor<2x3x!y>
  // expected-remark@+1 {{the kernels compute in f32 [lower-to-qoperator: expressed-type]}}
  %d = onnx.Sub(%h, %h) : (tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>, tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>) -> tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>
  func.return %a, %b, %c, %d : tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!quant.uniform<u8:f16, 0.5:3>>
}

}

// -----

!x = !quant.uniform<u8:f32, 0.5:3>

// Sub takes bytes from opset 14 on.

builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}} {

// CHECK-LABEL: func.func @unmoved_opset(
// CHECK-NOT: onnx_ms.
// CHECK: func.return
func.func @unmoved_opset(%x: tensor<2x3x!x>) -> tensor<2x3x!x> {
  // expected-remark@+1 {{onnxruntime has no QLinearAdd for u8, u8 -> u8 in this opset [lower-to-qoperator: no-kernel]}}
  %a = onnx.Sub(%x, %x) : (tensor<2x3x!x>, tensor<2x3x!x>) -> tensor<2x3x!x>
  func.return %a : tensor<2x3x!x>
}

}
