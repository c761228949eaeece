// RUN: OPT %s -p raise-qoperator | FILECHECK %s
// RUN: OPT %s -p 'raise-qoperator{every=false}' | FILECHECK %s --check-prefix=SOME
// RUN: DIAGNOSTICS -p raise-qoperator

builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, com.microsoft = 1 : i64}} {

// A pool with channels last is the pool between turns; turns that undo each other go.

// CHECK-LABEL: func.func @pool(
// CHECK-NEXT: %[[P:.*]] = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 1>} : (tensor<1x2x5x4xui8>) -> tensor<1x2x4x4xui8>
// CHECK-NEXT: func.return %[[P]]
// SOME-LABEL: func.func @pool(
// SOME-NEXT: onnx.MaxPool(%x)
func.func @pool(%x: tensor<1x2x5x4xui8>) -> tensor<1x2x4x4xui8> {
  %t = onnx.Transpose(%x) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x2x5x4xui8>) -> tensor<1x5x4x2xui8>
  %p = onnx_ms.NhwcMaxPool(%t) {kernel_shape = array<i64: 2, 1>} : (tensor<1x5x4x2xui8>) -> tensor<1x4x4x2xui8>
  %y = onnx.Transpose(%p) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x4x4x2xui8>) -> tensor<1x2x4x4xui8>
  func.return %y : tensor<1x2x4x4xui8>
}

// Of rows, as onnxruntime writes it, without sizes.

// CHECK-LABEL: func.func @pool_of_rows(
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[P:.*]] = onnx.MaxPool(%[[T]]) {kernel_shape = array<i64: 3>}
// CHECK-NEXT: onnx.Transpose(%[[P]]) {perm = array<i64: 0, 2, 1>}
func.func @pool_of_rows(%x: tensor<*xui8>) -> tensor<*xui8> {
  %p = onnx_ms.NhwcMaxPool(%x) {kernel_shape = array<i64: 3>} : (tensor<*xui8>) -> tensor<*xui8>
  func.return %p : tensor<*xui8>
}

// A packed weight is a weight in blocks; each byte holds two values, the lower half first. Without zero points the values
// are signed.

// CHECK-LABEL: func.func @product(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-7, -5, -6, -4, -3, -1, -2, 0, 1, 3, 2, 4, 5, 7, 6, -8, -7, -5, -6, -4, -3, -1, -2, 0, 1, 3, 2, 4, 5, 7, 6, -8] : tensor<16x2xi4>>}
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<1x2xf32>>}
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%[[W]], %[[S]], _) {axis = 0 : i64, block_size = 16 : i64}
// CHECK-NEXT: %[[M:.*]] = onnx.MatMul(%x, %[[R]])
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[M]], %b)
// CHECK-NEXT: func.return %[[Y]]
// SOME-LABEL: func.func @product(
// SOME: onnx_ms.MatMulNBits(
func.func @product(%x: tensor<3x16xf32>, %b: tensor<2xf32>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : tensor<2x1x8xui8>>} : () -> tensor<2x1x8xui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx_ms.MatMulNBits(%x, %w, %s, _, _, %b) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_accuracy_level(
// CHECK: onnx_ms.MatMulNBits(
// CHECK: onnx_ms.MatMulNBits(
// CHECK: onnx_ms.MatMulNBits(
// CHECK: onnx_ms.MatMulNBits(
// SOME-LABEL: func.func @unmoved_accuracy_level(
func.func @unmoved_accuracy_level(%x: tensor<3x16xf32>, %v: tensor<2x1x8xui8>, %g: tensor<16xi32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : tensor<2x1x8xui8>>} : () -> tensor<2x1x8xui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{the node also rounds its activations, which no ONNX op does [raise-qoperator: no-form]}}
  %a = onnx_ms.MatMulNBits(%x, %w, %s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64, accuracy_level = 4 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{the node reorders its groups [raise-qoperator: attribute]}}
  %b = onnx_ms.MatMulNBits(%x, %w, %s, _, %g) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>, tensor<16xi32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{weight, scale or zero point is computed at run time [raise-qoperator: run-time-scale]}}
  %c = onnx_ms.MatMulNBits(%x, %v, %s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{the weight's shape does not match the node's attributes [raise-qoperator: block-size]}}
  %d = onnx_ms.MatMulNBits(%x, %w, %s) {K = 16 : i64, N = 3 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %a, %b, %c, %d : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}

}

// -----

// Before opset 21 no DequantizeLinear knows blocks, before opset 12 no MaxPool integers.

// CHECK-LABEL: func.func @unmoved_opset(
// CHECK: onnx_ms.MatMulNBits(
// CHECK: onnx_ms.NhwcMaxPool(
// SOME-LABEL: func.func @unmoved_opset(
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64, com.microsoft = 1 : i64}} {
func.func @unmoved_opset(%x: tensor<3x16xf32>, %i: tensor<1x5x4x2xui8>) -> (tensor<3x2xf32>, tensor<1x4x4x2xui8>) {
  %w = onnx.Constant() {value = #onnx.tensor<[33, 101, 169, 237, 33, 101, 169, 237, 67, 135, 203, 15, 67, 135, 203, 15] : tensor<2x1x8xui8>>} : () -> tensor<2x1x8xui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{a weight in blocks needs opset 21; raise the model's opset [raise-qoperator: opset]}}
  %a = onnx_ms.MatMulNBits(%x, %w, %s) {K = 16 : i64, N = 2 : i64, bits = 4 : i64, block_size = 16 : i64} : (tensor<3x16xf32>, tensor<2x1x8xui8>, tensor<2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{MaxPool takes integers from opset 12 on [raise-qoperator: opset]}}
  %p = onnx_ms.NhwcMaxPool(%i) {kernel_shape = array<i64: 2, 1>} : (tensor<1x5x4x2xui8>) -> tensor<1x4x4x2xui8>
  func.return %a, %p : tensor<3x2xf32>, tensor<1x4x4x2xui8>
}
// A sum of two is an Add, which more is known of; others stay.

// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %[[S:.*]] = onnx.Add(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[S]]
// SOME-LABEL: func.func @sum(
// SOME-NEXT: onnx.Add(%x, %y)
func.func @sum(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sum(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %s : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_not_two(
// CHECK-NEXT: onnx.Sum(%x, %y, %x)
// SOME-LABEL: func.func @unmoved_not_two(
func.func @unmoved_not_two(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{an Add has two operands, this Sum 3 [raise-qoperator: product-form]}}
  %s = onnx.Sum(%x, %y, %x) : (tensor<2x3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %s : tensor<2x3xf32>
}

// One slope is an attribute of LeakyRelu; a slope for each channel stays, and so does 0, which is a Relu's, and what makes
// the result larger.

// CHECK-LABEL: func.func @prelu(
// CHECK-NEXT: %[[L:.*]] = onnx.LeakyRelu(%x) {alpha = 2.500000e-01 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[L]]
// SOME-LABEL: func.func @prelu(
// SOME-NEXT: onnx.LeakyRelu(%x)
func.func @prelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %y = onnx.PRelu(%x, %s) : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// So is a slope that is dequantized: 125 - -3 steps of 2^-9.

// CHECK-LABEL: func.func @dequantized_slope(
// CHECK: onnx.LeakyRelu(%x) {alpha = 2.500000e-01 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: onnx.LeakyRelu(%x) {alpha = 2.500000e-01 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// SOME-LABEL: func.func @dequantized_slope(
// SOME: onnx.LeakyRelu(%x)
func.func @dequantized_slope(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %q = onnx.Constant() {value = #onnx.tensor<[125] : tensor<1xi8>>} : () -> tensor<1xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.001953125] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[-3] : tensor<i8>>} : () -> tensor<i8>
  %d = onnx.DequantizeLinear(%q, %s, %z) : (tensor<1xi8>, tensor<f32>, tensor<i8>) -> tensor<1xf32>
  %y = onnx.PRelu(%x, %d) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[125] : tensor<1xi8>>} : () -> tensor<1x!quant.uniform<i8:f32, 0.001953125:-3>>
  %r = quant.dcast %c : tensor<1x!quant.uniform<i8:f32, 0.001953125:-3>> to tensor<1xf32>
  %v = onnx.PRelu(%x, %r) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y, %v : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_slopes(
// CHECK: onnx.PRelu(
// CHECK: onnx.PRelu(
// CHECK: onnx.PRelu(
// SOME-LABEL: func.func @unmoved_slopes(
func.func @unmoved_slopes(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5, 0.75] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{a LeakyRelu has one constant slope, of float32 [raise-qoperator: slope]}}
  %y = onnx.PRelu(%x, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %o = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  // expected-remark@+1 {{with a slope of 0 it is a Relu, and treated as one [raise-qoperator: slope]}}
  %z = onnx.PRelu(%x, %o) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  // expected-remark@+1 {{the slope makes the result larger [raise-qoperator: invalid-op]}}
  %u = onnx.PRelu(%v, %t) : (tensor<3xf32>, tensor<1x1xf32>) -> tensor<1x3xf32>
  func.return %y, %z, %u : tensor<2x3xf32>, tensor<2x3xf32>, tensor<1x3xf32>
}

// The larger of a value and its product with slopes of 1 at most is a PRelu; the less, where no slope is below 1.

// CHECK-LABEL: func.func @slopes(
// CHECK: %[[P:.*]] = onnx.PRelu(%x, %{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK: %[[Q:.*]] = onnx.PRelu(%x, %{{.*}}) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[P]], %[[Q]]
// SOME-LABEL: func.func @slopes(
// SOME: onnx.PRelu
// SOME: onnx.PRelu
func.func @slopes(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, -0.5, 1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %m = onnx.Mul(%x, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a LeakyRelu has one constant slope}}
  %y = onnx.Max(%m, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[1.25, 1.0, 7.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %n = onnx.Mul(%t, %x) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a LeakyRelu has one constant slope}}
  %z = onnx.Min(%x, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %z : tensor<2x3xf32>, tensor<2x3xf32>
}

// Slopes on both sides of 1, another value's product, one that is read besides, a slope of 0: choices as they stand.

// CHECK-LABEL: func.func @unchanged_choice(
// CHECK-NOT: PRelu
// CHECK: func.return
// SOME-LABEL: func.func @unchanged_choice(
func.func @unchanged_choice(%x: tensor<2x3xf32>, %o: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, 1.5, 1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %m = onnx.Mul(%x, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %a = onnx.Max(%x, %m) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.25, 0.5, 1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %n = onnx.Mul(%o, %t) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %b = onnx.Max(%x, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = onnx.Mul(%x, %t) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %c = onnx.Max(%x, %p) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %i = onnx.Constant() {value = #onnx.tensor<[0.25, 0.0, 1.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %q = onnx.Mul(%x, %i) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %d = onnx.Max(%x, %q) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %b, %c, %p, %d : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

}

// -----

// Pools of a saved session whose channels are last.

// CHECK-LABEL: func.func @pools_channels_last(
// CHECK: onnx.AveragePool({{.*}}) {kernel_shape = array<i64: 2, 2>} : (tensor<1x5x2x4x{{.*}}>) -> tensor<1x5x1x3x
// CHECK: onnx.GlobalAveragePool({{.*}}) : (tensor<1x5x1x3x{{.*}}>) -> tensor<1x5x1x1x
// SOME-LABEL: func.func @pools_channels_last(
// SOME: onnx_ms.QLinearAveragePool
// SOME: onnx_ms.QLinearGlobalAveragePool
func.func @pools_channels_last(%x : tensor<1x2x4x5xui8>) -> tensor<1x1x1x5xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %m = onnx_ms.QLinearAveragePool(%x, %s, %z, %s, %z) {channels_last = 1 : i64, kernel_shape = array<i64: 2, 2>} : (tensor<1x2x4x5xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x3x5xui8>
  %y = onnx_ms.QLinearGlobalAveragePool(%m, %s, %z, %s, %z) {channels_last = 1 : i64} : (tensor<1x1x3x5xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x1x1x5xui8>
  func.return %y : tensor<1x1x1x5xui8>
}

// -----

// A product of dequantized operands is one of integers, unless it stays a FusedMatMul.

// CHECK-LABEL: func.func @product_of_dequantized(
// CHECK: onnx.MatMul(
// SOME-LABEL: func.func @product_of_dequantized(
// SOME: onnx.MatMul(
// SOME-NOT: onnx_ms.FusedMatMul(
func.func @product_of_dequantized(%x: tensor<3x4xui8>, %w: tensor<2x4xi8>) -> tensor<3x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.DequantizeLinear(%x, %s, _) : (tensor<3x4xui8>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.DequantizeLinear(%w, %s, _) : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
  %b = onnx.Identity(%d) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = onnx_ms.FusedMatMul(%a, %b) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_product_of_a_float(
// CHECK: onnx.MatMul(%a
// SOME-LABEL: func.func @unmoved_product_of_a_float(
// SOME: onnx_ms.FusedMatMul(
func.func @unmoved_product_of_a_float(%a: tensor<3x4xf32>, %w: tensor<2x4xi8>) -> tensor<3x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.DequantizeLinear(%w, %s, _) : (tensor<2x4xi8>, tensor<f32>) -> tensor<2x4xf32>
  %y = onnx_ms.FusedMatMul(%a, %b) {transB = 1 : i64} : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}
