// RUN: OPT %s -p fold-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-constants

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// A weight becomes the integers that the quantize stores: half to even, saturated, along its axis.

// CHECK-LABEL: func.func @weight(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -3, 5, 118, 127, -128] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-2}>>
// CHECK-NEXT: func.return %[[W]]
func.func @weight() -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-2}>> {
  %w = onnx.Constant() {value = #onnx.tensor<[0.25, -3.0, 1.25, 30.0, 99.0, -99.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %q = quant.qcast %w : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-2}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-2}>>
}

// Stored integers under another type.

// CHECK-LABEL: func.func @storage(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 200, 3] : tensor<3xui8>>} : () -> tensor<3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[W]]
func.func @storage() -> tensor<3x!quant.uniform<u8:f32, 0.02:13>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 200, 3] : tensor<3xui8>>} : () -> tensor<3xui8>
  %q = quant.scast %w : tensor<3xui8> to tensor<3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<3x!quant.uniform<u8:f32, 0.02:13>>
}

// A chain is computed as a whole: what nobody needs any more goes.

// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[2.5, 8.5, 4.5, 10.5, 6.5, 12.5] : tensor<3x2xf32>>}
// CHECK-NEXT: func.return %[[W]]
func.func @chain() -> tensor<3x2xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0] : tensor<2x3xf32>>} : () -> tensor<2x3xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[2.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %x = onnx.Mul(%a, %b) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %y = onnx.Add(%x, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %z = onnx.Transpose(%y) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %z : tensor<3x2xf32>
}

// What is quantized again behind dequantized constants is a constant; what reads their floats itself still dequantizes.

// CHECK-LABEL: func.func @quantized_again(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 4, -2] : tensor<3xi8>>}
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%[[W]], %{{.*}})
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[10, 12, 7] : tensor<3xi8>>}
// CHECK: func.return %[[P]], %[[R]]
func.func @quantized_again() -> (tensor<3xi8>, tensor<3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 4, -2] : tensor<3xi8>>} : () -> tensor<3xi8>
  %f = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>} : () -> tensor<i8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[9] : tensor<i8>>} : () -> tensor<i8>
  %a = onnx.DequantizeLinear(%w, %s) : (tensor<3xi8>, tensor<f32>) -> tensor<3xf32>
  %b = onnx.DequantizeLinear(%f, %t) : (tensor<i8>, tensor<f32>) -> tensor<f32>
  %p = onnx.Mul(%a, %b) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %q = onnx.QuantizeLinear(%p, %t, %z) : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  func.return %q, %a : tensor<3xi8>, tensor<3xf32>
}

// A layout op on quantized constants moves what is stored.

// CHECK-LABEL: func.func @layout(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 4, 2, 5, 3, 6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
// CHECK-NEXT: func.return %[[W]]
func.func @layout() -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %t = onnx.Transpose(%w) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
  func.return %t : tensor<3x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
}

// Scale and zero point in disguise: reshaped, cast, passed on.

// CHECK-LABEL: func.func @parameters(
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<1xf32>>}
// CHECK-DAG: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>}
// CHECK: onnx.QuantizeLinear(%x, %[[S]], %[[Z]])
func.func @parameters(%x: tensor<2xf32>) -> tensor<2xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<i32>>} : () -> tensor<i32>
  %t = onnx.Identity(%s) : (tensor<f32>) -> tensor<f32>
  %u = onnx.Reshape(%t, %one) : (tensor<f32>, tensor<1xi64>) -> tensor<1xf32>
  %v = onnx.Cast(%z) {to = 2 : i64} : (tensor<i32>) -> tensor<ui8>
  %q = onnx.QuantizeLinear(%x, %u, %v) : (tensor<2xf32>, tensor<1xf32>, tensor<ui8>) -> tensor<2xui8>
  func.return %q : tensor<2xui8>
}

// Nothing is computed: folding a dequantize would undo the quantization.

// CHECK-LABEL: func.func @unmoved_dequantize(
// CHECK: %[[R:.*]] = quant.dcast
// CHECK: %[[S:.*]] = onnx.DequantizeLinear(
// CHECK-NEXT: func.return %[[R]], %[[S]]
func.func @unmoved_dequantize() -> (tensor<3xf32>, tensor<3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xi8>>} : () -> tensor<3x!quant.uniform<i8:f32, 0.5:3>>
  %r = quant.dcast %w : tensor<3x!quant.uniform<i8:f32, 0.5:3>> to tensor<3xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xi8>>} : () -> tensor<3xi8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.DequantizeLinear(%v, %c) : (tensor<3xi8>, tensor<f32>) -> tensor<3xf32>
  func.return %r, %s : tensor<3xf32>, tensor<3xf32>
}

// Nothing is computed: one operand comes at run time.

// CHECK-LABEL: func.func @unmoved_input(
// CHECK: onnx.Add(%{{.*}}, %x)
func.func @unmoved_input(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Add(%c, %x) : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// Nothing is computed: the result would be another each time.

// CHECK-LABEL: func.func @unmoved_random(
// CHECK: onnx.RandomNormalLike(
func.func @unmoved_random() -> tensor<3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, 1.5, 2.5] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.RandomNormalLike(%c) : (tensor<3xf32>) -> tensor<3xf32>
  func.return %y : tensor<3xf32>
}

// Nothing is computed: an op on quantized types that is no mere move.

// CHECK-LABEL: func.func @unmoved_quantized_sum(
// CHECK: onnx.Add(
func.func @unmoved_quantized_sum() -> tensor<2x!quant.uniform<i8:f32, 0.25:3>> {
  %a = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %y = onnx.Add(%a, %a) : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  func.return %y : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
}

// The elements alone say how large the result is: it is computed if the operands are small, also through a sequence.

// CHECK-LABEL: func.func @size_of_elements(
// CHECK-NEXT: %[[Y:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1xi64>>} : () -> tensor<1x1xi64>
// CHECK-NEXT: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[0.0, 2.0, 0.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
// CHECK-NEXT: func.return %[[Y]], %[[Z]]
func.func @size_of_elements() -> (tensor<1x?xi64>, tensor<?xf32>) {
  %a = onnx.Constant() {value = #onnx.tensor<[0.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.NonZero(%a) : (tensor<2xf32>) -> tensor<1x?xi64>
  %s = onnx.SequenceConstruct(%a, %a) : (tensor<2xf32>, tensor<2xf32>) -> !onnx.seq<tensor<2xf32>>
  %z = onnx.ConcatFromSequence(%s) {axis = 0 : i64} : (!onnx.seq<tensor<2xf32>>) -> tensor<?xf32>
  func.return %y, %z : tensor<1x?xi64>, tensor<?xf32>
}

// Of a value the type alone is read.

// CHECK-LABEL: func.func @type_alone(
// CHECK-DAG: onnx.Constant() {value = #onnx.tensor<[1.0, 0.0, 0.0, 1.0] : tensor<2x2xf64>>}
// CHECK-DAG: onnx.Constant() {value = #onnx.tensor<[0.0, 2.0] : tensor<2xf64>>}
// CHECK: onnx.Cast(%{{.*}}) {to = 11 : i64} : (tensor<?xi32>) -> tensor<?xf64>
func.func @type_alone(%x: tensor<2x2xf64>, %n: tensor<?xi32>) -> (tensor<2x2xf64>, tensor<2xf64>, tensor<?xf64>) {
  %a = onnx.Constant() {value = #onnx.tensor<[0.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = onnx.Neg(%x) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %e = onnx.EyeLike(%r) : (tensor<2x2xf64>) -> tensor<2x2xf64>
  %c = onnx.CastLike(%a, %r) : (tensor<2xf32>, tensor<2x2xf64>) -> tensor<2xf64>
  %l = onnx.CastLike(%n, %r) : (tensor<?xi32>, tensor<2x2xf64>) -> tensor<?xf64>
  func.return %e, %c, %l : tensor<2x2xf64>, tensor<2xf64>, tensor<?xf64>
}

// The sizes of the value are not known, or it may be absent.

// CHECK-LABEL: func.func @unmoved_type(
// CHECK: onnx.EyeLike(
// CHECK: onnx.OptionalHasElement(
func.func @unmoved_type(%x: tensor<?x?xf32>, %o: !onnx.optional<tensor<2xf32>>) -> (tensor<?x?xf32>, tensor<i1>) {
  %e = onnx.EyeLike(%x) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %h = onnx.OptionalHasElement(%o) : (!onnx.optional<tensor<2xf32>>) -> tensor<i1>
  func.return %e, %h : tensor<?x?xf32>, tensor<i1>
}

// Nothing is computed: nobody knows how large the result is, and it is larger than what is computed to see.

// CHECK-LABEL: func.func @unmoved_result_size(
// CHECK: onnx.NonZero(
func.func @unmoved_result_size() -> tensor<2x?xi64> {
  %n = onnx.Constant() {value = #onnx.tensor<[100, 100] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.ConstantOfShape(%n) {value = #onnx.tensor<[1] : tensor<1xi8>>} : (tensor<2xi64>) -> tensor<100x100xi8>
  // expected-remark@+1 {{onnx.NonZero 'onnx.NonZero': the size of the result is not known, so the result is not folded [fold-constants: too-large]}}
  %y = onnx.NonZero(%a) : (tensor<100x100xi8>) -> tensor<2x?xi64>
  func.return %y : tensor<2x?xi64>
}

// Nothing is computed: a few bytes would become 400 kB.

// CHECK-LABEL: func.func @unmoved_result_grows(
// CHECK: onnx.Expand(
func.func @unmoved_result_grows() -> tensor<100000xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[2.5] : tensor<1xf32>>} : () -> tensor<1xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[100000] : tensor<1xi64>>} : () -> tensor<1xi64>
  // expected-remark@+1 {{the result would take more than 65536 bytes [fold-constants: too-large]}}
  %y = onnx.Expand(%a, %n) : (tensor<1xf32>, tensor<1xi64>) -> tensor<100000xf32>
  func.return %y : tensor<100000xf32>
}

// Nothing is computed: three elements are not four, whatever the type says. The others are computed all the same.

// CHECK-LABEL: func.func @unmoved_not_computable(
// CHECK: onnx.Reshape(
func.func @unmoved_not_computable() -> tensor<2x2xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[2.5, 1.5, 0.5] : tensor<3xf32>>} : () -> tensor<3xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  // expected-remark@+1 {{[fold-constants: not-computable]}}
  %y = onnx.Reshape(%a, %n) : (tensor<3xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// One of these at a time is computed: a long list, made from what is computed itself.

// CHECK-LABEL: func.func @unmoved_results_grow(
// CHECK: onnx.Constant() {{.*}} -> tensor<60000xui8>
// CHECK-NEXT: onnx.Concat({{.*}} -> tensor<120000xui8>
// CHECK-NEXT: %[[Y:.*]] = onnx.Concat(
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_results_grow() -> tensor<240000xui8> {
  %a = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xui8>>} : () -> tensor<1xui8>
  %n = onnx.Constant() {value = #onnx.tensor<[60000] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Expand(%a, %n) : (tensor<1xui8>, tensor<1xi64>) -> tensor<60000xui8>
  // expected-remark@+1 {{all folded results together would take too much memory [fold-constants: too-large]}}
  %f = onnx.Concat(%e, %e) {axis = 0 : i64} : (tensor<60000xui8>, tensor<60000xui8>) -> tensor<120000xui8>
  %y = onnx.Concat(%f, %f) {axis = 0 : i64} : (tensor<120000xui8>, tensor<120000xui8>) -> tensor<240000xui8>
  func.return %y : tensor<240000xui8>
}
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// Constant lists of one in the place of numbers, which onnxruntime refuses; it takes computed ones.

// CHECK-LABEL: func.func @numbers(
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 2] : tensor<3xi64>>}
// CHECK: %[[S:.*]] = onnx.Range({{.*}}, %n, {{.*}}) : (tensor<i64>, tensor<1xi64>, tensor<i64>) -> tensor<?xi64>
// CHECK-NEXT: func.return %[[R]], %[[S]]
func.func @numbers(%n: tensor<1xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %a = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %b = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
  %r = onnx.Range(%a, %b, %c) : (tensor<1xi64>, tensor<1xi64>, tensor<i64>) -> tensor<?xi64>
  %s = onnx.Range(%a, %n, %c) : (tensor<1xi64>, tensor<1xi64>, tensor<i64>) -> tensor<?xi64>
  func.return %r, %s : tensor<?xi64>, tensor<?xi64>
}
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// There is no element 7 of two: an error at run time, which it stays.

// CHECK-LABEL: func.func @unmoved_not_computable(
// CHECK: onnx.Gather(
func.func @unmoved_not_computable() -> tensor<1xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[2.5, 3.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %i = onnx.Constant() {value = #onnx.tensor<[7] : tensor<1xi64>>} : () -> tensor<1xi64>
  // expected-remark@+1 {{[fold-constants: not-computable]}}
  %y = onnx.Gather(%a, %i) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// How many elements are selected, only the computation says; they stay of the quantized type, and casts follow.

// CHECK-LABEL: func.func @selected(
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 3] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.5:7>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[C]] : tensor<2x!quant.uniform<u8:f32, 0.5:7>> to tensor<2xf32>
// CHECK-NEXT: func.return %[[D]] : tensor<2xf32>
func.func @selected() -> tensor<?xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xui8>>} : () -> tensor<3x!quant.uniform<u8:f32, 0.5:7>>
  %m = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3xi1>>} : () -> tensor<3xi1>
  %c = onnx.Compress(%w, %m) {axis = 0 : i64} : (tensor<3x!quant.uniform<u8:f32, 0.5:7>>, tensor<3xi1>) -> tensor<?x!quant.uniform<u8:f32, 0.5:7>>
  %d = quant.dcast %c : tensor<?x!quant.uniform<u8:f32, 0.5:7>> to tensor<?xf32>
  func.return %d : tensor<?xf32>
}

// Several scales along the axis of which a part is selected do not fit the result.

// CHECK-LABEL: func.func @unmoved_selected_scales(
// CHECK: onnx.Compress(
func.func @unmoved_selected_scales() -> tensor<?x!quant.uniform<u8:f32:0, {0.5,0.25,0.125}>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<3xui8>>} : () -> tensor<3x!quant.uniform<u8:f32:0, {0.5,0.25,0.125}>>
  %m = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3xi1>>} : () -> tensor<3xi1>
  // expected-remark@+1 {{[fold-constants: too-large]}}
  %c = onnx.Compress(%w, %m) {axis = 0 : i64} : (tensor<3x!quant.uniform<u8:f32:0, {0.5,0.25,0.125}>>, tensor<3xi1>) -> tensor<?x!quant.uniform<u8:f32:0, {0.5,0.25,0.125}>>
  func.return %c : tensor<?x!quant.uniform<u8:f32:0, {0.5,0.25,0.125}>>
}
}
