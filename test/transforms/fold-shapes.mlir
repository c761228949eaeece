// RUN: OPT %s -p fold-shapes | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-shapes

builtin.module attributes {onnx.opset_import = {ai.onnx = 15 : i64}} {
// CHECK-LABEL: func.func @known(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>}
// CHECK: %[[N:.*]] = onnx.Constant() {value = #onnx.tensor<[6] : tensor<i64>>}
// CHECK-NEXT: func.return %[[S]], %[[N]]
  func.func @known(%x: tensor<2x3xf32>) -> (tensor<2xi64>, tensor<i64>) {
    %s = onnx.Shape(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    %n = onnx.Size(%x) : (tensor<2x3xf32>) -> tensor<i64>
    func.return %s, %n : tensor<2xi64>, tensor<i64>
  }

// The sizes of a Pad whose amounts are computed from sizes, by an op that is not followed one by one, are used at once.

// CHECK-LABEL: func.func @computed_amounts(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 5] : tensor<2xi64>>}
// CHECK-NEXT: func.return %{{.*}}, %[[S]]
  func.func @computed_amounts(%x: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<2xi64>) {
    %none = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
    %wanted = onnx.Constant() {value = #onnx.tensor<[3, 5] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    %d = onnx.Sub(%s, %wanted) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %a = onnx.Abs(%d) : (tensor<2xi64>) -> tensor<2xi64>
    %p = onnx.Concat(%none, %a) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %y = onnx.Pad(%x, %p) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    %t = onnx.Shape(%y) : (tensor<?x?xf32>) -> tensor<2xi64>
    func.return %y, %t : tensor<?x?xf32>, tensor<2xi64>
  }

// A single axis may be stated as a number, as in ONNX's own definition of AffineGrid.

// CHECK-LABEL: func.func @axis_without_list(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK: func.return %{{.*}}, %[[S]]
  func.func @axis_without_list(%x: tensor<?x3xf32>) -> (tensor<?x?x?xf32>, tensor<1xi64>) {
    %last = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<i64>>} : () -> tensor<i64>
    %two = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
    %y = onnx.Unsqueeze(%x, %last) : (tensor<?x3xf32>, tensor<i64>) -> tensor<?x?x?xf32>
    %s = onnx.Shape(%y) : (tensor<?x?x?xf32>) -> tensor<3xi64>
    %z = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
    func.return %y, %z : tensor<?x?x?xf32>, tensor<1xi64>
  }

// Of a list that is known in part: 12 / 4, behind a batch that is copied.

// CHECK-LABEL: func.func @in_part(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 3, 4] : tensor<3xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%x, %[[S]]) : (tensor<?x12xf32>, tensor<3xi64>) -> tensor<?x3x4xf32>
// CHECK-NEXT: func.return %[[Y]]
  func.func @in_part(%x: tensor<?x12xf32>) -> tensor<?x?x4xf32> {
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i64>>} : () -> tensor<i64>
    %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
    %four = onnx.Constant() {value = #onnx.tensor<[4] : tensor<i64>>} : () -> tensor<i64>
    %axes = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[4] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x12xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
    %c = onnx.Gather(%s, %one) {axis = 0 : i64} : (tensor<2xi64>, tensor<i64>) -> tensor<i64>
    %d = onnx.Div(%c, %four) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %e = onnx.Cast(%d) {to = 7 : i64} : (tensor<i64>) -> tensor<i64>
    %f = onnx.Unsqueeze(%n, %axes) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
    %g = onnx.Unsqueeze(%e, %axes) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
    %h = onnx.Concat(%f, %g, %last) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
    %y = onnx.Reshape(%x, %h) : (tensor<?x12xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
    func.return %y : tensor<?x?x4xf32>
  }

// The one size that is not known is somewhere else: it is inferred.

// CHECK-LABEL: func.func @inferred(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[4, -1] : tensor<2xi64>>}
// CHECK-NEXT: onnx.Reshape(%x, %[[S]])
  func.func @inferred(%x: tensor<?x4xf32>) -> tensor<4x?xf32> {
    %both = onnx.Constant() {value = #onnx.tensor<[1, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %both) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %y = onnx.Reshape(%x, %n) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<4x?xf32>
    func.return %y : tensor<4x?xf32>
  }

// The type of the result need not say as many sizes as the list does, or any.

// CHECK-LABEL: func.func @untold(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 1, 4] : tensor<3xi64>>}
// CHECK-NEXT: onnx.Reshape(%x, %[[S]])
  func.func @untold(%x: tensor<?x4xf32>) -> tensor<*xf32> {
    %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
    %a = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
    %m = onnx.Gather(%s, %a) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %o = onnx.Gather(%s, %k) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %n = onnx.Concat(%m, %k, %o) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<3xi64>
    %y = onnx.Reshape(%x, %n) : (tensor<?x4xf32>, tensor<3xi64>) -> tensor<*xf32>
    func.return %y : tensor<*xf32>
  }

// Two sizes that are not known: both stand where they stood, so 0 copies them.

// CHECK-LABEL: func.func @copied(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 3, 2] : tensor<4xi64>>}
// CHECK-NEXT: onnx.Reshape(%x, %[[S]])
  func.func @copied(%x: tensor<?x?x6xf32>) -> tensor<?x?x3x2xf32> {
    %two = onnx.Constant() {value = #onnx.tensor<[0, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x?x6xf32>) -> tensor<3xi64>
    %n = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %y = onnx.Reshape(%x, %h) : (tensor<?x?x6xf32>, tensor<4xi64>) -> tensor<?x?x3x2xf32>
    func.return %y : tensor<?x?x3x2xf32>
  }

// A size of the same name is the same size; one of 1 in the list of Expand keeps what is there.

// CHECK-LABEL: func.func @expanded(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 5] : tensor<2xi64>>}
// CHECK-NEXT: onnx.Expand(%y, %[[S]])
  func.func @expanded(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dims = ["n", ""]}, %y: tensor<?x1xf32> {onnx.name = "y", onnx.dims = ["n", ""]}) -> tensor<?x5xf32> {
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[5] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x3xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %z = onnx.Expand(%y, %h) : (tensor<?x1xf32>, tensor<2xi64>) -> tensor<?x5xf32>
    func.return %z : tensor<?x5xf32>
  }

// A size is never -1, so the list stays as it is.

// CHECK-LABEL: func.func @no_wildcard(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 4] : tensor<2xi64>>}
// CHECK-NEXT: onnx.Reshape(%x, %[[S]])
  func.func @no_wildcard(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %minus = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<i64>>} : () -> tensor<i64>
    %shape = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x4xf32>) -> tensor<2xi64>
    %ones = onnx.ConstantOfShape(%shape) {value = #onnx.tensor<[1] : tensor<1xi64>>} : (tensor<1xi64>) -> tensor<2xi64>
    %is = onnx.Equal(%s, %minus) : (tensor<2xi64>, tensor<i64>) -> tensor<2xi1>
    %t = onnx.Where(%is, %ones, %s) : (tensor<2xi1>, tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %y = onnx.Reshape(%x, %t) : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
    func.return %y : tensor<?x4xf32>
  }

// One element goes beside each of several; nothing times any size is nothing; a size is equal to itself, also plus or less
// nothing, times or by one.

// CHECK-LABEL: func.func @element_by_element(
// CHECK-DAG: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[6, 10] : tensor<2xi64>>}
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 15] : tensor<2xi64>>}
// CHECK-DAG: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[7, 7, 8] : tensor<3xi64>>}
// CHECK-DAG: %[[K:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK: func.return %[[A]], %[[B]], %[[C]], %[[K]]
  func.func @element_by_element(%x: tensor<?x3x5xf32> {onnx.name = "x", onnx.dims = ["n", "", ""]}) -> (tensor<2xi64>, tensor<2xi64>, tensor<3xi64>, tensor<1xi64>) {
    %two = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %ends = onnx.Constant() {value = #onnx.tensor<[0, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %by = onnx.Constant() {value = #onnx.tensor<[0, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
    %same = onnx.Constant() {value = #onnx.tensor<[0, 1, 2] : tensor<3xi64>>} : () -> tensor<3xi64>
    %other = onnx.Constant() {value = #onnx.tensor<[0, 1, 1] : tensor<3xi64>>} : () -> tensor<3xi64>
    %seven = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i64>>} : () -> tensor<i64>
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %twice = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
    %nothing = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i64>>} : () -> tensor<i64>
    %once = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
    %eight = onnx.Constant() {value = #onnx.tensor<[8] : tensor<i64>>} : () -> tensor<i64>
    %s = onnx.Shape(%x) : (tensor<?x3x5xf32>) -> tensor<3xi64>
    %g = onnx.Gather(%s, %last) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %a = onnx.Mul(%two, %g) : (tensor<1xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Gather(%s, %ends) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %b = onnx.Mul(%h, %by) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %l = onnx.Gather(%s, %same) {axis = 0 : i64} : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
    %r = onnx.Gather(%s, %other) {axis = 0 : i64} : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
    %l0 = onnx.Add(%nothing, %l) : (tensor<i64>, tensor<3xi64>) -> tensor<3xi64>
    %l1 = onnx.Sub(%l0, %nothing) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
    %l2 = onnx.Mul(%once, %l1) : (tensor<i64>, tensor<3xi64>) -> tensor<3xi64>
    %l3 = onnx.Div(%l2, %once) : (tensor<3xi64>, tensor<i64>) -> tensor<3xi64>
    %e = onnx.Equal(%l3, %r) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi1>
    %c = onnx.Where(%e, %seven, %eight) : (tensor<3xi1>, tensor<i64>, tensor<i64>) -> tensor<3xi64>
    %n = onnx.Gather(%s, %twice) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %m = onnx.Mul(%n, %last) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
    %i = onnx.Equal(%n, %m) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
    %j = onnx.Cast(%i) {to = 7 : i64} : (tensor<2xi1>) -> tensor<2xi64>
    %k = onnx.Gather(%j, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    func.return %a, %b, %c, %k : tensor<2xi64>, tensor<2xi64>, tensor<3xi64>, tensor<1xi64>
  }

// Two sizes change their places: no list of integers says so.

// CHECK-LABEL: func.func @unmoved_two_unknown(
// CHECK: onnx.Shape(
// CHECK: onnx.Reshape(
  func.func @unmoved_two_unknown(%x: tensor<?x?x6xf32>) -> tensor<?x?x3x2xf32> {
    %two = onnx.Constant() {value = #onnx.tensor<[1, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x?x6xf32>) -> tensor<3xi64>
    %n = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %y = onnx.Reshape(%x, %h) : (tensor<?x?x6xf32>, tensor<4xi64>) -> tensor<?x?x3x2xf32>
    func.return %y : tensor<?x?x3x2xf32>
  }

// 0 is a size of its own here: none is copied, but -1 stands beside sizes other than 0.

// CHECK-LABEL: func.func @allowzero(
// CHECK: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-1, 3, 2] : tensor<3xi64>>}
// CHECK: onnx.Reshape(%x, %[[L]]) {allowzero = 1 : i64}
  func.func @allowzero(%x: tensor<?x6xf32>) -> tensor<?x3x2xf32> {
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x6xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
    %y = onnx.Reshape(%x, %h) {allowzero = 1 : i64} : (tensor<?x6xf32>, tensor<3xi64>) -> tensor<?x3x2xf32>
    func.return %y : tensor<?x3x2xf32>
  }

// Sizes of an image that are known are factors of it; the batch stays as it is.

// CHECK-LABEL: func.func @scales(
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.5, 0.75] : tensor<4xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Resize(%x, _, %[[S]]{{(, _)?}}) {mode = "linear"} : (tensor<?x3x4x8xf32>, tensor<4xf32>) -> tensor<?x3x10x6xf32>
// CHECK-NEXT: func.return %[[Y]]
  func.func @scales(%x: tensor<?x3x4x8xf32>) -> tensor<?x3x10x6xf32> {
    %two = onnx.Constant() {value = #onnx.tensor<[0, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[10, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x3x4x8xf32>) -> tensor<4xi64>
    %n = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %y = onnx.Resize(%x, _, _, %h) {mode = "linear"} : (tensor<?x3x4x8xf32>, tensor<4xi64>) -> tensor<?x3x10x6xf32>
    func.return %y : tensor<?x3x10x6xf32>
  }

// 31 / 7 in float32 is less, and 7 times that is 30, rounded down; another tensor's batch may be another.

// CHECK-LABEL: func.func @unmoved_scales(
// CHECK-NOT: onnx.Resize(%{{.*}}, _, %{{[0-9]+}}) {mode
// CHECK: func.return
  func.func @unmoved_scales(%x: tensor<?x3x7xf32>, %z: tensor<?x3x5xf32>) -> (tensor<?x3x31xf32>, tensor<?x3x14xf32>) {
    %two = onnx.Constant() {value = #onnx.tensor<[0, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
    %l = onnx.Constant() {value = #onnx.tensor<[31] : tensor<1xi64>>} : () -> tensor<1xi64>
    %m = onnx.Constant() {value = #onnx.tensor<[14] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x3x7xf32>) -> tensor<3xi64>
    %t = onnx.Shape(%z) : (tensor<?x3x5xf32>) -> tensor<3xi64>
    %n = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %o = onnx.Gather(%t, %two) {axis = 0 : i64} : (tensor<3xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Concat(%n, %l) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
    %i = onnx.Concat(%o, %m) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<3xi64>
    %a = onnx.Resize(%x, _, _, %h) {mode = "linear"} : (tensor<?x3x7xf32>, tensor<3xi64>) -> tensor<?x3x31xf32>
    %b = onnx.Resize(%x, _, _, %i) {mode = "linear"} : (tensor<?x3x7xf32>, tensor<3xi64>) -> tensor<?x3x14xf32>
    func.return %a, %b : tensor<?x3x31xf32>, tensor<?x3x14xf32>
  }
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 15 : i64}} {
// A batch is followed through ops that keep it: behind the product it is that of Shape, and 3 is what is left.

// CHECK-LABEL: func.func @followed(
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 5, -1, 4] : tensor<4xi64>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Reshape(%{{.*}}, %[[P]]) : (tensor<?x5x12xf32>, tensor<4xi64>) -> tensor<?x5x3x4xf32>
// CHECK-NEXT: func.return %[[Y]]
  func.func @followed(%x: tensor<?x8x5xf32>, %w: tensor<8x12xf32>, %b: tensor<12xf32>) -> tensor<?x5x?x4xf32> {
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %rest = onnx.Constant() {value = #onnx.tensor<[5, -1, 4] : tensor<3xi64>>} : () -> tensor<3xi64>
    %t = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<?x8x5xf32>) -> tensor<?x5x8xf32>
    %l = onnx.Softmax(%t) {axis = -1 : i64} : (tensor<?x5x8xf32>) -> tensor<?x5x8xf32>
    %s = onnx.Shape(%l) : (tensor<?x5x8xf32>) -> tensor<3xi64>
    %n = onnx.Gather(%s, %zero) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
    %h = onnx.Concat(%n, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<3xi64>) -> tensor<4xi64>
    %m = onnx.MatMul(%l, %w) : (tensor<?x5x8xf32>, tensor<8x12xf32>) -> tensor<?x5x12xf32>
    %a = onnx.Add(%b, %m) : (tensor<12xf32>, tensor<?x5x12xf32>) -> tensor<?x5x12xf32>
    %y = onnx.Reshape(%a, %h) : (tensor<?x5x12xf32>, tensor<4xi64>) -> tensor<?x5x?x4xf32>
    func.return %y : tensor<?x5x?x4xf32>
  }

// Either of two batches may be 1 and broadcast.

// CHECK-LABEL: func.func @unmoved_two_batches(
// CHECK: %[[H:.*]] = onnx.Concat
// CHECK: onnx.Reshape(%{{.*}}, %[[H]])
  func.func @unmoved_two_batches(%x: tensor<?x12xf32>, %z: tensor<?x12xf32>) -> tensor<?x?x4xf32> {
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %rest = onnx.Constant() {value = #onnx.tensor<[-1, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x12xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %zero) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %h = onnx.Concat(%n, %rest) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
    %a = onnx.Add(%x, %z) : (tensor<?x12xf32>, tensor<?x12xf32>) -> tensor<?x12xf32>
    %y = onnx.Reshape(%a, %h) : (tensor<?x12xf32>, tensor<3xi64>) -> tensor<?x?x4xf32>
    func.return %y : tensor<?x?x4xf32>
  }

// What exporters write for the pads of a size: pairs in the reverse order, (7 - 24 % 7) % 7 at the end.

// CHECK-LABEL: func.func @pads(
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 4] : tensor<4xi64>>}
// CHECK-NEXT: onnx.Pad(%x, %[[P]], _, _) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x28xf32>
  func.func @pads(%x: tensor<?x24xf32>) -> tensor<?x?xf32> {
    %at = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
    %seven = onnx.Constant() {value = #onnx.tensor<[7] : tensor<1xi64>>} : () -> tensor<1xi64>
    %zeros = onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
    %zero = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %pairs = onnx.Constant() {value = #onnx.tensor<[-1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %flat = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
    %low = onnx.Constant() {value = #onnx.tensor<[-9223372036854775807] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x24xf32>) -> tensor<2xi64>
    %c = onnx.Gather(%s, %at) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %r = onnx.Mod(%c, %seven) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %d = onnx.Sub(%seven, %r) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %e = onnx.Mod(%d, %seven) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    %l = onnx.Concat(%zero, %e, %zeros) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>, tensor<2xi64>) -> tensor<4xi64>
    %p = onnx.Reshape(%l, %pairs) : (tensor<4xi64>, tensor<2xi64>) -> tensor<2x2xi64>
    %v = onnx.Slice(%p, %flat, %low, %zero, %flat) : (tensor<2x2xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xi64>
    %t = onnx.Transpose(%v) {perm = array<i64: 1, 0>} : (tensor<2x2xi64>) -> tensor<2x2xi64>
    %q = onnx.Reshape(%t, %flat) : (tensor<2x2xi64>, tensor<1xi64>) -> tensor<4xi64>
    %y = onnx.Pad(%x, %q) : (tensor<?x24xf32>, tensor<4xi64>) -> tensor<?x?xf32>
    func.return %y : tensor<?x?xf32>
  }
}

// -----

// The sizes are a frame that the image has to fit in.

builtin.module attributes {onnx.opset_import = {ai.onnx = 18 : i64}} {
// CHECK-LABEL: func.func @unmoved_ratio(
// CHECK: onnx.Concat
  func.func @unmoved_ratio(%x: tensor<?x3x7x8xf32>) -> tensor<?x3x?x?xf32> {
    %two = onnx.Constant() {value = #onnx.tensor<[0, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
    %last = onnx.Constant() {value = #onnx.tensor<[14, 12] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x3x7x8xf32>) -> tensor<4xi64>
    %n = onnx.Gather(%s, %two) {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
    %h = onnx.Concat(%n, %last) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> tensor<4xi64>
    %y = onnx.Resize(%x, _, _, %h) {mode = "linear", keep_aspect_ratio_policy = "not_larger"} : (tensor<?x3x7x8xf32>, tensor<4xi64>) -> tensor<?x3x?x?xf32>
    func.return %y : tensor<?x3x?x?xf32>
  }

// Types that follow from nothing that is learnt here stay as they are.

// CHECK-LABEL: func.func @unmoved_other_types(
// CHECK: onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<?x3xf32>
  func.func @unmoved_other_types(%x: tensor<2x3xf32>) -> (tensor<?x3xf32>, tensor<2xi64>) {
    %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<?x3xf32>
    %s = onnx.Shape(%x) : (tensor<2x3xf32>) -> tensor<2xi64>
    func.return %y, %s : tensor<?x3xf32>, tensor<2xi64>
  }
}

// -----

// Two sizes are left to the run: the list stays, and the result has the others.

builtin.module attributes {onnx.opset_import = {ai.onnx = 14 : i64}} {
// CHECK-LABEL: func.func @partly_known(
// CHECK: onnx.Reshape(%x, %{{.*}}) : (tensor<?x14x?x32xf32>, tensor<3xi64>) -> tensor<?x?x32xf32>
// CHECK-NEXT: onnx.Relu(%{{.*}}) : (tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  func.func @partly_known(%x: tensor<?x14x?x32xf32>) -> tensor<*xf32> {
    %k = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
    %free = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x14x?x32xf32>) -> tensor<4xi64>
    %c = onnx.Gather(%s, %k) {axis = 0 : i64} : (tensor<4xi64>, tensor<2xi64>) -> tensor<2xi64>
    %l = onnx.Concat(%free, %c) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
    %y = onnx.Reshape(%x, %l) : (tensor<?x14x?x32xf32>, tensor<3xi64>) -> tensor<*xf32>
    %z = onnx.Relu(%y) : (tensor<*xf32>) -> tensor<*xf32>
    func.return %z : tensor<*xf32>
  }

// With `allowzero`, -1 beside a size of 0 could be any.

// CHECK-LABEL: func.func @unmoved_zeros(
// CHECK: onnx.Concat
// CHECK: onnx.Reshape
  func.func @unmoved_zeros(%x: tensor<?x0x3xf32>) -> tensor<?x0x3xf32> {
    %f = onnx.Flatten(%x) {axis = 1 : i64} : (tensor<?x0x3xf32>) -> tensor<?x0xf32>
    %k = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %r = onnx.Constant() {value = #onnx.tensor<[0, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
    %s = onnx.Shape(%x) : (tensor<?x0x3xf32>) -> tensor<3xi64>
    %c = onnx.Gather(%s, %k) {axis = 0 : i64} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
    %l = onnx.Concat(%c, %r) {axis = 0 : i64} : (tensor<1xi64>, tensor<2xi64>) -> tensor<3xi64>
    %y = onnx.Reshape(%f, %l) {allowzero = 1 : i64} : (tensor<?x0xf32>, tensor<3xi64>) -> tensor<?x0x3xf32>
    func.return %y : tensor<?x0x3xf32>
  }
}

// -----

// A tensor filled by a list that is known in part has the sizes that are known.

builtin.module attributes {onnx.opset_import = {ai.onnx = 14 : i64}} {
// CHECK-LABEL: func.func @filled(
// CHECK: onnx.ConstantOfShape(%{{.*}}) : (tensor<2xi64>) -> tensor<?x1xf32>
// CHECK-NEXT: onnx.Relu(%{{.*}}) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  func.func @filled(%x: tensor<?x6xf32>) -> tensor<*xf32> {
    %k = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %one = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
    %s = onnx.Shape(%x) : (tensor<?x6xf32>) -> tensor<2xi64>
    %n = onnx.Gather(%s, %k) {axis = 0 : i64} : (tensor<2xi64>, tensor<1xi64>) -> tensor<1xi64>
    %l = onnx.Concat(%n, %one) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
    %y = onnx.ConstantOfShape(%l) : (tensor<2xi64>) -> tensor<?x?xf32>
    %z = onnx.Relu(%y) : (tensor<?x?xf32>) -> tensor<*xf32>
    func.return %z : tensor<*xf32>
  }
}

// -----

// What a scale of zero dequantizes is zeros, of a size that is known here; of another scale the integers are.
// CHECK-LABEL: func.func @zeros_of_a_known_size(
// CHECK-NOT: onnx.Shape
// CHECK-NOT: onnx.DequantizeLinear
// CHECK: onnx.Expand
// CHECK-LABEL: func.func @unmoved_other_scale(
// CHECK: onnx.DequantizeLinear
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @zeros_of_a_known_size(%q: tensor<3x4xi8>) -> tensor<3x4xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
    %y = onnx.DequantizeLinear(%q, %s, _) : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
    func.return %y : tensor<3x4xf32>
  }
  func.func @unmoved_other_scale(%q: tensor<3x4xi8>) -> tensor<3x4xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    %y = onnx.DequantizeLinear(%q, %s, _) : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
    func.return %y : tensor<3x4xf32>
  }
}
