// RUN: OPT %s -p raise-qoperator | FILECHECK %s
// RUN: DIAGNOSTICS -p raise-qoperator

// The two scales' product is the bias's scale; the weight's scales run along output channels.
// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x5xui8>)
// CHECK: %[[QW:.*]] = onnx.Constant() {{.*}} -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.125}>>
// CHECK: %[[QB:.*]] = onnx.Constant() {{.*}} -> tensor<3x!quant.uniform<i32:f32:0, {0.125,0.25,0.0625}>>
// CHECK: %[[QX:.*]] = quant.scast %[[X]] : tensor<1x2x4x5xui8> to tensor<1x2x4x5x!quant.uniform<u8:f32, 0.5:117>>
// CHECK: %[[Y:.*]] = onnx.Conv(%[[QX]], %[[QW]], %[[QB]]) {strides = array<i64: 2, 1>} : {{.*}} -> tensor<1x3x2x5x!quant.uniform<u8:f32, 4.0:99>>
// CHECK: %[[I:.*]] = quant.scast %[[Y]] : {{.*}} to tensor<1x3x2x5xui8>
// CHECK: func.return %[[I]]
func.func @conv(%x : tensor<1x2x4x5xui8>) -> tensor<1x3x2x5xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1xi8>
  %ws = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5, 0.125] : tensor<3xf32>>} : () -> tensor<3xf32>
  %wz = onnx.Constant() {value = #onnx.tensor<[0, 0, 0] : tensor<3xi8>>} : () -> tensor<3xi8>
  %ys = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %yz = onnx.Constant() {value = #onnx.tensor<[99] : tensor<ui8>>} : () -> tensor<ui8>
  %b = onnx.Constant() {value = #onnx.tensor<[10, -20, 30] : tensor<3xi32>>} : () -> tensor<3xi32>
  %y = onnx.QLinearConv(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz, %b) {strides = array<i64: 2, 1>} : (tensor<1x2x4x5xui8>, tensor<f32>, tensor<ui8>, tensor<3x2x1x1xi8>, tensor<3xf32>, tensor<3xi8>, tensor<f32>, tensor<ui8>, tensor<3xi32>) -> tensor<1x3x2x5xui8>
  func.return %y : tensor<1x3x2x5xui8>
}

// -----

// A weight of two products stays one constant, so that the file does not hold its bytes twice.

// CHECK-LABEL: func.func @shared_weight(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4] : tensor<2x2xi8>>} {{.*}} -> tensor<2x2x!quant.uniform<i8:f32:1, {0.25,0.5}>>
// CHECK-NOT: tensor<2x2xi8>>}
// CHECK: %[[Y:.*]] = onnx.MatMul(%{{.*}}, %[[W]])
// CHECK: onnx.MatMul(%[[Y]], %[[W]])
func.func @shared_weight(%x : tensor<3x2xui8>) -> tensor<3x2xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4] : tensor<2x2xi8>>} : () -> tensor<2x2xi8>
  %ws = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %wz = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi8>>} : () -> tensor<2xi8>
  %ys = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %yz = onnx.Constant() {value = #onnx.tensor<[99] : tensor<ui8>>} : () -> tensor<ui8>
  %y = onnx.QLinearMatMul(%x, %xs, %xz, %w, %ws, %wz, %ys, %yz) : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xui8>
  %r = onnx.QLinearMatMul(%y, %ys, %yz, %w, %ws, %wz, %xs, %xz) : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<ui8>) -> tensor<3x2xui8>
  func.return %r : tensor<3x2xui8>
}

// -----

// Nothing moves: onnxruntime's kernel divides to 0 for rows so short, and what it makes of them is not Softmax.

// CHECK-LABEL: func.func @unmoved_short_softmax(
// CHECK: onnx_ms.QLinearSoftmax(
func.func @unmoved_short_softmax(%x: tensor<3x4xui8>) -> tensor<3x4xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.0005] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qoperator: made-by-session]}}
  %r = onnx_ms.QLinearSoftmax(%x, %xs, %xz, %ys, %xz) {axis = -1 : i64, opset = 13 : i64} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %r : tensor<3x4xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_run_time_scale
// CHECK: onnx_ms.QLinearSigmoid
func.func @unmoved_run_time_scale(%x : tensor<3x4xui8>, %xs : tensor<f32>) -> tensor<3x4xui8> {
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qoperator: run-time-scale]}}
  %y = onnx_ms.QLinearSigmoid(%x, %xs, %z, %ys, %z) {} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_channels_last
// CHECK: onnx_ms.QLinearGlobalAveragePool
func.func @unmoved_channels_last(%x : tensor<*xui8>) -> tensor<*xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{[raise-qoperator: attribute]}}
  %y = onnx_ms.QLinearGlobalAveragePool(%x, %s, %z, %s, %z) {channels_last = 1 : i64} : (tensor<*xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*xui8>
  func.return %y : tensor<*xui8>
}

// -----

// The kernel counts steps of the result in an operand, and loses some if these are too many.

// CHECK-LABEL: func.func @unmoved_steps
// CHECK: onnx_ms.QLinearMul
// CHECK: onnx_ms.QLinearAveragePool
func.func @unmoved_steps(%x : tensor<1x3x4x4xui8>) -> (tensor<1x3x4x4xui8>, tensor<1x3x3x3xui8>) {
  %xs = onnx.Constant() {value = #onnx.tensor<[100.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.01] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qoperator: mixed-scales]}}
  %y = onnx_ms.QLinearMul(%x, %xs, %z, %x, %xs, %z, %ys, %z) {} : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x4xui8>
  // expected-remark@+1 {{[raise-qoperator: mixed-scales]}}
  %p = onnx_ms.QLinearAveragePool(%x, %xs, %z, %ys, %z) {kernel_shape = array<i64: 2, 2>} : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x3x3xui8>
  func.return %y, %p : tensor<1x3x4x4xui8>, tensor<1x3x3x3xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_reals
// CHECK: onnx.QLinearMatMul
func.func @unmoved_reals(%x : tensor<3x3xui8>) -> tensor<3x3xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[1.0e20] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{reals of these scales, or a kernel's multiplier, are beyond float32; quantize the model again [raise-qoperator: scale-value]}}
  %y = onnx.QLinearMatMul(%x, %xs, %z, %x, %xs, %z, %xs, %z) : (tensor<3x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x3xui8>
  func.return %y : tensor<3x3xui8>
}

// -----

// The reals are not, but the number that sums are multiplied with is.
// CHECK-LABEL: func.func @unmoved_multiplier
// CHECK: onnx.QLinearMatMul
func.func @unmoved_multiplier(%x : tensor<3x3xui8>) -> tensor<3x3xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[1.0e20] : tensor<f32>>} : () -> tensor<f32>
  %ws = onnx.Constant() {value = #onnx.tensor<[0.05] : tensor<f32>>} : () -> tensor<f32>
  %ys = onnx.Constant() {value = #onnx.tensor<[1.0e-20] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{[raise-qoperator: scale-value]}}
  %y = onnx.QLinearMatMul(%x, %xs, %z, %x, %ws, %z, %ys, %z) : (tensor<3x3xui8>, tensor<f32>, tensor<ui8>, tensor<3x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x3xui8>
  func.return %y : tensor<3x3xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_negative_scale
// CHECK: onnx_ms.QLinearSigmoid
func.func @unmoved_negative_scale(%x : tensor<3x4xui8>) -> tensor<3x4xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qoperator: scale-value]}}
  %y = onnx_ms.QLinearSigmoid(%x, %xs, %z, %ys, %z) {} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// Three inputs are an operand: the second of these lacks its zero point.
// CHECK-LABEL: func.func @unmoved_half_an_operand
// CHECK: onnx_ms.QLinearConcat
func.func @unmoved_half_an_operand(%x : tensor<3x4xui8>, %y : tensor<3x2xui8>) -> tensor<3x6xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  // expected-remark@+1 {{[raise-qoperator: attribute]}}
  %r = onnx_ms.QLinearConcat(%s, %z, %x, %s, %z, %y, %s) {axis = 1 : i64} : (tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<3x2xui8>, tensor<f32>) -> tensor<3x6xui8>
  func.return %r : tensor<3x6xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_dead_scale
// CHECK: onnx_ms.QLinearSigmoid
func.func @unmoved_dead_scale(%x : tensor<3x4xui8>) -> tensor<3x4xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qoperator: scale-value]}}
  %y = onnx_ms.QLinearSigmoid(%x, %xs, %z, %ys, %z) {} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// A product scaled by alpha scales the integer bias with it: no type says that.
// CHECK-LABEL: func.func @unmoved_alpha_and_bias
// CHECK: onnx_ms.QGemm
func.func @unmoved_alpha_and_bias(%x : tensor<3x2xui8>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x4xui8>>} : () -> tensor<2x4xui8>
  %b = onnx.Constant() {value = #onnx.tensor<[10, -20, 30, 40] : tensor<4xi32>>} : () -> tensor<4xi32>
  // expected-remark@+1 {{[raise-qoperator: product-form]}}
  %y = onnx_ms.QGemm(%x, %s, %z, %w, %s, %z, %b) {alpha = 0.5 : f32} : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<4xi32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A bias of nobody knows what.
// CHECK-LABEL: func.func @unmoved_bias_type
// CHECK: onnx_ms.QGemm(
func.func @unmoved_bias_type(%x : tensor<3x2xui8>, %b : tensor<4x!onnx.any>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x4xui8>>} : () -> tensor<2x4xui8>
  // expected-remark@+1 {{[raise-qoperator: invalid-op]}}
  %y = onnx_ms.QGemm(%x, %s, %z, %w, %s, %z, %b) {} : (tensor<3x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<4x!onnx.any>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// No cast reads integers of a type that nobody knows.
// CHECK-LABEL: func.func @unmoved_unknown_type
// CHECK: onnx.QLinearMatMul(
func.func @unmoved_unknown_type(%x : tensor<*x!onnx.any>) -> tensor<3x4xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x4xui8>>} : () -> tensor<2x4xui8>
  // expected-remark@+1 {{[raise-qoperator: unknown-shape]}}
  %y = onnx.QLinearMatMul(%x, %s, %z, %w, %s, %z, %s, %z) {} : (tensor<*x!onnx.any>, tensor<f32>, tensor<ui8>, tensor<2x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// A float bias joins the sum behind the scales.
// CHECK-LABEL: func.func @float_bias
// CHECK: %[[M:.*]] = onnx.MatMul(
// CHECK: onnx.Add(%[[M]], %
func.func @float_bias(%x : tensor<3x2xui8>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x4xui8>>} : () -> tensor<2x4xui8>
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5, 3.5, 4.5] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx_ms.MatMulIntegerToFloat(%x, %w, %s, %s, %z, %z, %b) {} : (tensor<3x2xui8>, tensor<2x4xui8>, tensor<f32>, tensor<f32>, tensor<ui8>, tensor<ui8>, tensor<4xf32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// The condition of a Where is not quantized. Where its casts belong is for others.
// CHECK-LABEL: func.func @where
// CHECK: %[[W:.*]] = onnx.Where(%c, %{{.*}}, %{{.*}}) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[W]] : tensor<3x4xf32> to tensor<3x4x!quant.uniform<u8:f32, 0.5>>
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[Q]]
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[S]]) {perm = array<i64: 1, 0>} : (tensor<3x4xui8>) -> tensor<4x3xui8>
func.func @where(%c: tensor<3x4xi1>, %x : tensor<3x4xui8>) -> tensor<4x3xui8> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>} : () -> tensor<ui8>
  %r = onnx_ms.QLinearWhere(%c, %x, %xs, %z, %x, %xs, %z, %ys, %z) : (tensor<3x4xi1>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8>
  %y = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<3x4xui8>) -> tensor<4x3xui8>
  func.return %y : tensor<4x3xui8>
}
