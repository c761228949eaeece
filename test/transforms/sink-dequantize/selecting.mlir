// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// What is only asked of the elements, of integers as of the numbers they stand for.

// CHECK-LABEL: func.func @arg_min(
// CHECK-NEXT: %[[M:.*]] = onnx.ArgMin(%q) {axis = 1 : i64} : (tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x1xi64>
// CHECK-NEXT: func.return %[[M]]
func.func @arg_min(%q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x1xi64> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %y = onnx.ArgMin(%r) {axis = 1 : i64} : (tensor<2x5xf32>) -> tensor<2x1xi64>
  func.return %y : tensor<2x1xi64>
}

// CHECK-LABEL: func.func @shape(
// CHECK-NEXT: %[[M:.*]] = onnx.Shape(%q) : (tensor<2x?x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xi64>
// CHECK-NEXT: func.return %[[M]]
func.func @shape(%q: tensor<2x?x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xi64> {
  %r = quant.dcast %q : tensor<2x?x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x?xf32>
  %y = onnx.Shape(%r) : (tensor<2x?xf32>) -> tensor<2xi64>
  func.return %y : tensor<2xi64>
}

// CHECK-LABEL: func.func @less(
// CHECK-NEXT: %[[M:.*]] = onnx.Less(%p, %q) : (tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5xi1>
// CHECK-NEXT: func.return %[[M]]
func.func @less(%p: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>, %q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5xi1> {
  %r = quant.dcast %p : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %s = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %y = onnx.Less(%r, %s) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
  func.return %y : tensor<2x5xi1>
}

// What is asked of stored integers is asked of integers already.

// CHECK-LABEL: func.func @equal_bytes(
// CHECK: onnx.Equal(%r, %s) : (tensor<2x5xui8>, tensor<2x5xui8>) -> tensor<2x5xi1>
func.func @equal_bytes(%p: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>, %q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5xi1> {
  %r = quant.scast %p : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xui8>
  %s = quant.scast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xui8>
  %y = onnx.Equal(%r, %s) : (tensor<2x5xui8>, tensor<2x5xui8>) -> tensor<2x5xi1>
  func.return %y : tensor<2x5xi1>
}

// Fills are real zeros: whatever the zero point, the type has one.

// CHECK-LABEL: func.func @trilu(
// CHECK-NEXT: %[[M:.*]] = onnx.Trilu(%q, _) : (tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @trilu(%q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5xf32> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %y = onnx.Trilu(%r) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @reduce_beside_scales(
// CHECK: onnx.ReduceMax(%q, %c) {keepdims = 0 : i64} : (tensor<3x4x2x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7}>>, tensor<1xi64>) -> tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
func.func @reduce_beside_scales(%q: tensor<3x4x2x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7}>>) -> tensor<4x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x4x2x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7}>> to tensor<3x4x2xf32>
  %y = onnx.ReduceMax(%r, %c) {keepdims = 0 : i64} : (tensor<3x4x2xf32>, tensor<1xi64>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @dropout(
// CHECK-NEXT: %[[M:.*]] = onnx.Dropout(%q, _, _) : (tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
func.func @dropout(%q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x5xf32> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %y = onnx.Dropout(%r) : (tensor<2x5xf32>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// Blocks move with their axes.

// CHECK-LABEL: func.func @slice_of_blocks(
// CHECK: onnx.Slice(%q, %s, %e, _, _) {{.*}}-> tensor<2x2x!quant.uniform<i8:f32:{0:2}, {{.*}}0.25:-7{{.*}}>>
func.func @slice_of_blocks(%q: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<2x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[4] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  %y = onnx.Slice(%r, %s, %e) : (tensor<4x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_block_cut(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Slice(%[[R]]
func.func @unmoved_block_cut(%q: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<3x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[4] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{the op would split a block [sink-dequantize: block-size]}}
  %y = onnx.Slice(%r, %s, %e) : (tensor<4x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Nothing moves: 255 and 254 are both infinite in f16, so that another index would be the first.

// CHECK-LABEL: func.func @unmoved_real_ties(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.ArgMax(%[[R]])
func.func @unmoved_real_ties(%q: tensor<2x5x!quant.uniform<u8:f16, 300.0:13>>) -> tensor<1x5xi64> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f16, 300.0:13>> to tensor<2x5xf16>
  // expected-remark@+1 {{two stored integers may dequantize to one float, so the op may select another element [sink-dequantize: equal-elements]}}
  %y = onnx.ArgMax(%r) : (tensor<2x5xf16>) -> tensor<1x5xi64>
  func.return %y : tensor<1x5xi64>
}

// CHECK-LABEL: func.func @unmoved_unique(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Unique(%[[R]])
func.func @unmoved_unique(%q: tensor<5x!quant.uniform<u8:f16, 300.0:13>>) -> tensor<?xf16> {
  %r = quant.dcast %q : tensor<5x!quant.uniform<u8:f16, 300.0:13>> to tensor<5xf16>
  // expected-remark@+1 {{[sink-dequantize: equal-elements]}}
  %y = onnx.Unique(%r) : (tensor<5xf16>) -> tensor<?xf16>
  func.return %y : tensor<?xf16>
}

// Nothing moves: along the scales' own axis, the integers do not say which number is greater.

// CHECK-LABEL: func.func @unmoved_search_along_scales(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.ArgMax(%[[R]])
func.func @unmoved_search_along_scales(%q: tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<1x2xi64> {
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<4x2xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.ArgMax(%r) {axis = -2 : i64} : (tensor<4x2xf32>) -> tensor<1x2xi64>
  func.return %y : tensor<1x2xi64>
}

// CHECK-LABEL: func.func @unmoved_mixed_comparison(
// CHECK: onnx.Greater(%r, %s) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
func.func @unmoved_mixed_comparison(%p: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>, %q: tensor<2x5x!quant.uniform<u8:f32, 0.5:13>>) -> tensor<2x5xi1> {
  %r = quant.dcast %p : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %s = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.5:13>> to tensor<2x5xf32>
  // expected-remark@+1 {{the operands have different scales or zero points [sink-dequantize: mixed-scales]}}
  %y = onnx.Greater(%r, %s) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tensor<2x5xi1>
  func.return %y : tensor<2x5xi1>
}

// CHECK-LABEL: func.func @unmoved_training(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Dropout(%[[R]], _, %t)
func.func @unmoved_training(%q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>, %t: tensor<i1>) -> tensor<2x5xf32> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  // expected-remark@+1 {{Dropout is in training mode, or may be; export the model for inference [sink-dequantize: training-mode]}}
  %y = onnx.Dropout(%r, _, %t) : (tensor<2x5xf32>, tensor<i1>) -> tensor<2x5xf32>
  func.return %y : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @unmoved_interpolation(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.GridSample(%[[R]]
func.func @unmoved_interpolation(%q: tensor<1x1x4x4x!quant.uniform<u8:f32, 0.02:13>>, %g: tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32> {
  %r = quant.dcast %q : tensor<1x1x4x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x1x4x4xf32>
  // expected-remark@+1 {{GridSample computes new elements between the old ones [sink-dequantize: interpolates]}}
  %y = onnx.GridSample(%r, %g) : (tensor<1x1x4x4xf32>, tensor<1x2x2x2xf32>) -> tensor<1x1x2x2xf32>
  func.return %y : tensor<1x1x2x2xf32>
}

// A factor of 1.2 keeps three rows three rows, yet not the same ones.

// CHECK-LABEL: func.func @unmoved_resize_along_scales(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Resize(%[[R]]
func.func @unmoved_resize_along_scales(%q: tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<4x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.2, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<4x2xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Resize(%r, _, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Slice(%r, %c, %d) : (tensor<5x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<2x2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Gather(%r, %i) {axis = 0 : i64} : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  func.return %y : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @gather_elements(
// CHECK: %[[M:.*]] = onnx.GatherElements(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_elements(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.GatherElements(%r, %i) : (tensor<5x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK: %[[M:.*]] = onnx.GatherND(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_nd(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.GatherND(%r, %i) : (tensor<5x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%q, %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reverse_sequence(%q: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<3xi64>) -> tensor<4x3xf32> {
  %r = quant.dcast %q : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
  %y = onnx.ReverseSequence(%r, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @compress(
// CHECK: %[[M:.*]] = onnx.Compress(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @compress(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<5xi1>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Compress(%r, %i) {axis = 0 : i64} : (tensor<5x3xf32>, tensor<5xi1>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// As many scales stay as elements do: what was not known of the size is known now.

// CHECK-LABEL: func.func @compress_along(
// CHECK: %[[M:.*]] = onnx.Compress(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32:0, {0.5:3,0.125:9}>>
// CHECK-NEXT: quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32:0, {0.5:3,0.125:9}>> to tensor<2x3xf32>
func.func @compress_along(%q: tensor<4x3x!quant.uniform<u8:f32:0, {0.5:3,0.25:7,0.125:9,2.0:5}>>) -> tensor<?x3xf32> {
  %i = onnx.Constant() {value = #onnx.tensor<[1, 0, 1, 0] : tensor<4xi1>>} : () -> tensor<4xi1>
  %r = quant.dcast %q : tensor<4x3x!quant.uniform<u8:f32:0, {0.5:3,0.25:7,0.125:9,2.0:5}>> to tensor<4x3xf32>
  %y = onnx.Compress(%r, %i) {axis = 0 : i64} : (tensor<4x3xf32>, tensor<4xi1>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @slice_other_axis(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_other_axis(%q: tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
  %y = onnx.Slice(%r, %c, %d, %e) : (tensor<5x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// The scales are sliced as the axis is.

// CHECK-LABEL: func.func @slice_along(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e, %f{{.*}}) {{.*}}-> tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.75:9}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.75:9}>> to tensor<2x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_along(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[5] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %f = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r, %c, %d, %e, %f) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @slice_backwards(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e, %f{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.75:9,0.25:-7}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.75:9,0.25:-7}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_backwards(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[-9223372036854775808] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %f = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r, %c, %d, %e, %f) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Indices of rank 2 in front of the axis move it by one.

// CHECK-LABEL: func.func @gather_other_axis(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<2x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<2x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_other_axis(%q: tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
  %y = onnx.Gather(%r, %i) : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  func.return %y : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @gather_behind(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_behind(%q: tensor<3x5x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %i: tensor<4xi64>) -> tensor<3x4xf32> {
  %r = quant.dcast %q : tensor<3x5x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x5xf32>
  %y = onnx.Gather(%r, %i) {axis = -1 : i64} : (tensor<3x5xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// The scales are gathered as the axis is; an index may count from the end.

// CHECK-LABEL: func.func @gather_along(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.5:3,1.5:-2}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.5:3,1.5:-2}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_along(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[5, 0, -2] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Gather(%r, %c) {axis = 1 : i64} : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// One index without an axis: one scale.

// CHECK-LABEL: func.func @gather_one(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x!quant.uniform<i8:f32, 0.75:9>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x!quant.uniform<i8:f32, 0.75:9>> to tensor<2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_one(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<i64>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @reverse_sequence_per_axis(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%q, %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reverse_sequence_per_axis(%q: tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<3xi64>) -> tensor<4x3xf32> {
  %r = quant.dcast %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
  %y = onnx.ReverseSequence(%r, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// Nothing moves: rows change places, their scales would not.

// CHECK-LABEL: func.func @unmoved_reverse_sequence(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_reverse_sequence(%q: tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %i: tensor<4xi64>) -> tensor<3x4xf32> {
  %r = quant.dcast %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.ReverseSequence(%r, %i) : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// Nothing moves: the axis becomes two.

// CHECK-LABEL: func.func @unmoved_gather_of_rank_2(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_of_rank_2(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 5, 3, 1] : tensor<2x2xi64>>} : () -> tensor<2x2xi64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
  func.return %y : tensor<2x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_gather_out_of_range(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_out_of_range(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{an index is out of the operand's range; check the model [sink-dequantize: invalid-op]}}
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Nothing moves: which scales are taken is computed.

// CHECK-LABEL: func.func @unmoved_gather_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_computed(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{an axis, index or size that determines the axis of the scales is computed [sink-dequantize: computed-parameter]}}
  %y = onnx.Gather(%r, %i) : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_slice_to_nothing(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Slice(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_slice_to_nothing(%q: tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<0x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
  // expected-remark@+1 {{the op removes the axis that the scales run along [sink-dequantize: scales-along-axis]}}
  %y = onnx.Slice(%r, %c, %d) : (tensor<3x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x2xf32>
  func.return %y : tensor<0x2xf32>
}

// Nothing moves: an end that counts from the axis' end needs its size.

// CHECK-LABEL: func.func @unmoved_slice_of_unknown_size(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Slice(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_slice_of_unknown_size(%q: tensor<?x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<?x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<?x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<?x2xf32>
  // expected-remark@+1 {{[sink-dequantize: unknown-shape]}}
  %y = onnx.Slice(%r, %c, %d) : (tensor<?x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2xf32>
  func.return %y : tensor<?x2xf32>
}
