// RUN: OPT %s -p raise-integer{float-results=true} | FILECHECK %s
// RUN: OPT %s -p raise-integer{float-results=false} | FILECHECK --check-prefix=INTEGER %s
// RUN: DIAGNOSTICS -p raise-integer{float-results=false}

// x's scale is that of the cast which made it; the rest of the factor is the weight's, by output channel.
// CHECK-LABEL: func.func @conv
// CHECK: %[[Q:.*]] = quant.qcast
// CHECK: %[[QW:.*]] = onnx.Constant() {{.*}} -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.125}>>
// CHECK: %[[QB:.*]] = onnx.Constant() {value = #onnx.tensor<[10, -20, 30] : tensor<3xi32>>} : () -> tensor<3x!quant.uniform<i32:f32:0, {0.125,0.25,0.0625}>>
// CHECK: %[[X:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[W:.*]] = quant.dcast %[[QW]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[QB]]
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%[[X]], %[[W]], %[[B]]) {strides = array<i64: 2, 1>}
// CHECK-NEXT: quant.qcast %[[Y]]
// INTEGER-LABEL: func.func @conv
// INTEGER: onnx.Conv(
func.func @conv(%x : tensor<1x2x4x5xf32>) -> tensor<1x3x2x5x!quant.uniform<u8:f32, 2.0:7>> {
  %q = quant.qcast %x : tensor<1x2x4x5xf32> to tensor<1x2x4x5x!quant.uniform<u8:f32, 0.5:117>>
  %i = quant.scast %q : tensor<1x2x4x5x!quant.uniform<u8:f32, 0.5:117>> to tensor<1x2x4x5xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1xi8>
  %b = onnx.Constant() {value = #onnx.tensor<[10, -20, 30] : tensor<1x3x1x1xi32>>} : () -> tensor<1x3x1x1xi32>
  %m = onnx.Constant() {value = #onnx.tensor<[0.125, 0.25, 0.0625] : tensor<1x3x1x1xf32>>} : () -> tensor<1x3x1x1xf32>
  %s = onnx.ConvInteger(%i, %w, %z) {strides = array<i64: 2, 1>} : (tensor<1x2x4x5xui8>, tensor<3x2x1x1xi8>, tensor<ui8>) -> tensor<1x3x2x5xi32>
  %t = onnx.Add(%s, %b) {} : (tensor<1x3x2x5xi32>, tensor<1x3x1x1xi32>) -> tensor<1x3x2x5xi32>
  %f = onnx.Cast(%t) {to = 1 : i64} : (tensor<1x3x2x5xi32>) -> tensor<1x3x2x5xf32>
  %y = onnx.Mul(%m, %f) {} : (tensor<1x3x1x1xf32>, tensor<1x3x2x5xf32>) -> tensor<1x3x2x5xf32>
  %r = quant.qcast %y : tensor<1x3x2x5xf32> to tensor<1x3x2x5x!quant.uniform<u8:f32, 2.0:7>>
  func.return %r : tensor<1x3x2x5x!quant.uniform<u8:f32, 2.0:7>>
}

// -----

// Nothing says what x's scale is: the whole factor is the weight's. A matrix with a float bias is a Gemm.
// CHECK-LABEL: func.func @matmul_of_integers
// CHECK: onnx.Constant() {{.*}} -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>
// CHECK: quant.scast %{{.*}} : tensor<4x2xui8> to tensor<4x2x!quant.uniform<u8:f32, 1.0:5>>
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3xf32>>}
// CHECK: %[[Y:.*]] = onnx.Gemm(%{{.*}}, %{{.*}}, %[[B]])
// CHECK: func.return %[[Y]]
func.func @matmul_of_integers(%x : tensor<4x2xui8>) -> tensor<4x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125] : tensor<3xf32>>} : () -> tensor<3xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %s = onnx.MatMulInteger(%x, %w, %z) {} : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  %r = onnx.Add(%y, %b) {} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// -----

// No kernel makes floats of a convolution: where integers are wanted, they stay.
// CHECK-LABEL: func.func @unmoved_float_convolution
// CHECK: onnx.Conv(
// INTEGER-LABEL: func.func @unmoved_float_convolution
// INTEGER: onnx.ConvInteger(
func.func @unmoved_float_convolution(%x : tensor<1x2x4x5xui8>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.125] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{no quantize follows, so the integer product stays as it is [raise-integer: float-result]}}
  %s = onnx.ConvInteger(%x, %w) {} : (tensor<1x2x4x5xui8>, tensor<3x2x1x1xi8>) -> tensor<1x3x4x5xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<1x3x4x5xi32>) -> tensor<1x3x4x5xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<1x3x4x5xf32>, tensor<f32>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_run_time_scale
// CHECK: onnx.DynamicQuantizeLinear
// CHECK: onnx.MatMulInteger
func.func @unmoved_run_time_scale(%x : tensor<4x2xf32>) -> tensor<4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %xs, %z = onnx.DynamicQuantizeLinear(%x) {} : (tensor<4x2xf32>) -> (tensor<4x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[raise-integer: run-time-scale]}}
  %s = onnx.MatMulInteger(%q, %w, %z) {} : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %n = onnx.Mul(%xs, %m) {} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %n) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// Even with a constant factor: the zero point is the input's.
// CHECK-LABEL: func.func @unmoved_run_time_zero_point
// CHECK: onnx.MatMulInteger
func.func @unmoved_run_time_zero_point(%x : tensor<4x2xui8>, %z : tensor<ui8>) -> tensor<4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-integer: run-time-scale]}}
  %s = onnx.MatMulInteger(%x, %w, %z) {} : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_second_consumer
// CHECK: onnx.MatMulInteger
func.func @unmoved_second_consumer(%x : tensor<4x2xui8>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-integer: second-consumer]}}
  %s = onnx.MatMulInteger(%x, %w) {} : (tensor<4x2xui8>, tensor<2x3xi8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  func.return %y, %s : tensor<4x3xf32>, tensor<4x3xi32>
}

// -----

// A factor for each row is none for each output channel.
// CHECK-LABEL: func.func @unmoved_scale_by_row
// CHECK: onnx.MatMulInteger
func.func @unmoved_scale_by_row(%x : tensor<4x2xui8>) -> tensor<4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<4x1xf32>>} : () -> tensor<4x1xf32>
  // expected-remark@+1 {{the factor is not one for each output channel [raise-integer: weight-axis]}}
  %s = onnx.MatMulInteger(%x, %w) {} : (tensor<4x2xui8>, tensor<2x3xi8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// Integers are wanted: nothing scales the sum.
// CHECK-LABEL: func.func @unmoved_no_rescale
// CHECK: onnx.MatMulInteger(
// INTEGER-LABEL: func.func @unmoved_no_rescale
// INTEGER: onnx.MatMulInteger(
func.func @unmoved_no_rescale(%x : tensor<4x2xui8>) -> tensor<4x3xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  // expected-remark@+1 {{[raise-integer: run-time-scale]}}
  %s = onnx.MatMulInteger(%x, %w) {} : (tensor<4x2xui8>, tensor<2x3xi8>) -> tensor<4x3xi32>
  %y = onnx.Abs(%s) : (tensor<4x3xi32>) -> tensor<4x3xi32>
  func.return %y : tensor<4x3xi32>
}

// -----

// No product of batches has a bias: an integer one becomes an Add of floats.
// CHECK-LABEL: func.func @integer_bias_of_a_batch
// CHECK: %[[P:.*]] = onnx.MatMul(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[5.0, -10.0, 15.0] : tensor<3xf32>>}
// CHECK: onnx.Add(%[[P]], %[[B]])
func.func @integer_bias_of_a_batch(%x : tensor<5x4x2xui8>) -> tensor<5x4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.Constant() {value = #onnx.tensor<[10, -20, 30] : tensor<3xi32>>} : () -> tensor<3xi32>
  %s = onnx.MatMulInteger(%x, %w) {} : (tensor<5x4x2xui8>, tensor<2x3xi8>) -> tensor<5x4x3xi32>
  %t = onnx.Add(%s, %b) : (tensor<5x4x3xi32>, tensor<3xi32>) -> tensor<5x4x3xi32>
  %f = onnx.Cast(%t) {to = 1 : i64} : (tensor<5x4x3xi32>) -> tensor<5x4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<5x4x3xf32>, tensor<f32>) -> tensor<5x4x3xf32>
  func.return %y : tensor<5x4x3xf32>
}

// -----

// A bias for how many channels?
// CHECK-LABEL: func.func @unmoved_unknown_shape
// CHECK: onnx.MatMulInteger(
// INTEGER-LABEL: func.func @unmoved_unknown_shape
// INTEGER: onnx.MatMulInteger(
func.func @unmoved_unknown_shape(%x : tensor<4x2xui8>, %v : tensor<2x?xi8>) -> tensor<4x?xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{the number of output channels is not known [raise-integer: unknown-shape]}}
  %s = onnx.MatMulInteger(%x, %v) {} : (tensor<4x2xui8>, tensor<2x?xi8>) -> tensor<4x?xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x?xi32>) -> tensor<4x?xf32>
  %g = onnx.Mul(%f, %m) {} : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  %y = onnx.Add(%g, %b) {} : (tensor<4x?xf32>, tensor<f32>) -> tensor<4x?xf32>
  func.return %y : tensor<4x?xf32>
}

// -----

// A quantize that follows in a branch does not make integers of the product outside.
// CHECK-LABEL: func.func @unmoved_quantized_in_a_branch
// CHECK: onnx.Conv(
// INTEGER-LABEL: func.func @unmoved_quantized_in_a_branch
// INTEGER: onnx.ConvInteger(
func.func @unmoved_quantized_in_a_branch(%x : tensor<1x2x4x5xui8>, %p: tensor<i1>) -> tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.125] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{no quantize follows, so the integer product stays as it is [raise-integer: float-result]}}
  %s = onnx.ConvInteger(%x, %w) : (tensor<1x2x4x5xui8>, tensor<3x2x1x1xi8>) -> tensor<1x3x4x5xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<1x3x4x5xi32>) -> tensor<1x3x4x5xf32>
  %y = onnx.Mul(%f, %m) : (tensor<1x3x4x5xf32>, tensor<f32>) -> tensor<1x3x4x5xf32>
  %z = onnx.If(%p) then_branch {
    %r = onnx.Relu(%y) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
    %q = quant.qcast %r : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%q) : (tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } else_branch {
    %n = onnx.Neg(%y) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
    %q = quant.qcast %n : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%q) : (tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } : (tensor<i1>) -> tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>
  func.return %z : tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02:13>>
}

// -----

// The weight is read back from a type: it keeps its scale, though the factor over x's is another float32.
// CHECK-LABEL: func.func @weight_of_a_type
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: %[[W:.*]] = quant.dcast %v
// CHECK-NEXT: onnx.MatMul(%[[X]], %[[W]])
func.func @weight_of_a_type(%q : tensor<4x2x!quant.uniform<u8:f32, 0.3:5>>, %v : tensor<2x3x!quant.uniform<i8:f32, 0.07:2>>) -> tensor<4x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %u = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i8>>} : () -> tensor<i8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.021] : tensor<f32>>} : () -> tensor<f32>
  %x = quant.scast %q : tensor<4x2x!quant.uniform<u8:f32, 0.3:5>> to tensor<4x2xui8>
  %w = quant.scast %v : tensor<2x3x!quant.uniform<i8:f32, 0.07:2>> to tensor<2x3xi8>
  %s = onnx.MatMulInteger(%x, %w, %z, %u) {} : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// The factor over x's scale is 5e-5 above the weight's own: more than float32 loses, so another scale.
// CHECK-LABEL: func.func @weight_of_another_scale
// CHECK: quant.scast %{{.*}} : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32, 0.070003{{[0-9]*}}:2>>
func.func @weight_of_another_scale(%q : tensor<4x2x!quant.uniform<u8:f32, 0.3:5>>, %v : tensor<2x3x!quant.uniform<i8:f32, 0.07:2>>) -> tensor<4x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %u = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i8>>} : () -> tensor<i8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.021001] : tensor<f32>>} : () -> tensor<f32>
  %x = quant.scast %q : tensor<4x2x!quant.uniform<u8:f32, 0.3:5>> to tensor<4x2xui8>
  %w = quant.scast %v : tensor<2x3x!quant.uniform<i8:f32, 0.07:2>> to tensor<2x3xi8>
  %s = onnx.MatMulInteger(%x, %w, %z, %u) {} : (tensor<4x2xui8>, tensor<2x3xi8>, tensor<ui8>, tensor<i8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// -----

// What is subtracted is computed: it is no bias, and stays behind the product.
// CHECK-LABEL: func.func @subtraction
// CHECK: %[[Y:.*]] = onnx.MatMul(
// CHECK-NEXT: onnx.Sub(%[[Y]], %t)
func.func @subtraction(%x : tensor<4x2xui8>, %t : tensor<4x3xf32>) -> tensor<4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.MatMulInteger(%x, %w) {} : (tensor<4x2xui8>, tensor<2x3xi8>) -> tensor<4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<4x3xi32>) -> tensor<4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %r = onnx.Sub(%y, %t) {} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %r : tensor<4x3xf32>
}

// -----

// All matrices of the batch have the same zero points: those of the columns.
// CHECK-LABEL: func.func @zero_points_of_equal_matrices
// CHECK: tensor<2x2x3x!quant.uniform<i8:f32:2, {0.5:1,0.5:2,0.5:3}>>
// CHECK: onnx.MatMul(
func.func @zero_points_of_equal_matrices(%x : tensor<2x4x2xui8>) -> tensor<2x4x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 1, 2, 3] : tensor<2x1x3xi8>>} : () -> tensor<2x1x3xi8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6, 7, 8, 9, 10, 11, 12] : tensor<2x2x3xi8>>} : () -> tensor<2x2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.MatMulInteger(%x, %w, %z, %u) {} : (tensor<2x4x2xui8>, tensor<2x2x3xi8>, tensor<ui8>, tensor<2x1x3xi8>) -> tensor<2x4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<2x4x3xi32>) -> tensor<2x4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// -----

// Each matrix has its own: a type has no such zero points.
// CHECK-LABEL: func.func @unmoved_weight_zero_points
// CHECK: onnx.MatMulInteger(
func.func @unmoved_weight_zero_points(%x : tensor<2x4x2xui8>) -> tensor<2x4x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %u = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 1, 2, 4] : tensor<2x1x3xi8>>} : () -> tensor<2x1x3xi8>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6, 7, 8, 9, 10, 11, 12] : tensor<2x2x3xi8>>} : () -> tensor<2x2x3xi8>
  %m = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-integer: zero-point]}}
  %s = onnx.MatMulInteger(%x, %w, %z, %u) {} : (tensor<2x4x2xui8>, tensor<2x2x3xi8>, tensor<ui8>, tensor<2x1x3xi8>) -> tensor<2x4x3xi32>
  %f = onnx.Cast(%s) {to = 1 : i64} : (tensor<2x4x3xi32>) -> tensor<2x4x3xf32>
  %y = onnx.Mul(%f, %m) {} : (tensor<2x4x3xf32>, tensor<f32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}
