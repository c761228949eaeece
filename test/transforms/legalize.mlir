// RUN: OPT %s -p legalize | FILECHECK %s
// RUN: OPT %s -p 'legalize{target=generic}' | FILECHECK %s --check-prefix=GENERIC
// RUN: DIAGNOSTICS -p legalize

!x = !quant.uniform<i8:f32, 0.02:-3>
!w = !quant.uniform<i8:f32, 0.25:3>
!y = !quant.uniform<i8:f32, 0.04:9>

// Activations become u8, 128 more; the weight stays i8. A target without a wish leaves all as it is.

// CHECK-LABEL: func.func @activations(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<1x4x5x5xf32> to tensor<1x4x5x5x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[T:.*]] = onnx.Conv(%[[A]], %w, _) : (tensor<1x4x5x5x!quant.uniform<u8:f32, 0.02:125>>, tensor<2x4x3x3x!quant.uniform<i8:f32, 0.25:3>>) -> tensor<1x2x3x3x!quant.uniform<u8:f32, 0.04:137>>
// CHECK-NEXT: quant.dcast %[[T]] : tensor<1x2x3x3x!quant.uniform<u8:f32, 0.04:137>> to tensor<1x2x3x3xf32>
// GENERIC-LABEL: func.func @activations(
// GENERIC-NEXT: quant.qcast %x : tensor<1x4x5x5xf32> to tensor<1x4x5x5x!quant.uniform<i8:f32, 0.02:-3>>
// GENERIC-NEXT: onnx.Conv({{.*}}) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 0.04:9>>
func.func @activations(%x: tensor<1x4x5x5xf32>, %w: tensor<2x4x3x3x!w>) -> tensor<1x2x3x3xf32> {
  %a = quant.qcast %x : tensor<1x4x5x5xf32> to tensor<1x4x5x5x!x>
  %t = onnx.Conv(%a, %w) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>) -> tensor<1x2x3x3x!y>
  %r = quant.dcast %t : tensor<1x2x3x3x!y> to tensor<1x2x3x3xf32>
  func.return %r : tensor<1x2x3x3xf32>
}

// A constant among activations is one of them, its bytes 128 more; storage bounds move along.

// CHECK-LABEL: func.func @constant(
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[129, 126, 255, 0] : tensor<4xui8>>} : () -> tensor<4x!quant.uniform<u8:f32, 0.25:131>>
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4] : tensor<4x1xi8>>} : () -> tensor<4x1x!quant.uniform<i8:f32, 0.25:3>>
// CHECK: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8<1:255>:f32, 0.02:125>>
// CHECK-NEXT: %[[S:.*]] = onnx.Add(%[[A]], %[[C]]) : {{.*}} -> tensor<2x4x!quant.uniform<u8:f32, 0.04:137>>
// CHECK-NEXT: onnx.MatMul(%[[S]], %[[W]])
func.func @constant(%x: tensor<2x4xf32>) -> tensor<2x1xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, -2, 127, -128] : tensor<4xi8>>} : () -> tensor<4x!w>
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4] : tensor<4x1xi8>>} : () -> tensor<4x1x!w>
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8<-127:127>:f32, 0.02:-3>>
  %s = onnx.Add(%a, %c) : (tensor<2x4x!quant.uniform<i8<-127:127>:f32, 0.02:-3>>, tensor<4x!w>) -> tensor<2x4x!y>
  %t = onnx.MatMul(%s, %w) : (tensor<2x4x!y>, tensor<4x1x!w>) -> tensor<2x1xf32>
  func.return %t : tensor<2x1xf32>
}

// Per axis.

// CHECK-LABEL: func.func @per_axis(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32:0, {0.5:131,0.25:121}>>
// CHECK-NEXT: quant.dcast %[[A]]
func.func @per_axis(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %r = quant.dcast %a : tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// Integers that come in and go out as i8 do so still: a pair stands at each boundary.

// CHECK-LABEL: func.func @boundary(
// CHECK-NEXT: %[[A:.*]] = quant.scast %x : tensor<2x4xi8> to tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[A]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]] : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[M:.*]] = onnx.Relu(%[[Q]])
// CHECK-NEXT: %[[S:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[P:.*]] = quant.qcast %[[S]] : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>>
// CHECK-NEXT: quant.scast %[[P]] : tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>> to tensor<2x4xi8>
func.func @boundary(%x: tensor<2x4xi8>) -> tensor<2x4xi8> {
  %a = quant.scast %x : tensor<2x4xi8> to tensor<2x4x!x>
  %s = onnx.Relu(%a) : (tensor<2x4x!x>) -> tensor<2x4x!x>
  %q = quant.scast %s : tensor<2x4x!x> to tensor<2x4xi8>
  func.return %q : tensor<2x4xi8>
}

// A function keeps its signature.

// CHECK-LABEL: func.func @returned(
// CHECK-SAME: -> tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>> {
// CHECK-NEXT: %[[M:.*]] = onnx.Relu(%a) : {{.*}} -> tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]]
// CHECK-NEXT: func.return %[[Q]] : tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>>
func.func @returned(%a: tensor<2x4x!x>) -> tensor<2x4x!x> {
  %s = onnx.Relu(%a) : (tensor<2x4x!x>) -> tensor<2x4x!x>
  func.return %s : tensor<2x4x!x>
}

// Integers that are only read under another scale are read anew with it, by no casts between.

// CHECK-LABEL: func.func @read_again(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[Q:.*]] = quant.scast %[[A]] : {{.*}} to tensor<2x4xui8>
// CHECK-NEXT: %[[R:.*]] = quant.scast %[[Q]] : tensor<2x4xui8> to tensor<2x4x!quant.uniform<u8:f32, 1.0:128>>
// CHECK-NEXT: onnx.Add(%[[R]], %[[R]]) {{.*}}-> tensor<2x4x!quant.uniform<u8:f32, 0.04:137>>
func.func @read_again(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %q = quant.scast %a : tensor<2x4x!x> to tensor<2x4xi8>
  %r = quant.scast %q : tensor<2x4xi8> to tensor<2x4x!quant.uniform<i8:f32, 1.0>>
  %s = onnx.Add(%r, %r) : (tensor<2x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x!y>
  %t = quant.dcast %s : tensor<2x4x!y> to tensor<2x4xf32>
  func.return %t : tensor<2x4xf32>
}

// So are moved ones, and ones that others read as what they are.

// CHECK-LABEL: func.func @read_again_behind_a_move(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[A]]) {{.*}} -> tensor<4x2x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[Q:.*]] = quant.scast %[[T]] : {{.*}} to tensor<4x2xui8>
// CHECK-NEXT: %[[R:.*]] = quant.scast %[[Q]] : tensor<4x2xui8> to tensor<4x2x!quant.uniform<u8:f32, 1.0:128>>
// CHECK-NEXT: quant.dcast %[[R]]
func.func @read_again_behind_a_move(%x: tensor<2x4xf32>) -> tensor<4x2xf32> {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<2x4x!x>) -> tensor<4x2x!x>
  %q = quant.scast %t : tensor<4x2x!x> to tensor<4x2xi8>
  %r = quant.scast %q : tensor<4x2xi8> to tensor<4x2x!quant.uniform<i8:f32, 1.0>>
  %s = quant.dcast %r : tensor<4x2x!quant.uniform<i8:f32, 1.0>> to tensor<4x2xf32>
  func.return %s : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @read_again_and_as_it_is(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK-NEXT: %[[Q:.*]] = quant.scast %[[A]] : {{.*}} to tensor<2x4xui8>
// CHECK-NEXT: %[[R:.*]] = quant.scast %[[Q]] : tensor<2x4xui8> to tensor<2x4x!quant.uniform<u8:f32, 1.0:128>>
// CHECK-NEXT: quant.dcast %[[R]]
// CHECK-NEXT: quant.dcast %[[A]]
func.func @read_again_and_as_it_is(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %q = quant.scast %a : tensor<2x4x!x> to tensor<2x4xi8>
  %r = quant.scast %q : tensor<2x4xi8> to tensor<2x4x!quant.uniform<i8:f32, 1.0>>
  %s = quant.dcast %r : tensor<2x4x!quant.uniform<i8:f32, 1.0>> to tensor<2x4xf32>
  %t = quant.dcast %a : tensor<2x4x!x> to tensor<2x4xf32>
  func.return %s, %t : tensor<2x4xf32>, tensor<2x4xf32>
}

// Where the integers themselves go out besides, they stay what they were, and so does what reads them.

// CHECK-LABEL: func.func @unmoved_integers_go_out(
// CHECK: %[[Q:.*]] = quant.scast %{{.*}} to tensor<2x4xi8>
// CHECK: quant.scast %[[Q]] : tensor<2x4xi8> to tensor<2x4x!quant.uniform<i8:f32, 1.0>>
func.func @unmoved_integers_go_out(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xi8>) {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %q = quant.scast %a : tensor<2x4x!x> to tensor<2x4xi8>
  %r = quant.scast %q : tensor<2x4xi8> to tensor<2x4x!quant.uniform<i8:f32, 1.0>>
  %s = onnx.Add(%r, %r) : (tensor<2x4x!quant.uniform<i8:f32, 1.0>>, tensor<2x4x!quant.uniform<i8:f32, 1.0>>) -> tensor<2x4x!y>
  %t = quant.dcast %s : tensor<2x4x!y> to tensor<2x4xf32>
  func.return %t, %q : tensor<2x4xf32>, tensor<2x4xi8>
}

// Nothing changes: what only leaves as i8, 16 bits, unsigned, blocks.

// CHECK-LABEL: func.func @unchanged_output(
// CHECK-NEXT: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>>
// CHECK-NEXT: quant.scast %[[A]]
func.func @unchanged_output(%x: tensor<2x4xf32>) -> tensor<2x4xi8> {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %q = quant.scast %a : tensor<2x4x!x> to tensor<2x4xi8>
  func.return %q : tensor<2x4xi8>
}

// CHECK-LABEL: func.func @unchanged_moved_output(
// CHECK: %[[A:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32, 0.02:-3>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[A]]) {{.*}} -> tensor<4x2x!quant.uniform<i8:f32, 0.02:-3>>
// CHECK-NEXT: quant.scast %[[T]]
// CHECK-NEXT: quant.scast %[[A]]
func.func @unchanged_moved_output(%x: tensor<2x4xf32>) -> (tensor<4x2xi8>, tensor<2x4xi8>) {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<2x4x!x>) -> tensor<4x2x!x>
  %s = quant.scast %t : tensor<4x2x!x> to tensor<4x2xi8>
  %r = quant.scast %a : tensor<2x4x!x> to tensor<2x4xi8>
  func.return %s, %r : tensor<4x2xi8>, tensor<2x4xi8>
}

// What is read as real numbers too changes for all, and is given back for who reads the integers; so is what is joined.

// CHECK-LABEL: func.func @read_both_ways(
// CHECK: quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:125>>
// CHECK: onnx.Transpose({{.*}} -> tensor<4x2x!quant.uniform<u8:f32, 0.02:125>>
// CHECK: onnx.Concat({{.*}} -> tensor<4x4x!quant.uniform<u8:f32, 0.02:125>>
func.func @read_both_ways(%x: tensor<2x4xf32>) -> (tensor<4x2xi8>, tensor<4x2xf32>, tensor<4x4xi8>) {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %t = onnx.Transpose(%a) {perm = array<i64: 1, 0>} : (tensor<2x4x!x>) -> tensor<4x2x!x>
  %s = quant.scast %t : tensor<4x2x!x> to tensor<4x2xi8>
  %r = quant.dcast %t : tensor<4x2x!x> to tensor<4x2xf32>
  %b = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!x>
  %j = onnx.Concat(%b, %b) {axis = 0 : i64} : (tensor<2x4x!x>, tensor<2x4x!x>) -> tensor<4x4x!x>
  %k = quant.scast %j : tensor<4x4x!x> to tensor<4x4xi8>
  func.return %s, %r, %k : tensor<4x2xi8>, tensor<4x2xf32>, tensor<4x4xi8>
}

// CHECK-LABEL: func.func @unchanged_types(
// CHECK-NEXT: quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i16:f32, 0.02:-3>>
// CHECK: quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:3>>
// CHECK{LITERAL}: quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:4}, {{0.5}, {0.25:3}}>>
func.func @unchanged_types(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %a = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i16:f32, 0.02:-3>>
  %p = quant.dcast %a : tensor<2x4x!quant.uniform<i16:f32, 0.02:-3>> to tensor<2x4xf32>
  %b = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:3>>
  %q = quant.dcast %b : tensor<2x4x!quant.uniform<u8:f32, 0.02:3>> to tensor<2x4xf32>
  %c = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:4}, {{0.5}, {0.25:3}}>>
  %r = quant.dcast %c : tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:4}, {{0.5}, {0.25:3}}>> to tensor<2x4xf32>
  func.return %p, %q, %r : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// A u8 weight becomes i8, its zero points 128 less, unless it is depthwise and its zero points do not become 0.

// CHECK-LABEL: func.func @weights(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-127, 127] : tensor<1x2x1x1xi8>>} : () -> tensor<1x2x1x1x!quant.uniform<i8:f32, 0.25:-5>>
// CHECK-DAG: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[-127, 127] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32, 0.25>>
// CHECK-DAG: %[[D:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 255] : tensor<2x1x1x1xui8>>} : () -> tensor<2x1x1x1x!quant.uniform<u8:f32, 0.25:123>>
// CHECK: onnx.Conv(%a, %[[W]], _)
// CHECK: onnx.Conv(%a, %[[S]], _)
// CHECK: onnx.Conv(%a, %[[D]], _)
!a = !quant.uniform<u8:f32, 0.02:125>
func.func @weights(%a: tensor<1x2x5x4x!a>) -> (tensor<1x1x5x4x!a>, tensor<1x2x5x4x!a>, tensor<1x2x5x4x!a>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 255] : tensor<1x2x1x1xui8>>} : () -> tensor<1x2x1x1x!quant.uniform<u8:f32, 0.25:123>>
  %s = onnx.Constant() {value = #onnx.tensor<[1, 255] : tensor<2x1x1x1xui8>>} : () -> tensor<2x1x1x1x!quant.uniform<u8:f32, 0.25:128>>
  %d = onnx.Constant() {value = #onnx.tensor<[1, 255] : tensor<2x1x1x1xui8>>} : () -> tensor<2x1x1x1x!quant.uniform<u8:f32, 0.25:123>>
  %t = onnx.Conv(%a, %w) : (tensor<1x2x5x4x!a>, tensor<1x2x1x1x!quant.uniform<u8:f32, 0.25:123>>) -> tensor<1x1x5x4x!a>
  %u = onnx.Conv(%a, %s) {group = 2 : i64} : (tensor<1x2x5x4x!a>, tensor<2x1x1x1x!quant.uniform<u8:f32, 0.25:128>>) -> tensor<1x2x5x4x!a>
  %v = onnx.Conv(%a, %d) {group = 2 : i64} : (tensor<1x2x5x4x!a>, tensor<2x1x1x1x!quant.uniform<u8:f32, 0.25:123>>) -> tensor<1x2x5x4x!a>
  func.return %t, %u, %v : tensor<1x1x5x4x!a>, tensor<1x2x5x4x!a>, tensor<1x2x5x4x!a>
}

// Of real operands a session makes no kernel: the result is u8 at once.

// CHECK-LABEL: func.func @of_real_operands(
// CHECK-NEXT: %[[S:.*]] = onnx.Add(%x, %x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[S]] : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32:0, {0.5:131,0.25:121}>>
// CHECK-NEXT: onnx.Relu(%[[Q]])
func.func @of_real_operands(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %s = onnx.Add(%x, %x) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %q = quant.qcast %s : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %m = onnx.Relu(%q) : (tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %r = quant.dcast %m : tensor<2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// Nothing moves: a bias in steps of its own, which an op on a float activation reads as such; behind a quantized one
// it becomes float, since a session takes it for one in steps of x_scale * w_scale.

// CHECK-LABEL: func.func @own_scale_bias(
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[1.5, -2.0] : tensor<2xf32>>}
// CHECK: onnx.Conv(%x, %{{.*}}, %b)
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, %[[R]])
func.func @own_scale_bias(%x: tensor<1x2x5x4xf32>, %w: tensor<2x2x1x1x!w>) -> (tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>) {
  %i = onnx.Constant() {value = #onnx.tensor<[3, -4] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.5>>
  %b = quant.dcast %i : tensor<2x!quant.uniform<i32:f32, 0.5>> to tensor<2xf32>
  %d = quant.dcast %w : tensor<2x2x1x1x!w> to tensor<2x2x1x1xf32>
  %t = onnx.Conv(%x, %d, %b) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
  %q = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>>
  %r = quant.dcast %q : tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x5x4xf32>
  %u = onnx.Conv(%r, %d, %b) : (tensor<1x2x5x4xf32>, tensor<2x2x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x4xf32>
  func.return %t, %u : tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>
}

// One in steps of x_scale * w_scale is what the session takes it for.

// CHECK-LABEL: func.func @bias_of_the_sum(
// CHECK: %[[B:.*]] = quant.dcast
// CHECK: onnx.Conv(%{{.*}}, %{{.*}}, %[[B]])
func.func @bias_of_the_sum(%x: tensor<1x2x5x4xf32>, %w: tensor<3x2x1x1x!quant.uniform<i8:f32, 0.25>>) -> tensor<1x3x5x4xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[3, -4, 5] : tensor<3xi32>>} : () -> tensor<3x!quant.uniform<i32:f32, 0.125>>
  %b = quant.dcast %i : tensor<3x!quant.uniform<i32:f32, 0.125>> to tensor<3xf32>
  %d = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32, 0.25>> to tensor<3x2x1x1xf32>
  %q = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!quant.uniform<u8:f32, 0.5:13>>
  %r = quant.dcast %q : tensor<1x2x5x4x!quant.uniform<u8:f32, 0.5:13>> to tensor<1x2x5x4xf32>
  %u = onnx.Conv(%r, %d, %b) : (tensor<1x2x5x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x5x4xf32>
  func.return %u : tensor<1x3x5x4xf32>
}

// A weight beside a float activation: no kernel takes it, and a float constant is made of it either way.

// CHECK-LABEL: func.func @unmoved_float_activation(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>}
// CHECK-NEXT: onnx.MatMul(%x, %{{.*}}) : (tensor<4x3xf32>, tensor<3x2x!quant.uniform<u8:f32, 0.25:7>>)
func.func @unmoved_float_activation(%x: tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2xui8>>} : () -> tensor<3x2x!quant.uniform<u8:f32, 0.25:7>>
  %y = onnx.MatMul(%x, %w) : (tensor<4x3xf32>, tensor<3x2x!quant.uniform<u8:f32, 0.25:7>>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
