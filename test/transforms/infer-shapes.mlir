// RUN: OPT %s -p infer-shapes | FILECHECK %s

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {

// A list is computed where a size depends on it, and what depends on that size follows; the other list stays an op.

// CHECK-LABEL: func.func @lists(
// CHECK-SAME: -> (tensor<3x2xf32>, tensor<4xi64>)
// CHECK: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>}
// CHECK: %[[R:.*]] = onnx.Reshape(%{{.*}}, %[[L]]) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<3x2xf32>
// CHECK: onnx.Relu(%[[R]]) : (tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK: onnx.Concat(
func.func @lists(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<4xi64>) {
  %a = onnx.Constant() {value = #onnx.tensor<[5, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %b = onnx.Constant() {value = #onnx.tensor<[2, -1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %l = onnx.Sub(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = onnx.Reshape(%x, %l) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %y = onnx.Relu(%r) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %o = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
  func.return %y, %o : tensor<?x?xf32>, tensor<4xi64>
}

// Layer by layer: how long the second list is, the first says.

// CHECK-LABEL: func.func @list_of_a_list(
// CHECK: onnx.Tile({{.*}}) : (tensor<1x2xf32>, tensor<2xi64>) -> tensor<7x14xf32>
func.func @list_of_a_list(%x: tensor<1x2xf32>) -> tensor<?x?xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %n = onnx.Add(%k, %k) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  %l = onnx.ConstantOfShape(%n) {value = #onnx.tensor<[7] : tensor<1xi64>>} : (tensor<1xi64>) -> tensor<?xi64>
  %y = onnx.Tile(%x, %l) : (tensor<1x2xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}

// A window that would start behind the operand is left out, as onnx's inference does from opset 22 on (onnx#4958).

// CHECK-LABEL: func.func @window_behind(
// CHECK: onnx.MaxPool({{.*}} -> tensor<1x4x1x3xf32>
func.func @window_behind(%x: tensor<4x12xf32>) -> tensor<1x4x?x?xf32> {
  %l = onnx.Constant() {value = #onnx.tensor<[1, 4, 2, 5] : tensor<4xi64>>} : () -> tensor<4xi64>
  %o = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %s = onnx.Add(%l, %o) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %r = onnx.Reshape(%x, %s) : (tensor<4x12xf32>, tensor<4xi64>) -> tensor<1x4x?x?xf32>
  %y = onnx.MaxPool(%r) {ceil_mode = 1 : i64, kernel_shape = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, strides = array<i64: 3, 3>} : (tensor<1x4x?x?xf32>) -> tensor<1x4x?x?xf32>
  func.return %y : tensor<1x4x?x?xf32>
}

// A cast has one shape on both sides, and an op on quantized types the shape of the op.

// CHECK-LABEL: func.func @casts(
// CHECK: onnx.Reshape({{.*}} -> tensor<3x2xf32>
// CHECK: quant.qcast {{.*}} to tensor<3x2x!quant.uniform<u8:f32, 0.5:3>>
// CHECK: onnx.Transpose({{.*}} -> tensor<2x3x!quant.uniform<u8:f32, 0.5:3>>
// CHECK: quant.scast {{.*}} to tensor<2x3xui8>
func.func @casts(%x: tensor<2x3xf32>) -> tensor<?x?xui8> {
  %a = onnx.Constant() {value = #onnx.tensor<[5, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %b = onnx.Constant() {value = #onnx.tensor<[2, -1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %l = onnx.Sub(%a, %b) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  %r = onnx.Reshape(%x, %l) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %q = quant.qcast %r : tensor<?x?xf32> to tensor<?x?x!quant.uniform<u8:f32, 0.5:3>>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<?x?x!quant.uniform<u8:f32, 0.5:3>>) -> tensor<?x?x!quant.uniform<u8:f32, 0.5:3>>
  %y = quant.scast %t : tensor<?x?x!quant.uniform<u8:f32, 0.5:3>> to tensor<?x?xui8>
  func.return %y : tensor<?x?xui8>
}

// A constant of each channel says how many there are; one that is repeated says nothing.

// CHECK-LABEL: func.func @told(
// CHECK-SAME: -> (tensor<?x5x2xf32>, tensor<?x?x2xf32>)
func.func @told(%x: tensor<?x?x2xf32>) -> (tensor<?x?x2xf32>, tensor<?x?x2xf32>) {
  %a = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0] : tensor<5x1xf32>>} : () -> tensor<5x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %m = onnx.Max(%x, %a) : (tensor<?x?x2xf32>, tensor<5x1xf32>) -> tensor<?x?x2xf32>
  %y = onnx.Neg(%m) : (tensor<?x?x2xf32>) -> tensor<?x?x2xf32>
  %z = onnx.Max(%x, %b) : (tensor<?x?x2xf32>, tensor<1x1xf32>) -> tensor<?x?x2xf32>
  func.return %y, %z : tensor<?x?x2xf32>, tensor<?x?x2xf32>
}

// As many rows come out of a Scan as went in; a state keeps its type.

// CHECK-LABEL: func.func @unknown_rows(
// CHECK: = onnx_ms.QLinearLeakyRelu({{.*}} -> tensor<3x4xui8>
// CHECK: = onnx.DequantizeLinear({{.*}} -> tensor<3x4xf32>
// CHECK: = onnx.Scan(
// CHECK: } : (tensor<2xf32>, tensor<3x4xf32>) -> (tensor<2xf32>, tensor<3x4x1xf32>)
func.func @unknown_rows(%s : tensor<2xf32>, %x : tensor<3x4xui8>) -> (tensor<*xf32>, tensor<?x4x1xf32>) {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %a = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = onnx_ms.QLinearLeakyRelu(%x, %xs, %xz, %xs, %xz) {alpha = 0.5 : f32} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*x!onnx.any>
  %f = onnx.DequantizeLinear(%r, %xs, %xz) : (tensor<*x!onnx.any>, tensor<f32>, tensor<ui8>) -> tensor<*xf32>
  %t, %y = onnx.Scan(%s, %f) {num_scan_inputs = 1 : i64} body {
  ^bb0(%i: tensor<2xf32>, %row: tensor<4xf32>):
    %n = onnx.Neg(%i) : (tensor<2xf32>) -> tensor<2xf32>
    %u = onnx.Unsqueeze(%row, %a) : (tensor<4xf32>, tensor<1xi64>) -> tensor<4x1xf32>
    onnx.Yield(%n, %u) : (tensor<2xf32>, tensor<4x1xf32>) -> ()
  } : (tensor<2xf32>, tensor<*xf32>) -> (tensor<*xf32>, tensor<?x4x1xf32>)
  func.return %t, %y : tensor<*xf32>, tensor<?x4x1xf32>
}

// Behind a com.microsoft node the model says no type; the node's own inputs do.
// CHECK-LABEL: func.func @unknown_result
// CHECK: %[[R:.*]] = onnx_ms.QLinearLeakyRelu({{.*}} -> tensor<3x4xui8>
// CHECK: onnx.Transpose(%[[R]]) {{.*}} -> tensor<4x3xui8>
func.func @unknown_result(%x : tensor<3x4xui8>) -> tensor<*x!onnx.any> {
  %xs = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %ys = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %yz = onnx.Constant() {value = #onnx.tensor<[90] : tensor<ui8>>} : () -> tensor<ui8>
  %r = onnx_ms.QLinearLeakyRelu(%x, %xs, %xz, %ys, %yz) {alpha = 0.5 : f32} : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<*x!onnx.any>
  %y = onnx.Transpose(%r) {perm = array<i64: 1, 0>} : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
  func.return %y : tensor<*x!onnx.any>
}

// A value that goes round keeps its shape where every round gives what it took; the second takes any.

// CHECK-LABEL: func.func @unknown_rounds(
// CHECK: } : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: } : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
func.func @unknown_rounds(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<2x3xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %y = onnx.Loop(%n, %c, %x) body {
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %v: tensor<2x3xf32>):
    %m = onnx.Neg(%v) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%g, %m) : (tensor<i1>, tensor<2x3xf32>) -> ()
  } : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
  %z = onnx.Loop(%n, %c, %x) body {
  ^bb0(%i: tensor<i64>, %g: tensor<i1>, %v: tensor<?x3xf32>):
    %m = onnx.Concat(%v, %x) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
    onnx.Yield(%g, %m) : (tensor<i1>, tensor<?x3xf32>) -> ()
  } : (tensor<i64>, tensor<i1>, tensor<2x3xf32>) -> tensor<*xf32>
  func.return %y, %z : tensor<*xf32>, tensor<*xf32>
}

// Nothing moves: the list comes in at run time.

// CHECK-LABEL: func.func @unmoved_run_time(
// CHECK: onnx.Reshape({{.*}} -> tensor<?x?xf32>
func.func @unmoved_run_time(%x: tensor<2x3xf32>, %l: tensor<2xi64>) -> tensor<?x?xf32> {
  %y = onnx.Reshape(%x, %l) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  func.return %y : tensor<?x?xf32>
}
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64, other = 1 : i64}} {

// onnx says nothing of a node whose parts depend on its operands.

// CHECK-LABEL: func.func @normalized(
// CHECK: onnx.GroupNormalization({{.*}} -> tensor<2x4x5xf32>
// CHECK: onnx.MeanVarianceNormalization({{.*}} -> tensor<2x4x5xf32>
func.func @normalized(%x: tensor<2x4x5xf32>, %s: tensor<4xf32>) -> tensor<*xf32> {
  %g = onnx.GroupNormalization(%x, %s, %s) {num_groups = 2 : i64} : (tensor<2x4x5xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<*xf32>
  %m = onnx.MeanVarianceNormalization(%g) : (tensor<*xf32>) -> tensor<*xf32>
  func.return %m : tensor<*xf32>
}

// What an unknown op gives has the element type that the model states behind it.

// CHECK-LABEL: func.func @stated_type(
// CHECK: onnx.Transpose({{.*}} -> tensor<*xf32>
func.func @stated_type(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %y = onnx.Custom(%x) {domain = "other", op_type = "Op", attrs = {}} : (tensor<2x3xf32>) -> tensor<*x!onnx.any>
  %z = onnx.Transpose(%y) {perm = array<i64: 1, 0>} : (tensor<*x!onnx.any>) -> tensor<*xf32>
  func.return %z : tensor<*xf32>
}

}
