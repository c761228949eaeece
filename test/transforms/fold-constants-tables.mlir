// RUN: OPT %s -p fold-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-constants
// RUN: OPT %s -p fold-constants --check-numerics -o /dev/null

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// An embedding of integers with a scale and a bias, then x * (x + 1), flattened on the way: all of it is done on the
// table's three rows.

// CHECK-LABEL: func.func @embedding(
// CHECK-NEXT: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, 6.0, 12.0, 20.0, 30.0, 42.0] : tensor<3x2xf32>>}
// CHECK-NEXT: %[[G:.*]] = onnx.Gather(%[[T]], %i) {{.*}} : (tensor<3x2xf32>, tensor<?x4xi64>) -> tensor<?x4x2xf32>
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[-1, 2] : tensor<2xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%[[G]], %[[S]]) : {{.*}} -> tensor<?x2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @embedding(%i: tensor<?x4xi64>) -> tensor<?x2xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1, 2, 5, 6, 9, 10] : tensor<3x2xi32>>} : () -> tensor<3x2xi32>
  %f = onnx.Constant() {value = #onnx.tensor<[-1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %g = onnx.Gather(%t, %i) {axis = 0 : i64} : (tensor<3x2xi32>, tensor<?x4xi64>) -> tensor<?x4x2xi32>
  %r = onnx.Reshape(%g, %f) : (tensor<?x4x2xi32>, tensor<2xi64>) -> tensor<?x2xi32>
  %c = onnx.Cast(%r) {to = 1 : i64} : (tensor<?x2xi32>) -> tensor<?x2xf32>
  %m = onnx.Mul(%c, %h) : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  %x = onnx.Add(%b, %m) : (tensor<2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %p = onnx.Add(%x, %o) : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
  %y = onnx.Mul(%x, %p) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  func.return %y : tensor<?x2xf32>
}

// With two open sizes, and a result of the table's own shape.

// CHECK-LABEL: func.func @open_sizes(
// CHECK-NEXT: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 0.0, 4.0, 2.0] : tensor<2x2xf32>>}
// CHECK-NEXT: %[[G:.*]] = onnx.Gather(%[[T]], %i)
// CHECK-NEXT: func.return %[[G]]
func.func @open_sizes(%i: tensor<?x?xi64>) -> tensor<?x?x2xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %g = onnx.Gather(%t, %i) : (tensor<2x2xf32>, tensor<?x?xi64>) -> tensor<?x?x2xf32>
  %y = onnx.Relu(%g) : (tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  func.return %y : tensor<?x?x2xf32>
}

// A table of bytes, and one that is read elsewhere too.

// CHECK-LABEL: func.func @unmoved_table_grows(
// CHECK: onnx.Gather
// CHECK: onnx.Cast
// CHECK: onnx.Gather
// CHECK: onnx.Relu
func.func @unmoved_table_grows(%i: tensor<4xi64>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>) {
  %t = onnx.Constant() {value = #onnx.tensor<[1, 2, 5, 6] : tensor<2x2xi8>>} : () -> tensor<2x2xi8>
  // expected-remark@+1 {{a table of the results would be larger in the file [fold-constants: too-large]}}
  %g = onnx.Gather(%t, %i) : (tensor<2x2xi8>, tensor<4xi64>) -> tensor<4x2xi8>
  %c = onnx.Cast(%g) {to = 1 : i64} : (tensor<4x2xi8>) -> tensor<4x2xf32>
  %u = onnx.Constant() {value = #onnx.tensor<[1.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  // expected-remark@+1 {{[fold-constants: too-large]}}
  %h = onnx.Gather(%u, %i) : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  %y = onnx.Relu(%h) : (tensor<4x2xf32>) -> tensor<4x2xf32>
  func.return %c, %y, %u : tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>
}

// What is computed with quantized numbers.

// CHECK-LABEL: func.func @unmoved_quantized(
// CHECK: onnx.Gather
// CHECK: onnx.Mul
func.func @unmoved_quantized(%i: tensor<4xi64>) -> tensor<4x2xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[1.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5>>
  %g = onnx.Gather(%t, %i) : (tensor<2x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  %y = onnx.Mul(%g, %k) : (tensor<4x2xf32>, tensor<2x!quant.uniform<u8:f32, 0.5>>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// Two results that are read, one computed for each index, columns taken, and no computation at all.

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-COUNT-5: onnx.Gather
func.func @unmoved_others(%i: tensor<2xi64>, %d: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x1xf32>, tensor<1x2x2xf32>) {
  %a = onnx.Constant() {value = #onnx.tensor<[1.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[2.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[3.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %e = onnx.Constant() {value = #onnx.tensor<[5.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %f = onnx.Constant() {value = #onnx.tensor<[6.0, -3.0, 4.0, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[1, 2, 2] : tensor<3xi64>>} : () -> tensor<3xi64>
  %x = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %ga = onnx.Gather(%a, %i) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %ra = onnx.Relu(%ga) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %ta = onnx.Tanh(%ga) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %gb = onnx.Gather(%b, %i) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %mb = onnx.Mul(%gb, %d) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %gc = onnx.Gather(%c, %i) {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %rc = onnx.Relu(%gc) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %ge = onnx.Gather(%e, %i) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %me = onnx.Unsqueeze(%ge, %x) : (tensor<2x2xf32>, tensor<1xi64>) -> tensor<2x2x1xf32>
  %gf = onnx.Gather(%f, %i) : (tensor<2x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  %mf = onnx.Mul(%gf, %k) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x2xf32>
  %rf = onnx.Reshape(%mf, %s) : (tensor<2x2xf32>, tensor<3xi64>) -> tensor<1x2x2xf32>
  func.return %ra, %ta, %mb, %rc, %me, %rf : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2x1xf32>, tensor<1x2x2xf32>
}

}
