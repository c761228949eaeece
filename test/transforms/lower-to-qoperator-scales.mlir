// RUN: OPT %s -p lower-to-qoperator --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-qoperator

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.5,0.25}>

// The kernel adds the bias of a product of three axes, wherever it stands; one of a row of its own is laid flat.

// CHECK-LABEL: func.func @bias_in_kernel(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>}
// CHECK: %[[Y:.*]] = onnx_ms.MatMulIntegerToFloat(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[B]]) : {{.*}} -> tensor<5x3x2xf32>
// CHECK-NOT: onnx.Add
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, -7.5] : tensor<2xf32>>}
// CHECK-NEXT: %[[Z:.*]] = onnx_ms.MatMulIntegerToFloat(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[C]])
// CHECK-NEXT: func.return %[[Y]], %[[Z]]
func.func @bias_in_kernel(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!w>) -> (tensor<5x3x2xf32>, tensor<5x3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx.MatMul(%x, %w) : (tensor<5x3x4x!x>, tensor<4x2x!w>) -> tensor<5x3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<5x3x2xf32>, tensor<2xf32>) -> tensor<5x3x2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -7.5] : tensor<1x2xf32>>} : () -> tensor<1x2xf32>
  %q = onnx.MatMul(%x, %w) : (tensor<5x3x4x!x>, tensor<4x2x!w>) -> tensor<5x3x2xf32>
  %z = onnx.Add(%c, %q) : (tensor<1x2xf32>, tensor<5x3x2xf32>) -> tensor<5x3x2xf32>
  func.return %y, %z : tensor<5x3x2xf32>, tensor<5x3x2xf32>
}

// So does the kernel of float activations and integer weights, once.

// CHECK-LABEL: func.func @bias_of_float_product(
// CHECK: %[[Y:.*]] = onnx_ms.MatMulNBits(%x, %w, %s, _, _, %[[B:.*]]) {{.*}} -> tensor<3x2xf32>
// CHECK-NEXT: %[[Z:.*]] = onnx.Add(%[[Y]], %
// CHECK-NEXT: func.return %[[Z]]
func.func @bias_of_float_product(%x: tensor<3x16xf32>, %w: tensor<2x1x8xui8>, %s: tensor<2xf32>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[4.5, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx_ms.MatMulNBits(%x, %w, %s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>) -> tensor<3x2xf32>
  %y = onnx.Add(%p, %b) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %z = onnx.Add(%y, %c) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %z : tensor<3x2xf32>
}

// And the kernel that quantizes its activations.

// CHECK-LABEL: func.func @bias_of_dynamic_product(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>}
// CHECK: %[[Y:.*]] = onnx_ms.DynamicQuantizeMatMul(%x, %w, %s, _, %[[B]]) : {{.*}} -> tensor<5x3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @bias_of_dynamic_product(%x: tensor<5x3x16xf32>, %w: tensor<16x2xi8>, %s: tensor<2xf32>) -> tensor<5x3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx_ms.DynamicQuantizeMatMul(%x, %w, %s) : (tensor<5x3x16xf32>, tensor<16x2xi8>, tensor<2xf32>) -> tensor<5x3x2xf32>
  %y = onnx.Add(%b, %p) : (tensor<2xf32>, tensor<5x3x2xf32>) -> tensor<5x3x2xf32>
  func.return %y : tensor<5x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_bias_shape(
// CHECK: onnx.Add(
func.func @unmoved_bias_shape(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!w>) -> tensor<5x3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5, 0.5] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  %p = onnx.MatMul(%x, %w) : (tensor<5x3x4x!x>, tensor<4x2x!w>) -> tensor<5x3x2xf32>
  // expected-remark@+1 {{the addend is not one float for each column [lower-to-qoperator: bias-shape]}}
  %y = onnx.Add(%p, %b) : (tensor<5x3x2xf32>, tensor<3x1xf32>) -> tensor<5x3x2xf32>
  func.return %y : tensor<5x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_product_read(
// CHECK: onnx.Add(
func.func @unmoved_product_read(%x: tensor<5x3x4x!x>, %w: tensor<4x2x!w>) -> (tensor<5x3x2xf32>, tensor<5x3x2xf32>) {
  %b = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %p = onnx.MatMul(%x, %w) : (tensor<5x3x4x!x>, tensor<4x2x!w>) -> tensor<5x3x2xf32>
  // expected-remark@+1 {{the value in between has a second consumer [lower-to-qoperator: second-consumer]}}
  %y = onnx.Add(%p, %b) : (tensor<5x3x2xf32>, tensor<2xf32>) -> tensor<5x3x2xf32>
  func.return %y, %p : tensor<5x3x2xf32>, tensor<5x3x2xf32>
}

// -----

!s = !quant.uniform<u8:f32, 0.025:7>
!t = !quant.uniform<u8:f32, 0.05:9>

// The kernel reads a table for each operand of another scale.

// CHECK-LABEL: func.func @join_of_scales(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.025] : tensor<f32>>}
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>}
// CHECK: onnx_ms.QLinearConcat(%[[TS:.*]], %[[TZ:.*]], %{{.*}}, %[[S]], %[[Z]], %{{.*}}, %[[TS]], %[[TZ]]) {axis = 0 : i64}
func.func @join_of_scales(%a: tensor<2x3x!s>, %b: tensor<4x3x!t>) -> tensor<6x3x!t> {
  %d = quant.dcast %a : tensor<2x3x!s> to tensor<2x3xf32>
  %e = quant.qcast %d : tensor<2x3xf32> to tensor<2x3x!t>
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<2x3x!t>, tensor<4x3x!t>) -> tensor<6x3x!t>
  func.return %j : tensor<6x3x!t>
}

// -----

!s = !quant.uniform<u8:f32, 0.025:7>
!t = !quant.uniform<u8:f32, 0.0125:7>

// A product that changes the scale and no integer, a difference that changes the zero point: the integers as they are.

// CHECK-LABEL: func.func @rescaled(
// CHECK-NEXT: %[[I:.*]] = quant.scast %a : tensor<2x3x!quant.uniform<u8:f32, 0.025:7>> to tensor<2x3xui8>
// CHECK-NEXT: %[[M:.*]] = quant.scast %[[I]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.0125:7>>
// CHECK-NEXT: %[[J:.*]] = quant.scast %a : {{.*}} to tensor<2x3xui8>
// CHECK-NEXT: %[[D:.*]] = quant.scast %[[J]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.025:9>>
// CHECK-NEXT: func.return %[[M]], %[[D]]
func.func @rescaled(%a: tensor<2x3x!s>) -> (tensor<2x3x!t>, tensor<2x3x!quant.uniform<u8:f32, 0.025:9>>) {
  %k = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %m = onnx.Mul(%a, %k) : (tensor<2x3x!s>, tensor<f32>) -> tensor<2x3x!t>
  %c = onnx.Constant() {value = #onnx.tensor<[0.05] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.Sub(%a, %c) : (tensor<2x3x!s>, tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.025:9>>
  func.return %m, %d : tensor<2x3x!t>, tensor<2x3x!quant.uniform<u8:f32, 0.025:9>>
}

// A factor for each channel, another factor, a larger shape: these compute.

// CHECK-LABEL: func.func @unmoved_rescaled(
// CHECK: onnx.Mul(
// CHECK: onnx.Mul(
// CHECK: onnx.Mul(
func.func @unmoved_rescaled(%a: tensor<2x3x!s>, %v: tensor<3x!s>) -> (tensor<2x3x!t>, tensor<2x3x!t>, tensor<1x3x!t>) {
  %k = onnx.Constant() {value = #onnx.tensor<[0.5, 0.5, 0.75] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{operand 1 is float}}
  %m = onnx.Mul(%a, %k) : (tensor<2x3x!s>, tensor<3xf32>) -> tensor<2x3x!t>
  %h = onnx.Constant() {value = #onnx.tensor<[0.51] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{operand 1 is float}}
  %n = onnx.Mul(%a, %h) : (tensor<2x3x!s>, tensor<f32>) -> tensor<2x3x!t>
  %o = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  // expected-remark@+1 {{operand 1 is float}}
  %p = onnx.Mul(%v, %o) : (tensor<3x!s>, tensor<1x1xf32>) -> tensor<1x3x!t>
  func.return %m, %n, %p : tensor<2x3x!t>, tensor<2x3x!t>, tensor<1x3x!t>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// A constant row is repeated along the axes whose sizes are known, so that the kernel takes three rows for one.

// CHECK-LABEL: func.func @repeated_row(
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 1, 2, 1, 2] : tensor<3x2xui8>>}
// CHECK: onnx_ms.QLinearAdd(%[[R]], %
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 4, 3, 4, 3, 4] : tensor<3x2xui8>>}
// CHECK: onnx_ms.QLinearMul(%{{.*}}, %{{.*}}, %{{.*}}, %[[S]],
func.func @repeated_row(%x: tensor<?x3x2x!x>) -> tensor<?x3x2x!x> {
  %r = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5:7>>
  %a = onnx.Add(%r, %x) : (tensor<2x!quant.uniform<u8:f32, 0.5:7>>, tensor<?x3x2x!x>) -> tensor<?x3x2x!x>
  %s = onnx.Constant() {value = #onnx.tensor<[3, 4] : tensor<1x1x2xui8>>} : () -> tensor<1x1x2x!quant.uniform<u8:f32, 0.25:9>>
  %m = onnx.Mul(%a, %s) : (tensor<?x3x2x!x>, tensor<1x1x2x!quant.uniform<u8:f32, 0.25:9>>) -> tensor<?x3x2x!x>
  func.return %m : tensor<?x3x2x!x>
}

// One value, a column, what is broadcast on both sides, rows behind an unknown size, and too many.

// CHECK-LABEL: func.func @rows_as_they_are(
// CHECK-SAME: -> (
// CHECK-DAG: tensor<1xui8>
// CHECK-DAG: tensor<3x1xui8>
// CHECK-DAG: tensor<4xui8>
// CHECK-DAG: tensor<5xui8>
// CHECK-DAG: tensor<33xui8>
// CHECK: func.return
func.func @rows_as_they_are(%x: tensor<3x2x!x>, %c: tensor<3x1x!x>, %u: tensor<3x?x5x!x>, %w: tensor<125x33x!x>) -> (tensor<3x2x!x>, tensor<3x2x!x>, tensor<3x4x!x>, tensor<3x?x5x!x>, tensor<125x33x!x>) {
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xui8>>} : () -> tensor<1x!quant.uniform<u8:f32, 0.5:7>>
  %a = onnx.Add(%x, %k) : (tensor<3x2x!x>, tensor<1x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<3x2x!x>
  %l = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3x1xui8>>} : () -> tensor<3x1x!quant.uniform<u8:f32, 0.5:7>>
  %b = onnx.Add(%x, %l) : (tensor<3x2x!x>, tensor<3x1x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<3x2x!x>
  %r = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4xui8>>} : () -> tensor<4x!quant.uniform<u8:f32, 0.5:7>>
  %d = onnx.Add(%c, %r) : (tensor<3x1x!x>, tensor<4x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<3x4x!x>
  %s = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5] : tensor<5xui8>>} : () -> tensor<5x!quant.uniform<u8:f32, 0.5:7>>
  %e = onnx.Add(%u, %s) : (tensor<3x?x5x!x>, tensor<5x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<3x?x5x!x>
  %t = onnx.Constant() {value = #onnx.tensor<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32] : tensor<33xui8>>} : () -> tensor<33x!quant.uniform<u8:f32, 0.5:7>>
  %f = onnx.Add(%w, %t) : (tensor<125x33x!x>, tensor<33x!quant.uniform<u8:f32, 0.5:7>>) -> tensor<125x33x!x>
  func.return %a, %b, %d, %e, %f : tensor<3x2x!x>, tensor<3x2x!x>, tensor<3x4x!x>, tensor<3x?x5x!x>, tensor<125x33x!x>
}
