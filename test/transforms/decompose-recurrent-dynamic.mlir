// RUN: OPT %s -p 'decompose{ops=DynamicQuantizeLSTM}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'decompose{ops=DynamicQuantizeLSTM}'

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 17 : i64, "com.microsoft" = 1 : i64}} {
// 2 steps of 3 sequences with 4 inputs, 5 hidden: the input of all steps is quantized once, the state for each step.

// CHECK-LABEL: func.func @lstm(
// CHECK: %[[ROWS:.*]] = onnx.Reshape(%x, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
// CHECK: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = onnx.DynamicQuantizeLinear(%[[ROWS]])
// CHECK: %[[W:.*]] = onnx.Gather(%w, %{{.*}}) {axis = 0 : i64} : (tensor<1x4x20xi8>, tensor<i64>) -> tensor<4x20xi8>
// CHECK: %[[SUMS:.*]] = onnx.MatMulInteger(%[[Q]], %[[W]], %[[Z]], %{{.*}}) : {{.*}} -> tensor<6x20xi32>
// CHECK: %[[REAL:.*]] = onnx.Cast(%[[SUMS]]) {to = 1 : i64}
// CHECK: %[[SCALE:.*]] = onnx.Mul(%{{.*}}, %[[S]]) : (tensor<20xf32>, tensor<f32>) -> tensor<20xf32>
// CHECK: %[[X:.*]] = onnx.Mul(%[[REAL]], %[[SCALE]]) : (tensor<6x20xf32>, tensor<20xf32>) -> tensor<6x20xf32>
// CHECK: %[[X0:.*]], %[[X1:.*]] = onnx.Split(%[[X]], _) {axis = 0 : i64}
// CHECK: onnx.DynamicQuantizeLinear(%{{.*}}) : (tensor<3x5xf32>)
// CHECK: onnx.MatMulInteger({{.*}} -> tensor<3x20xi32>
// CHECK: %[[G:.*]] = onnx.Add(%[[X0]],
// CHECK-NEXT: onnx.Split(%[[G]], _) {axis = 1 : i64}
// CHECK: onnx.DynamicQuantizeLinear(%{{.*}}) : (tensor<3x5xf32>)
// CHECK: onnx.Add(%[[X1]],
// CHECK: onnx.Concat({{.*}}) {axis = 0 : i64} : (tensor<1x1x3x5xf32>, tensor<1x1x3x5xf32>) -> tensor<2x1x3x5xf32>
func.func @lstm(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1x20xf32>, %wz: tensor<1x20xi8>, %rs: tensor<1x20xf32>, %rz: tensor<1x20xi8>) -> tensor<2x1x3x5xf32> {
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1x20xf32>, tensor<1x20xi8>, tensor<1x20xf32>, tensor<1x20xi8>) -> tensor<2x1x3x5xf32>
  func.return %y : tensor<2x1x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_peepholes(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_peepholes(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %p: tensor<1x15xf32>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<2x1x3x5xf32> {
  // expected-remark@+1 {{the LSTM has peephole weights; export without peepholes [decompose: recurrent-form]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, %p, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1x15xf32>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<2x1x3x5xf32>
  func.return %y : tensor<2x1x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_sequence_lengths(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_sequence_lengths(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %n: tensor<3xi32>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<2x1x3x5xf32> {
  // expected-remark@+1 {{sequences have several lengths; give sequences of one length [decompose: recurrent-form]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, %n, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<3xi32>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<2x1x3x5xf32>
  func.return %y : tensor<2x1x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_sizes(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_unknown_sizes(%x: tensor<2x?x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<2x1x?x5xf32> {
  // expected-remark@+1 {{the sizes of the input or the weights are not known; give --batch [decompose: unknown-shape]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<2x?x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<2x1x?x5xf32>
  func.return %y : tensor<2x1x?x5xf32>
}

// CHECK-LABEL: func.func @unmoved_weight_shape(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_weight_shape(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<2x2x3x5xf32> {
  // expected-remark@+1 {{the weights are of 1 directions; check the model [decompose: invalid-op]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64, direction = "bidirectional"} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<2x2x3x5xf32>
  func.return %y : tensor<2x2x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_many_steps(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_many_steps(%x: tensor<65x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<65x1x3x5xf32> {
  // expected-remark@+1 {{65 steps are more than the 64 that are unrolled [decompose: too-large]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64} : (tensor<65x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<65x1x3x5xf32>
  func.return %y : tensor<65x1x3x5xf32>
}

// CHECK-LABEL: func.func @unmoved_activations(
// CHECK: onnx_ms.DynamicQuantizeLSTM(
func.func @unmoved_activations(%x: tensor<2x3x4xf32>, %w: tensor<1x4x20xi8>, %r: tensor<1x5x20xi8>, %ws: tensor<1xf32>, %wz: tensor<1xi8>, %rs: tensor<1xf32>, %rz: tensor<1xi8>) -> tensor<2x1x3x5xf32> {
  // expected-remark@+1 {{'Mish' is not an activation function of ONNX; check the model [decompose: recurrent-form]}}
  %y = onnx_ms.DynamicQuantizeLSTM(%x, %w, %r, _, _, _, _, _, %ws, %wz, %rs, %rz) {hidden_size = 5 : i64, activations = ["Sigmoid", "Tanh", "Mish"]} : (tensor<2x3x4xf32>, tensor<1x4x20xi8>, tensor<1x5x20xi8>, tensor<1xf32>, tensor<1xi8>, tensor<1xf32>, tensor<1xi8>) -> tensor<2x1x3x5xf32>
  func.return %y : tensor<2x1x3x5xf32>
}
}
