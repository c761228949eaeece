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

// CHECK-LABEL: func.func @crop_along_scales(
// CHECK: %[[M:.*]] = onnx.CenterCropPad(%q, %c) : (tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>>, tensor<2xi64>) -> tensor<1x5x!quant.uniform<i8:f32, 0.25:-7>>
func.func @crop_along_scales(%q: tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<1x5xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 5] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<4x2xf32>
  %y = onnx.CenterCropPad(%r, %c) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<1x5xf32>
  func.return %y : tensor<1x5xf32>
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
  // expected-remark@+1 {{a block would be cut in two [sink-dequantize: block-cut]}}
  %y = onnx.Slice(%r, %s, %e) : (tensor<4x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Nothing moves: 255 and 254 are both infinite in f16, so that another index would be the first.

// CHECK-LABEL: func.func @unmoved_real_ties(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.ArgMax(%[[R]])
func.func @unmoved_real_ties(%q: tensor<2x5x!quant.uniform<u8:f16, 300.0:13>>) -> tensor<1x5xi64> {
  %r = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f16, 300.0:13>> to tensor<2x5xf16>
  // expected-remark@+1 {{two stored integers may be one real number, so that another of them would be chosen [sink-dequantize: real-ties]}}
  %y = onnx.ArgMax(%r) : (tensor<2x5xf16>) -> tensor<1x5xi64>
  func.return %y : tensor<1x5xi64>
}

// CHECK-LABEL: func.func @unmoved_unique(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Unique(%[[R]])
func.func @unmoved_unique(%q: tensor<5x!quant.uniform<u8:f16, 300.0:13>>) -> tensor<?xf16> {
  %r = quant.dcast %q : tensor<5x!quant.uniform<u8:f16, 300.0:13>> to tensor<5xf16>
  // expected-remark@+1 {{[sink-dequantize: real-ties]}}
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
  // expected-remark@+1 {{Dropout draws random numbers, or may; export the model for inference [sink-dequantize: training-mode]}}
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
