// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// Several operands of one type share one cast.

// CHECK-LABEL: func.func @concat(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %q = quant.qcast %y : tensor<6x3xf32> to tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @concat_other_axis(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat_other_axis(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %q = quant.qcast %y : tensor<6x3xf32> to tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Along the scales' axis, two lists become one.

// CHECK-LABEL: func.func @concat_along(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x1xf32> to tensor<4x1x!quant.uniform<i8:f32, 0.125>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat_along(%a: tensor<4x2xf32>, %b: tensor<4x1xf32>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = -1 : i64} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// A part of one slice has one scale: the type is per tensor, and joins all the same.

// CHECK-LABEL: func.func @split_along_one_slice(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: onnx.Split(%[[Q]],
func.func @split_along_one_slice(%x: tensor<4x3xf32>) -> (tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> (tensor<4x1xf32>, tensor<4x2xf32>)
  %q = quant.qcast %y : tensor<4x1xf32> to tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>
  %r = quant.qcast %z : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %q, %r : tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @where(
// CHECK: %[[M:.*]] = onnx.Where({{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @where(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>, %m: tensor<2x3xi1>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Where(%m, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %z : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @scatter_elements(
// CHECK: %[[M:.*]] = onnx.ScatterElements({{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @scatter_elements(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterElements(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @scatter_nd(
// CHECK: %[[M:.*]] = onnx.ScatterND({{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @scatter_nd(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterND(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Several results take one type each.

// CHECK-LABEL: func.func @split(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %p, %q : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @split_other_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split_other_axis(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  func.return %p, %q : tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
}

// CHECK-LABEL: func.func @split_along(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split_along(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %p, %q : tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
}

// Nothing moves: one part stays float.

// CHECK-LABEL: func.func @unmoved_half_of_a_split(
// CHECK: %[[Y:.*]], %[[Z:.*]] = onnx.Split(%x
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[Y]]
// CHECK-NEXT: func.return %[[Q]], %[[Z]]
func.func @unmoved_half_of_a_split(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  // expected-remark@+1 {{another result of the op is used in float [hoist-quantize: second-consumer]}}
  %q = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %z : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2xf32>
}

// Nothing moves: the parts have two scales.

// CHECK-LABEL: func.func @unmoved_split_of_two_scales(
// CHECK: %[[Y:.*]], %[[Z:.*]] = onnx.Split(%x
func.func @unmoved_split_of_two_scales(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>
  func.return %p, %q : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>
}

// Nothing moves: one scale for two slices is no list of scales.

// CHECK-LABEL: func.func @unmoved_split_along_two_slices(
// CHECK: onnx.Split(%x,
func.func @unmoved_split_along_two_slices(%x: tensor<4x4xf32>) -> (tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<4x4xf32>, tensor<2xi64>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %q = quant.qcast %y : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %r = quant.qcast %z : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %q, %r : tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
}

// Nothing moves: a part of unknown size takes an unknown number of scales.

// CHECK-LABEL: func.func @unmoved_concat_of_unknown_size(
// CHECK-NEXT: %[[Y:.*]] = onnx.Concat(%a, %b)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_concat_of_unknown_size(%a: tensor<?x2xf32>, %b: tensor<1x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{[hoist-quantize: unknown-shape]}}
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// Where sizes are not known, an op that drops nothing still has no more elements above it than below.

// CHECK-LABEL: func.func @unknown_sizes(
// CHECK-DAG: %[[X:.*]] = quant.qcast %x : tensor<?x3xf32>
// CHECK-DAG: %[[Y:.*]] = quant.qcast %y : tensor<?x3xf32>
// CHECK: %[[J:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK: %[[T:.*]] = onnx.Transpose(%[[J]])
// CHECK: %[[P:.*]] = onnx.Pad(%[[T]]
// CHECK-NEXT: func.return %[[P]]
func.func @unknown_sizes(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<5x?x!quant.uniform<u8:f32, 0.02:13>> {
  %pads = onnx.Constant() {value = #onnx.tensor<[1, 0, 1, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %j = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %t = onnx.Transpose(%j) {perm = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %p = onnx.Pad(%t, %pads) : (tensor<3x?xf32>, tensor<4xi64>) -> tensor<5x?xf32>
  %q = quant.qcast %p : tensor<5x?xf32> to tensor<5x?x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x?x!quant.uniform<u8:f32, 0.02:13>>
}

// Integers that are split: each part is read as one type, and one is not read at all.

// CHECK-LABEL: func.func @split_integers(
// CHECK: %[[Q:.*]] = quant.scast %x : tensor<4x3xui8> to tensor<4x3x!quant.uniform<u8:f32, 0.02:128>>
// CHECK-NEXT: %[[A:.*]], %{{.*}} = onnx.Split(%[[Q]], %{{.*}})
// CHECK-NEXT: quant.dcast %[[A]]
func.func @split_integers(%x: tensor<4x3xui8>) -> tensor<1x3xf32> {
  %n = onnx.Constant() {value = #onnx.tensor<[1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a, %b = onnx.Split(%x, %n) : (tensor<4x3xui8>, tensor<2xi64>) -> (tensor<1x3xui8>, tensor<3x3xui8>)
  %q = quant.scast %a : tensor<1x3xui8> to tensor<1x3x!quant.uniform<u8:f32, 0.02:128>>
  %r = quant.dcast %q : tensor<1x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x3xf32>
  func.return %r : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer_of_a_part(
// CHECK: onnx.Split(%x, %{{.*}})
func.func @unmoved_second_consumer_of_a_part(%x: tensor<4x3xui8>) -> (tensor<1x3xf32>, tensor<3x3xui8>) {
  %n = onnx.Constant() {value = #onnx.tensor<[1, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %a, %b = onnx.Split(%x, %n) : (tensor<4x3xui8>, tensor<2xi64>) -> (tensor<1x3xui8>, tensor<3x3xui8>)
  // expected-remark@+1 {{the integers have a second consumer [hoist-quantize: second-consumer]}}
  %q = quant.scast %a : tensor<1x3xui8> to tensor<1x3x!quant.uniform<u8:f32, 0.02:128>>
  %r = quant.dcast %q : tensor<1x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<1x3xf32>
  func.return %r, %b : tensor<1x3xf32>, tensor<3x3xui8>
}
