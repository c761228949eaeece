// RUN: OPT %s -p fold-layout | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-layout
// RUN: OPT %s -p fold-layout --check-numerics -o /dev/null

// CHECK-LABEL: func.func @transposes(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @transposes(%x: tensor<2x3x5xf32>) -> tensor<3x2x5xf32> {
  %a = onnx.Transpose(%x) {perm = array<i64: 2, 0, 1>} : (tensor<2x3x5xf32>) -> tensor<5x2x3xf32>
  %b = onnx.Transpose(%a) {perm = array<i64: 2, 1, 0>} : (tensor<5x2x3xf32>) -> tensor<3x2x5xf32>
  func.return %b : tensor<3x2x5xf32>
}

// There and back, by default from the last axis to the first; another user keeps what stands between.

// CHECK-LABEL: func.func @there_and_back(
// CHECK-NEXT: %[[A:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: func.return %[[A]], %x
func.func @there_and_back(%x: tensor<?x3x5xf32>) -> (tensor<5x3x?xf32>, tensor<?x3x5xf32>) {
  %a = onnx.Transpose(%x) : (tensor<?x3x5xf32>) -> tensor<5x3x?xf32>
  %b = onnx.Transpose(%a) {perm = array<i64: 2, 1, 0>} : (tensor<5x3x?xf32>) -> tensor<?x3x5xf32>
  func.return %a, %b : tensor<5x3x?xf32>, tensor<?x3x5xf32>
}

// Quantized along an axis: the types say where the scales went.

// CHECK-LABEL: func.func @quantized(
// CHECK-NEXT: func.return %x
func.func @quantized(%x: tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>> {
  %a = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>
  %b = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<3x2x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>
  func.return %b : tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>
}

// Integers that were moved and are not any more are what they were read from.

// CHECK-LABEL: func.func @readings(
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %x
// CHECK-NEXT: func.return %[[Y]]
func.func @readings(%x: tensor<2x3x!quant.uniform<i16:f32, 0.5:7>>) -> tensor<2x3xf32> {
  %i = quant.scast %x : tensor<2x3x!quant.uniform<i16:f32, 0.5:7>> to tensor<2x3xi16>
  %a = onnx.Transpose(%i) : (tensor<2x3xi16>) -> tensor<3x2xi16>
  %b = onnx.Transpose(%a) : (tensor<3x2xi16>) -> tensor<2x3xi16>
  %q = quant.scast %b : tensor<2x3xi16> to tensor<2x3x!quant.uniform<i16:f32, 0.5:7>>
  %y = quant.dcast %q : tensor<2x3x!quant.uniform<i16:f32, 0.5:7>> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Axes of size 1 that come, move and go.

// CHECK-LABEL: func.func @reshapes(
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[-1, 1, 3, 5] : tensor<4xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%x, %[[S]]) : (tensor<?x3x5xf32>, tensor<4xi64>) -> tensor<?x1x3x5xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @reshapes(%x: tensor<?x3x5xf32>) -> tensor<?x1x3x5xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Unsqueeze(%x, %k) : (tensor<?x3x5xf32>, tensor<1xi64>) -> tensor<?x3x5x1xf32>
  %b = onnx.Transpose(%a) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x3x5x1xf32>) -> tensor<?x1x3x5xf32>
  func.return %b : tensor<?x1x3x5xf32>
}

// CHECK-LABEL: func.func @nothing_left(
// CHECK-NEXT: func.return %x
func.func @nothing_left(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Flatten(%x) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<1x6xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %b = onnx.Reshape(%a, %s) : (tensor<1x6xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// The other user is one move that does nothing, found after this: what is left alone with the value is looked at again.

// CHECK-LABEL: func.func @left_alone(
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 1] : tensor<2xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%x, %[[S]])
// CHECK-NEXT: func.return %[[Y]], %x
func.func @left_alone(%x: tensor<1x3xf32>) -> (tensor<3x1xf32>, tensor<1x3xf32>) {
  %k = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Squeeze(%x, %k) : (tensor<1x3xf32>, tensor<1xi64>) -> tensor<3xf32>
  %b = onnx.Flatten(%a) {axis = 1 : i64} : (tensor<3xf32>) -> tensor<3x1xf32>
  %c = onnx.Flatten(%a) {axis = 0 : i64} : (tensor<3xf32>) -> tensor<1x3xf32>
  func.return %b, %c : tensor<3x1xf32>, tensor<1x3xf32>
}

// Somebody else takes what stands between: two moves stay two.

// CHECK-LABEL: func.func @unmoved_shared(
// CHECK: %[[A:.*]] = onnx.Unsqueeze(%x
// CHECK: %[[B:.*]] = onnx.Flatten(%[[A]])
func.func @unmoved_shared(%x: tensor<2x3x5xf32>) -> (tensor<2x1x3x5xf32>, tensor<2x15xf32>) {
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Unsqueeze(%x, %k) : (tensor<2x3x5xf32>, tensor<1xi64>) -> tensor<2x1x3x5xf32>
  %b = onnx.Flatten(%a) {axis = 1 : i64} : (tensor<2x1x3x5xf32>) -> tensor<2x15xf32>
  func.return %a, %b : tensor<2x1x3x5xf32>, tensor<2x15xf32>
}

// Two sizes are not known.

// CHECK-LABEL: func.func @unmoved_unknown_sizes(
// CHECK: onnx.Unsqueeze(
// CHECK: onnx.Transpose(
func.func @unmoved_unknown_sizes(%x: tensor<?x?x5xf32>) -> tensor<?x1x?x5xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Unsqueeze(%x, %k) : (tensor<?x?x5xf32>, tensor<1xi64>) -> tensor<?x?x5x1xf32>
  %b = onnx.Transpose(%a) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x?x5x1xf32>) -> tensor<?x1x?x5xf32>
  func.return %b : tensor<?x1x?x5xf32>
}

// An axis of more than one element moves.

// CHECK-LABEL: func.func @unmoved_axis(
// CHECK: onnx.Transpose(
// CHECK: onnx.Reshape(
func.func @unmoved_axis(%x: tensor<2x3x5xf32>) -> tensor<3x10xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[3, 10] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Transpose(%x) {perm = array<i64: 1, 0, 2>} : (tensor<2x3x5xf32>) -> tensor<3x2x5xf32>
  %b = onnx.Reshape(%a, %s) : (tensor<3x2x5xf32>, tensor<2xi64>) -> tensor<3x10xf32>
  func.return %b : tensor<3x10xf32>
}

// Two quantizes are one when what is moved between them is back in place.

// CHECK-LABEL: func.func @quantized_alike(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]]
// CHECK-NEXT: func.return %[[Q]], %[[Q]]
func.func @quantized_alike(%q: tensor<1x3x!quant.uniform<u8:f32, 0.5>>) -> (tensor<1x3x!quant.uniform<u8:f32, 0.25>>, tensor<1x3x!quant.uniform<u8:f32, 0.25>>) {
  %k = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %a = onnx.Squeeze(%q, %k) : (tensor<1x3x!quant.uniform<u8:f32, 0.5>>, tensor<1xi64>) -> tensor<3x!quant.uniform<u8:f32, 0.5>>
  %b = onnx.Unsqueeze(%a, %k) : (tensor<3x!quant.uniform<u8:f32, 0.5>>, tensor<1xi64>) -> tensor<1x3x!quant.uniform<u8:f32, 0.5>>
  %r = quant.dcast %b : tensor<1x3x!quant.uniform<u8:f32, 0.5>> to tensor<1x3xf32>
  %s = quant.qcast %r : tensor<1x3xf32> to tensor<1x3x!quant.uniform<u8:f32, 0.25>>
  %t = quant.dcast %q : tensor<1x3x!quant.uniform<u8:f32, 0.5>> to tensor<1x3xf32>
  %u = quant.qcast %t : tensor<1x3xf32> to tensor<1x3x!quant.uniform<u8:f32, 0.25>>
  func.return %s, %u : tensor<1x3x!quant.uniform<u8:f32, 0.25>>, tensor<1x3x!quant.uniform<u8:f32, 0.25>>
}

// The axes as an operand.

// CHECK-LABEL: func.func @reduced_by_operand(
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 2] : tensor<2xi64>>}
// CHECK-NEXT: onnx.ReduceMin(%x, %[[A]]) {{.*}} -> tensor<3xf32>
func.func @reduced_by_operand(%x: tensor<2x3x5xf32>) -> tensor<3xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[-1, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a = onnx.Transpose(%x) {perm = array<i64: 2, 1, 0>} : (tensor<2x3x5xf32>) -> tensor<5x3x2xf32>
  %r = onnx.ReduceMin(%a, %k) {keepdims = 0 : i64} : (tensor<5x3x2xf32>, tensor<2xi64>) -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// Integers are turned as reals are, but for scales along an axis.

// CHECK-LABEL: func.func @reduced_integers(
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK-NEXT: onnx.ReduceMin(%q, %[[A]])
func.func @reduced_integers(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<2x!quant.uniform<u8:f32, 0.02:7>> {
  %k = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:7>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>
  %r = onnx.ReduceMin(%t, %k) {keepdims = 0 : i64} : (tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>, tensor<1xi64>) -> tensor<2x!quant.uniform<u8:f32, 0.02:7>>
  func.return %r : tensor<2x!quant.uniform<u8:f32, 0.02:7>>
}

// CHECK-LABEL: func.func @unmoved_scales_along_an_axis(
// CHECK: %[[T:.*]] = onnx.Transpose(%q)
// CHECK-NEXT: onnx.ReduceMin(%[[T]], %{{.*}})
func.func @unmoved_scales_along_an_axis(%q: tensor<2x3x!quant.uniform<u8:f32:1, {0.02:7,0.03:7,0.04:7}>>) -> tensor<3x!quant.uniform<u8:f32:0, {0.02:7,0.03:7,0.04:7}>> {
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<u8:f32:1, {0.02:7,0.03:7,0.04:7}>>) -> tensor<3x2x!quant.uniform<u8:f32:0, {0.02:7,0.03:7,0.04:7}>>
  %r = onnx.ReduceMin(%t, %k) {keepdims = 0 : i64} : (tensor<3x2x!quant.uniform<u8:f32:0, {0.02:7,0.03:7,0.04:7}>>, tensor<1xi64>) -> tensor<3x!quant.uniform<u8:f32:0, {0.02:7,0.03:7,0.04:7}>>
  func.return %r : tensor<3x!quant.uniform<u8:f32:0, {0.02:7,0.03:7,0.04:7}>>
}

// CHECK-LABEL: func.func @unmoved_axes_change_places(
// CHECK: onnx.Transpose
// CHECK: onnx.Transpose
func.func @unmoved_axes_change_places(%x: tensor<2x3x5xf32>) -> (tensor<5x3xf32>, tensor<2x1x3xf32>) {
  %a = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %k1 = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  // expected-remark@+1 {{the axes that are not reduced would be permuted [fold-layout: axes-change-places]}}
  %r = onnx.ReduceMax(%a, %k1) {keepdims = 0 : i64} : (tensor<2x5x3xf32>, tensor<1xi64>) -> tensor<5x3xf32>
  %b = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
  %k2 = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  // expected-remark@+1 {{the axes that are not reduced would be permuted [fold-layout: axes-change-places]}}
  %s = onnx.ReduceMax(%b, %k2) : (tensor<2x5x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  func.return %r, %s : tensor<5x3xf32>, tensor<2x1x3xf32>
}

// Turned in two ways, read elsewhere, or a row that stands along another axis then: no op is rebuilt.

// CHECK-LABEL: func.func @unmoved_turned_apart(
// CHECK-COUNT-4: onnx.Transpose
func.func @unmoved_turned_apart(%x: tensor<3x3x3xf32>, %k: tensor<3xf32>) -> (tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3x3xf32>) {
  %a = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %b = onnx.Transpose(%x) {perm = array<i64: 2, 0, 1>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %m = onnx.Mul(%a, %b) : (tensor<3x3x3xf32>, tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %k3 = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = onnx.ReduceMax(%m, %k3) {keepdims = 0 : i64} : (tensor<3x3x3xf32>, tensor<1xi64>) -> tensor<3x3xf32>
  %c = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %e = onnx.Erf(%c) : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %k4 = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %s = onnx.ReduceMax(%e, %k4) {keepdims = 0 : i64} : (tensor<3x3x3xf32>, tensor<1xi64>) -> tensor<3x3xf32>
  %d = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<3x3x3xf32>) -> tensor<3x3x3xf32>
  %n = onnx.Mul(%d, %k) : (tensor<3x3x3xf32>, tensor<3xf32>) -> tensor<3x3x3xf32>
  %k5 = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %t = onnx.ReduceMax(%n, %k5) {keepdims = 0 : i64} : (tensor<3x3x3xf32>, tensor<1xi64>) -> tensor<3x3xf32>
  func.return %r, %s, %t, %e : tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3xf32>, tensor<3x3x3xf32>
}

// What is odd is cut off, or added, behind. An optimizing session cannot move a Transpose past a Pad with axes.

// CHECK-LABEL: func.func @centered(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK: %[[E:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>}
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>}
// CHECK: %[[C:.*]] = onnx.Slice(%x, %[[S]], %[[E]], %[[A]], _) : (tensor<5x3x?x7xf32>, {{.*}}) -> tensor<2x3x?x7xf32>
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 0, 0, 2, 0, 0] : tensor<8xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Pad(%[[C]], %[[P]], _, _) : (tensor<2x3x?x7xf32>, tensor<8xi64>) -> tensor<2x6x?x7xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @centered(%x: tensor<5x3x?x7xf32>) -> tensor<2x6x?x7xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[6, 2, 7] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.CenterCropPad(%x, %c) {axes = array<i64: 1, -4, 3>} : (tensor<5x3x?x7xf32>, tensor<3xi64>) -> tensor<2x6x?x7xf32>
  func.return %y : tensor<2x6x?x7xf32>
}

// CHECK-LABEL: func.func @pad_of_some_axes(
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 0, 1, 4, 0, -2] : tensor<6xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Pad(%x, %[[P]], %v, _) {mode = "constant"} : (tensor<2x3x5xf32>, tensor<6xi64>, tensor<f32>) -> tensor<9x3x4xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @pad_of_some_axes(%x: tensor<2x3x5xf32>, %v: tensor<f32>) -> tensor<9x3x4xf32> {
  %p = onnx.Constant() {value = #onnx.tensor<[1, 3, -2, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %a = onnx.Constant() {value = #onnx.tensor<[-1, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Pad(%x, %p, %v, %a) {mode = "constant"} : (tensor<2x3x5xf32>, tensor<4xi64>, tensor<f32>, tensor<2xi64>) -> tensor<9x3x4xf32>
  func.return %y : tensor<9x3x4xf32>
}

// A factor beside an unknown size; sizes become factors that give them again.

// CHECK-LABEL: func.func @resize_of_some_axes(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.5, 0.5] : tensor<4xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Resize(%x, _, %[[S]], _) {mode = "linear"} : (tensor<?x3x4x6xf32>, tensor<4xf32>) -> tensor<?x3x10x3xf32>
// CHECK: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 3.0, 1.0] : tensor<4xf32>>}
// CHECK-NEXT: %[[Z:.*]] = onnx.Resize(%x, _, %[[T]], _) : (tensor<?x3x4x6xf32>, tensor<4xf32>) -> tensor<?x3x12x6xf32>
// CHECK-NEXT: func.return %[[Y]], %[[Z]]
func.func @resize_of_some_axes(%x: tensor<?x3x4x6xf32>) -> (tensor<?x3x10x3xf32>, tensor<?x3x12x6xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 2.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.Resize(%x, _, %s) {axes = array<i64: 3, -2>, mode = "linear"} : (tensor<?x3x4x6xf32>, tensor<2xf32>) -> tensor<?x3x10x3xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[12] : tensor<1xi64>>} : () -> tensor<1xi64>
  %z = onnx.Resize(%x, _, _, %n) {axes = array<i64: 2>} : (tensor<?x3x4x6xf32>, tensor<1xi64>) -> tensor<?x3x12x6xf32>
  func.return %y, %z : tensor<?x3x10x3xf32>, tensor<?x3x12x6xf32>
}

// Sizes known at run time alone: those of the other axes stand beside them.

// CHECK-LABEL: func.func @open_sizes(
// CHECK: %[[S:.*]] = onnx.Shape(%x) : (tensor<?x3x?xf32>) -> tensor<3xi64>
// CHECK-NEXT: %[[C:.*]] = onnx.Concat(%[[S]], %c) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<5xi64>
// CHECK-NEXT: %[[I:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 4, 3] : tensor<3xi64>>}
// CHECK-NEXT: %[[N:.*]] = onnx.Gather(%[[C]], %[[I]]) : (tensor<5xi64>, tensor<3xi64>) -> tensor<3xi64>
// CHECK-NEXT: %[[Y:.*]] = onnx.CenterCropPad(%x, %[[N]]) : (tensor<?x3x?xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
// CHECK: %[[K:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0, 0, 0] : tensor<6xi64>>}
// CHECK-NEXT: %[[D:.*]] = onnx.Concat(%[[K]], %p)
// CHECK-NEXT: %[[J:.*]] = onnx.Constant() {value = #onnx.tensor<[6, 1, 2, 7, 4, 5] : tensor<6xi64>>}
// CHECK-NEXT: %[[P:.*]] = onnx.Gather(%[[D]], %[[J]])
// CHECK-NEXT: %[[Z:.*]] = onnx.Pad(%x, %[[P]], _, _) : (tensor<?x3x?xf32>, tensor<6xi64>) -> tensor<?x3x?xf32>
// CHECK: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<[2, 3, 7] : tensor<3xi64>>}
// CHECK-NEXT: %[[V:.*]] = onnx.Resize(%w, _, _, %[[T]]) : (tensor<2x3x5xf32>, tensor<3xi64>) -> tensor<2x3x7xf32>
// CHECK: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0] : tensor<3xf32>>}
// CHECK-NEXT: %[[E:.*]] = onnx.Concat(%[[O]], %f)
// CHECK: %[[L:.*]] = onnx.Gather(%[[E]], %{{.*}}) : (tensor<4xf32>, tensor<3xi64>) -> tensor<3xf32>
// CHECK-NEXT: %[[U:.*]] = onnx.Resize(%x, _, %[[L]], _) : (tensor<?x3x?xf32>, tensor<3xf32>) -> tensor<?x3x?xf32>
// CHECK-NEXT: func.return %[[Y]], %[[Z]], %[[V]], %[[U]]
func.func @open_sizes(%x: tensor<?x3x?xf32>, %w: tensor<2x3x5xf32>, %p: tensor<2xi64>, %f: tensor<1xf32>) -> (tensor<?x2x4xf32>, tensor<?x3x?xf32>, tensor<2x3x7xf32>, tensor<?x3x?xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[4, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.CenterCropPad(%x, %c) {axes = array<i64: -1, 1>} : (tensor<?x3x?xf32>, tensor<2xi64>) -> tensor<?x2x4xf32>
  %a = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %z = onnx.Pad(%x, %p, _, %a) : (tensor<?x3x?xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<?x3x?xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[7] : tensor<1xi64>>} : () -> tensor<1xi64>
  %v = onnx.Resize(%w, _, _, %n) {axes = array<i64: 2>} : (tensor<2x3x5xf32>, tensor<1xi64>) -> tensor<2x3x7xf32>
  %u = onnx.Resize(%x, _, %f) {axes = array<i64: 2>} : (tensor<?x3x?xf32>, tensor<1xf32>) -> tensor<?x3x?xf32>
  func.return %y, %z, %v, %u : tensor<?x2x4xf32>, tensor<?x3x?xf32>, tensor<2x3x7xf32>, tensor<?x3x?xf32>
}

// -----

// A chain of elementwise ops on operands that are turned alike, as a Gelu in front of a global pool: reduced along the
// axis that it was in front of the Transposes.

// CHECK-LABEL: func.func @reduced(
// CHECK-NOT: onnx.Transpose
// CHECK: %[[E:.*]] = onnx.Erf(%y) : (tensor<?x3x5xf32>) -> tensor<?x3x5xf32>
// CHECK-NEXT: %[[H:.*]] = onnx.Mul(%x, %{{.*}}) : (tensor<?x3x5xf32>, tensor<f32>) -> tensor<?x3x5xf32>
// CHECK-NEXT: %[[M:.*]] = onnx.Mul(%[[H]], %[[E]]) : {{.*}} -> tensor<?x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = onnx.ReduceMax(%[[M]], _) {axes = array<i64: 2>, keepdims = 0 : i64} : {{.*}} -> tensor<?x3xf32>
// CHECK-NEXT: func.return %[[R]]
builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}} {
  func.func @reduced(%x: tensor<?x3x5xf32>, %y: tensor<?x3x5xf32>) -> tensor<?x3xf32> {
    %k = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %a = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<?x3x5xf32>) -> tensor<?x5x3xf32>
    %b = onnx.Transpose(%y) {perm = array<i64: 0, 2, 1>} : (tensor<?x3x5xf32>) -> tensor<?x5x3xf32>
    %h = onnx.Mul(%a, %k) : (tensor<?x5x3xf32>, tensor<f32>) -> tensor<?x5x3xf32>
    %e = onnx.Erf(%b) : (tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
    %m = onnx.Mul(%h, %e) : (tensor<?x5x3xf32>, tensor<?x5x3xf32>) -> tensor<?x5x3xf32>
    %r = onnx.ReduceMax(%m, _) {axes = array<i64: 1>, keepdims = 0 : i64} : (tensor<?x5x3xf32>) -> tensor<?x3xf32>
    func.return %r : tensor<?x3xf32>
  }
}
