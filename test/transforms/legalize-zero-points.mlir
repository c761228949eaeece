// RUN: OPT %s -p legalize-zero-points --print-constants | FILECHECK %s
// RUN: OPT %s -p 'legalize-zero-points{target=openvino}' --print-constants | FILECHECK %s --check-prefix=OPENVINO
// RUN: DIAGNOSTICS -p legalize-zero-points

// Zero points that are all equal are one, and 0 is the default.

// CHECK-LABEL: func.func @equal(
// CHECK: onnx.MatMulInteger(%x, %w, _, _)
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i8>>} : () -> tensor<i8>
// CHECK: onnx.ConvInteger(%a, %v, _, %[[Z]])
// OPENVINO-LABEL: func.func @equal(
// OPENVINO: onnx.MatMulInteger(%x, %w, _, _)
func.func @equal(%x: tensor<2x4x3xui8>, %w: tensor<2x3x2xi8>, %a: tensor<1x1x3x3xui8>, %v: tensor<2x1x1x2xi8>) -> (tensor<2x4x2xi32>, tensor<1x2x3x2xi32>) {
  %z = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi8>>} : () -> tensor<2xi8>
  %u = onnx.Constant() {value = #onnx.tensor<[7, 7] : tensor<2xi8>>} : () -> tensor<2xi8>
  %y = onnx.MatMulInteger(%x, %w, _, %z) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<2xi8>) -> tensor<2x4x2xi32>
  %c = onnx.ConvInteger(%a, %v, _, %u) {} : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xi8>, tensor<2xi8>) -> tensor<1x2x3x2xi32>
  func.return %y, %c : tensor<2x4x2xi32>, tensor<1x2x3x2xi32>
}

// Those of the columns of a batch, constant or computed.

// CHECK-LABEL: func.func @columns(
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 1, 2] : tensor<2x1x2xi8>>}
// CHECK: onnx.MatMulInteger(%x, %w, _, %[[Z]])
// CHECK: %[[V:.*]] = onnx.Expand(%v, %{{.*}}) : (tensor<2xi8>, tensor<3xi64>) -> tensor<2x1x2xi8>
// CHECK: onnx_ms.MatMulIntegerToFloat(%x, %w, %s, %s, _, %[[V]], _)
// OPENVINO-LABEL: func.func @columns(
// OPENVINO: #onnx.tensor<[1, 2, 1, 2] : tensor<2x1x2xi8>>
func.func @columns(%x: tensor<2x4x3xui8>, %w: tensor<2x3x2xi8>, %v: tensor<2xi8>, %s: tensor<f32>) -> (tensor<2x4x2xi32>, tensor<2x4x2xf32>) {
  %z = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi8>>} : () -> tensor<2xi8>
  %y = onnx.MatMulInteger(%x, %w, _, %z) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<2xi8>) -> tensor<2x4x2xi32>
  %f = onnx_ms.MatMulIntegerToFloat(%x, %w, %s, %s, _, %v) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<f32>, tensor<f32>, tensor<2xi8>) -> tensor<2x4x2xf32>
  func.return %y, %f : tensor<2x4x2xi32>, tensor<2x4x2xf32>
}

// QLinearMatMul's scales too; they are as many as the zero points.

// CHECK-LABEL: func.func @scales(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.5, 0.25] : tensor<2x1x2xf32>>}
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0] : tensor<2x1x2xi8>>}
// CHECK: onnx.QLinearMatMul(%x, %s, %u, %w, %[[S]], %[[Z]], %s, %u)
func.func @scales(%x: tensor<2x4x3xui8>, %w: tensor<2x3x2xi8>, %s: tensor<f32>, %u: tensor<ui8>) -> tensor<2x4x2xui8> {
  %r = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi8>>} : () -> tensor<2xi8>
  %y = onnx.QLinearMatMul(%x, %s, %u, %w, %r, %z, %s, %u) {} : (tensor<2x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<2x4x2xui8>
  func.return %y : tensor<2x4x2xui8>
}

// Those of one matrix, of each matrix of a batch, and one of all, are as kernels take them.

// CHECK-LABEL: func.func @unmoved_columns(
// CHECK: onnx.MatMulInteger(%x, %m, _, %z)
// CHECK: onnx.MatMulInteger(%x, %w, _, %v)
// CHECK: onnx.MatMulInteger(%x, %w, _, %u)
func.func @unmoved_columns(%x: tensor<2x4x3xui8>, %m: tensor<3x2xi8>, %w: tensor<2x3x2xi8>, %z: tensor<2xi8>, %v: tensor<2x1x2xi8>, %u: tensor<i8>) -> (tensor<2x4x2xi32>, tensor<2x4x2xi32>, tensor<2x4x2xi32>) {
  %y = onnx.MatMulInteger(%x, %m, _, %z) {} : (tensor<2x4x3xui8>, tensor<3x2xi8>, tensor<2xi8>) -> tensor<2x4x2xi32>
  %a = onnx.MatMulInteger(%x, %w, _, %v) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<2x1x2xi8>) -> tensor<2x4x2xi32>
  %b = onnx.MatMulInteger(%x, %w, _, %u) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<i8>) -> tensor<2x4x2xi32>
  func.return %y, %a, %b : tensor<2x4x2xi32>, tensor<2x4x2xi32>, tensor<2x4x2xi32>
}

// One for each output channel: less what it takes from each sum. A convolution with groups has a filter for each.

// CHECK-LABEL: func.func @channels(
// CHECK: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<1x1x1x2xi8>>}
// CHECK: %[[U:.*]] = onnx.ConvInteger(%x, %[[O]], %z, _) {pads = array<i64: 0, 1, 0, 0>} : {{.*}} -> tensor<1x1x3x3xi32>
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[20, -20] : tensor<2x1x1xi32>>}
// CHECK: %[[M:.*]] = onnx.Mul(%[[U]], %[[V]])
// CHECK: %[[C:.*]] = onnx.ConvInteger(%x, %w, %z, _) {pads = array<i64: 0, 1, 0, 0>}
// CHECK: onnx.Sub(%[[C]], %[[M]])
// OPENVINO-LABEL: func.func @channels(
// OPENVINO: onnx.ConvInteger(%x, %w, %z, %{{.*}}) {pads
func.func @channels(%x: tensor<1x1x3x3xui8>, %z: tensor<ui8>, %w: tensor<2x1x1x2xi8>) -> tensor<1x2x3x3xi32> {
  %v = onnx.Constant() {value = #onnx.tensor<[20, -20] : tensor<2xi8>>} : () -> tensor<2xi8>
  %y = onnx.ConvInteger(%x, %w, %z, %v) {pads = array<i64: 0, 1, 0, 0>} : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xi8>, tensor<ui8>, tensor<2xi8>) -> tensor<1x2x3x3xi32>
  func.return %y : tensor<1x2x3x3xi32>
}

// CHECK-LABEL: func.func @groups(
// CHECK: onnx.ConvInteger(%x, %{{.*}}, _, _) {group = 2 : i64} : (tensor<1x2x3x3xui8>, tensor<2x1x1x2xi8>) -> tensor<1x2x3x2xi32>
// CHECK: onnx.Cast(%v) {to = 6 : i64}
// CHECK: onnx.ConvInteger(%x, %w, _, _) {group = 2 : i64}
// CHECK: onnx.Sub
func.func @groups(%x: tensor<1x2x3x3xui8>, %w: tensor<2x1x1x2xi8>, %v: tensor<2xi8>) -> tensor<1x2x3x2xi32> {
  %y = onnx.ConvInteger(%x, %w, _, %v) {group = 2 : i64} : (tensor<1x2x3x3xui8>, tensor<2x1x1x2xi8>, tensor<2xi8>) -> tensor<1x2x3x2xi32>
  func.return %y : tensor<1x2x3x2xi32>
}

// One for each row of the activation.

// CHECK-LABEL: func.func @rows(
// CHECK: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<1x2xui8>>}
// CHECK: %[[S:.*]] = onnx.MatMulInteger(%[[O]], %w, _, %v) : {{.*}} -> tensor<1x4xi32>
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3x1xi32>>}
// CHECK: %[[M:.*]] = onnx.Mul(%[[R]], %[[S]])
// CHECK: %[[C:.*]] = onnx.MatMulInteger(%x, %w, _, %v)
// CHECK: onnx.Sub(%[[C]], %[[M]])
// OPENVINO-LABEL: func.func @rows(
// OPENVINO-NOT: onnx.Sub
func.func @rows(%x: tensor<3x2xui8>, %w: tensor<2x4xi8>, %v: tensor<4xi8>) -> tensor<3x4xi32> {
  %z = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xui8>>} : () -> tensor<3xui8>
  %y = onnx.MatMulInteger(%x, %w, %z, %v) {} : (tensor<3x2xui8>, tensor<2x4xi8>, tensor<3xui8>, tensor<4xi8>) -> tensor<3x4xi32>
  func.return %y : tensor<3x4xi32>
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_batch(
// CHECK: onnx.MatMulInteger(%x, %w, _, %z)
func.func @unmoved_unknown_batch(%x: tensor<?x4x3xui8>, %w: tensor<?x3x2xi8>, %z: tensor<2xi8>) -> tensor<?x4x2xi32> {
  // expected-remark@+1 {{the number of matrices or columns is not known; give --batch [legalize-zero-points: unknown-shape]}}
  %y = onnx.MatMulInteger(%x, %w, _, %z) {} : (tensor<?x4x3xui8>, tensor<?x3x2xi8>, tensor<2xi8>) -> tensor<?x4x2xi32>
  func.return %y : tensor<?x4x2xi32>
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_count(
// CHECK: onnx.ConvInteger(%x, %w, _, %z)
func.func @unmoved_unknown_count(%x: tensor<1x1x3x3xui8>, %w: tensor<2x1x1x2xi8>, %z: tensor<?xi8>) -> tensor<1x2x3x2xi32> {
  // expected-remark@+1 {{how many zero points there are is not known; give --batch [legalize-zero-points: unknown-shape]}}
  %y = onnx.ConvInteger(%x, %w, _, %z) {} : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xi8>, tensor<?xi8>) -> tensor<1x2x3x2xi32>
  func.return %y : tensor<1x2x3x2xi32>
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_inputs(
// CHECK: onnx.MatMulInteger(%x, %w, %z, _)
func.func @unmoved_unknown_inputs(%x: tensor<3x?xui8>, %w: tensor<?x4xi8>, %z: tensor<3xui8>) -> tensor<3x4xi32> {
  // expected-remark@+1 {{the number of rows of the weight is not known; give --batch [legalize-zero-points: unknown-shape]}}
  %y = onnx.MatMulInteger(%x, %w, %z) {} : (tensor<3x?xui8>, tensor<?x4xi8>, tensor<3xui8>) -> tensor<3x4xi32>
  func.return %y : tensor<3x4xi32>
}

// -----

// A vector has no columns.

// CHECK-LABEL: func.func @unmoved_vector(
// CHECK: onnx.MatMulInteger(%x, %w, %z, _)
func.func @unmoved_vector(%x: tensor<3x2xui8>, %w: tensor<2xi8>, %z: tensor<3xui8>) -> tensor<3xi32> {
  // expected-remark@+1 {{[legalize-zero-points: unknown-shape]}}
  %y = onnx.MatMulInteger(%x, %w, %z) {} : (tensor<3x2xui8>, tensor<2xi8>, tensor<3xui8>) -> tensor<3xi32>
  func.return %y : tensor<3xi32>
}

// -----

// CHECK-LABEL: func.func @unmoved_other_columns(
// CHECK: onnx.MatMulInteger(%x, %w, _, %z)
func.func @unmoved_other_columns(%x: tensor<2x4x3xui8>, %w: tensor<2x3x2xi8>, %z: tensor<3xi8>) -> tensor<2x4x2xi32> {
  // expected-remark@+1 {{there is not one zero point for each column; check the model [legalize-zero-points: zero-point]}}
  %y = onnx.MatMulInteger(%x, %w, _, %z) {} : (tensor<2x4x3xui8>, tensor<2x3x2xi8>, tensor<3xi8>) -> tensor<2x4x2xi32>
  func.return %y : tensor<2x4x2xi32>
}

// -----

// CHECK-LABEL: func.func @unmoved_other_channels(
// CHECK: onnx.ConvInteger(%x, %w, _, %z)
func.func @unmoved_other_channels(%x: tensor<1x1x3x3xui8>, %w: tensor<2x1x1x2xi8>, %z: tensor<3xi8>) -> tensor<1x2x3x2xi32> {
  // expected-remark@+1 {{there is not one zero point for each channel; check the model [legalize-zero-points: zero-point]}}
  %y = onnx.ConvInteger(%x, %w, _, %z) {} : (tensor<1x1x3x3xui8>, tensor<2x1x1x2xi8>, tensor<3xi8>) -> tensor<1x2x3x2xi32>
  func.return %y : tensor<1x2x3x2xi32>
}
