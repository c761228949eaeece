// RUN: OPT %s -p legalize-sums --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p legalize-sums

// The activation is quantized once more, to i8; its zero point is 128 lower.

// CHECK-LABEL: func.func @activation(
// CHECK-NEXT: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = onnx.DynamicQuantizeLinear(%x)
// CHECK-NEXT: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[128] : tensor<i32>>}
// CHECK-NEXT: %[[A:.*]] = onnx.Cast(%[[Z]]) {to = 6 : i64}
// CHECK-NEXT: %[[B:.*]] = onnx.Sub(%[[A]], %[[H]])
// CHECK-NEXT: %[[C:.*]] = onnx.Cast(%[[B]]) {to = 3 : i64}
// CHECK-NEXT: %[[D:.*]] = onnx.QuantizeLinear(%x, %[[S]], %[[C]]) : {{.*}} -> tensor<1x64x28x28xi8>
// CHECK-NEXT: onnx.ConvInteger(%[[D]], %w, %[[C]], %v) {pads = array<i64: 1, 1, 1, 1>}
func.func @activation(%x: tensor<1x64x28x28xf32>, %w: tensor<64x64x3x3xui8>, %v: tensor<ui8>) -> tensor<1x64x28x28xi32> {
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x64x28x28xf32>) -> (tensor<1x64x28x28xui8>, tensor<f32>, tensor<ui8>)
  %y = onnx.ConvInteger(%q, %w, %z, %v) {pads = array<i64: 1, 1, 1, 1>} : (tensor<1x64x28x28xui8>, tensor<64x64x3x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x64x28x28xi32>
  func.return %y : tensor<1x64x28x28xi32>
}

// A matrix product wants it the other way round; a zero point that is left out is 0, now -128.

// CHECK-LABEL: func.func @weight(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-128, -1, 0, 127] : tensor<2x2xi8>>}
// CHECK-NEXT: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[-128] : tensor<i8>>}
// CHECK-NEXT: onnx.MatMulInteger(%x, %[[W]], %z, %[[Z]])
func.func @weight(%x: tensor<3x2xui8>, %z: tensor<ui8>) -> tensor<3x2xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 127, 128, 255] : tensor<2x2xui8>>} : () -> tensor<2x2xui8>
  %y = onnx.MatMulInteger(%x, %w, %z) : (tensor<3x2xui8>, tensor<2x2xui8>, tensor<ui8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// A zero point for each column.

// CHECK-LABEL: func.func @columns(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-128, -1, 0, 127] : tensor<2x2xi8>>}
// CHECK-NEXT: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[-121, 3] : tensor<2xi8>>}
// CHECK-NEXT: onnx.MatMulInteger(%x, %[[W]], _, %[[Z]])
func.func @columns(%x: tensor<3x2xui8>) -> tensor<3x2xi32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 127, 128, 255] : tensor<2x2xui8>>} : () -> tensor<2x2xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[7, 131] : tensor<2xui8>>} : () -> tensor<2xui8>
  %y = onnx.MatMulInteger(%x, %w, _, %z) : (tensor<3x2xui8>, tensor<2x2xui8>, tensor<2xui8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// -----

// Few products: the second quantize takes longer than the kernel saves.

// CHECK-LABEL: func.func @unmoved_few_products(
// CHECK: onnx.ConvInteger(%q
func.func @unmoved_few_products(%x: tensor<1x8x4x4xf32>, %w: tensor<2x8x1x1xui8>) -> tensor<1x2x4x4xi32> {
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x8x4x4xf32>) -> (tensor<1x8x4x4xui8>, tensor<f32>, tensor<ui8>)
  %y = onnx.ConvInteger(%q, %w, %z) : (tensor<1x8x4x4xui8>, tensor<2x8x1x1xui8>, tensor<ui8>) -> tensor<1x2x4x4xi32>
  func.return %y : tensor<1x2x4x4xi32>
}

// CHECK-LABEL: func.func @unmoved_other_zero_point(
// CHECK: onnx.ConvInteger(%q
func.func @unmoved_other_zero_point(%x: tensor<1x64x28x28xf32>, %w: tensor<64x64x3x3xui8>, %o: tensor<ui8>) -> tensor<1x64x26x26xi32> {
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x64x28x28xf32>) -> (tensor<1x64x28x28xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{the zero point differs from that of the quantize [legalize-sums: invalid-parameters]}}
  %y = onnx.ConvInteger(%q, %w, %o) : (tensor<1x64x28x28xui8>, tensor<64x64x3x3xui8>, tensor<ui8>) -> tensor<1x64x26x26xi32>
  func.return %y : tensor<1x64x26x26xi32>
}

// Signed as it should be already, or computed.

// CHECK-LABEL: func.func @unmoved_as_wanted(
// CHECK: onnx.MatMulInteger(%x, %w
// CHECK: onnx.MatMulInteger(%x, %c
func.func @unmoved_as_wanted(%x: tensor<3x2xui8>, %c: tensor<2x2xui8>) -> (tensor<3x2xi32>, tensor<3x2xi32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 1, 2, -3] : tensor<2x2xi8>>} : () -> tensor<2x2xi8>
  %y = onnx.MatMulInteger(%x, %w) : (tensor<3x2xui8>, tensor<2x2xi8>) -> tensor<3x2xi32>
  %v = onnx.MatMulInteger(%x, %c) : (tensor<3x2xui8>, tensor<2x2xui8>) -> tensor<3x2xi32>
  func.return %y, %v : tensor<3x2xi32>, tensor<3x2xi32>
}

// -----

// A quantize that sums alone read, behind ops that move its elements, gives u8 itself: once for all of them.

// CHECK-LABEL: func.func @quantized(
// CHECK-NEXT: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[133] : tensor<ui8>>}
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:133>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[Q]]) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<u8:f32, 0.02:133>>)
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[T]] : {{.*}} to tensor<3x2xui8>
// CHECK-NEXT: onnx.MatMulInteger(%[[S]], %w, %[[Z]]
// CHECK-NEXT: onnx.MatMulInteger(%[[S]], %v, %[[Z]]
func.func @quantized(%x: tensor<2x3xf32>, %w: tensor<2x2xi8>, %v: tensor<2x4xi8>) -> (tensor<3x2xi32>, tensor<3x4xi32>) {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.02:5>>
  %t = onnx.Transpose(%q) {perm = array<i64: 1, 0>} : (tensor<2x3x!quant.uniform<i8:f32, 0.02:5>>) -> tensor<3x2x!quant.uniform<i8:f32, 0.02:5>>
  %s = quant.scast %t : tensor<3x2x!quant.uniform<i8:f32, 0.02:5>> to tensor<3x2xi8>
  %y = onnx.MatMulInteger(%s, %w, %z) : (tensor<3x2xi8>, tensor<2x2xi8>, tensor<i8>) -> tensor<3x2xi32>
  %u = onnx.MatMulInteger(%s, %v, %z) : (tensor<3x2xi8>, tensor<2x4xi8>, tensor<i8>) -> tensor<3x4xi32>
  func.return %y, %u : tensor<3x2xi32>, tensor<3x4xi32>
}

// -----

// Scale and zero point of the run: 128 is added to the zero point, whatever the kernel subtracts.

// CHECK-LABEL: func.func @at_run_time(
// CHECK: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[128] : tensor<i32>>}
// CHECK-NEXT: %[[A:.*]] = onnx.Cast(%z) {to = 6 : i64}
// CHECK-NEXT: %[[B:.*]] = onnx.Add(%[[A]], %[[H]])
// CHECK-NEXT: %[[C:.*]] = onnx.Cast(%[[B]]) {to = 2 : i64} : (tensor<i32>) -> tensor<ui8>
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %s, %[[C]]) : {{.*}} -> tensor<2x6xui8>
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[Q]], %{{.*}}) : {{.*}} -> tensor<3x4xui8>
// CHECK: onnx.MatMulInteger(%[[R]], %w, %[[C]]
func.func @at_run_time(%x: tensor<2x6xf32>, %s: tensor<f32>, %z: tensor<i8>, %w: tensor<4x2xi8>) -> tensor<3x2xi32> {
  %k = onnx.Constant() {value = #onnx.tensor<[3, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<2x6xf32>, tensor<f32>, tensor<i8>) -> tensor<2x6xi8>
  %r = onnx.Reshape(%q, %k) : (tensor<2x6xi8>, tensor<2xi64>) -> tensor<3x4xi8>
  %y = onnx.MatMulInteger(%r, %w, %z) : (tensor<3x4xi8>, tensor<4x2xi8>, tensor<i8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// -----

// A zero point that is left out is 0, now 128: by the quantize one for each scale, by the kernel a single one.

// CHECK-LABEL: func.func @left_out(
// CHECK: %[[Z:.*]] = onnx.Constant() {value = #onnx.tensor<[128, 128] : tensor<2xui8>>}
// CHECK-NEXT: %[[Q:.*]] = onnx.QuantizeLinear(%x, %s, %[[Z]]) {axis = 0 : i64} : {{.*}} -> tensor<2x3xui8>
// CHECK-NEXT: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>}
// CHECK-NEXT: onnx.MatMulInteger(%[[Q]], %w, %[[O]]
builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
func.func @left_out(%x: tensor<2x3xf32>, %s: tensor<2xf32>, %w: tensor<3x2xi8>) -> tensor<2x2xi32> {
  %q = onnx.QuantizeLinear(%x, %s, _) {axis = 0 : i64, output_dtype = 3 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xi8>
  %y = onnx.MatMulInteger(%q, %w) : (tensor<2x3xi8>, tensor<3x2xi8>) -> tensor<2x2xi32>
  func.return %y : tensor<2x2xi32>
}
}

// -----

// A convolution would want i8, which is no faster for one channel in each group: it stays as it is.

// CHECK-LABEL: func.func @unmoved_window(
// CHECK: onnx.ConvInteger(%s, %w
func.func @unmoved_window(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x1x1xui8>) -> tensor<1x2x4x4xi32> {
  %z = onnx.Constant() {value = #onnx.tensor<[5] : tensor<ui8>>} : () -> tensor<ui8>
  %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:5>>
  %s = quant.scast %q : tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:5>> to tensor<1x3x4x4xui8>
  %y = onnx.ConvInteger(%s, %w, %z) : (tensor<1x3x4x4xui8>, tensor<2x3x1x1xui8>, tensor<ui8>) -> tensor<1x2x4x4xi32>
  func.return %y : tensor<1x2x4x4xi32>
}

// -----

// Integers from outside, or that others read as they are: for many products a pair of casts, or another quantize.

// CHECK-LABEL: func.func @outside(
// CHECK: %[[Q:.*]] = quant.scast %q : tensor<64x64xi8> to tensor<64x64x!quant.uniform<i8:f32, 1.0>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[U:.*]] = quant.qcast %[[D]] : tensor<64x64xf32> to tensor<64x64x!quant.uniform<u8:f32, 1.0:128>>
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[U]]
// CHECK-NEXT: %[[O:.*]] = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>}
// CHECK-NEXT: onnx.MatMulInteger(%[[S]], %w, %[[O]]
func.func @outside(%q: tensor<64x64xi8>, %w: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %y = onnx.MatMulInteger(%q, %w) : (tensor<64x64xi8>, tensor<64x64xi8>) -> tensor<64x64xi32>
  func.return %y : tensor<64x64xi32>
}

// CHECK-LABEL: func.func @read_by_others(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%x, %s, %z) : {{.*}} -> tensor<64x64xi8>
// CHECK: %[[U:.*]] = onnx.QuantizeLinear(%x, %s, %{{.*}}) : {{.*}} -> tensor<64x64xui8>
// CHECK: onnx.MatMulInteger(%[[U]]
// CHECK: func.return %{{.*}}, %[[Q]]
func.func @read_by_others(%x: tensor<64x64xf32>, %s: tensor<f32>, %z: tensor<i8>, %w: tensor<64x64xi8>) -> (tensor<64x64xi32>, tensor<64x64xi8>) {
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<64x64xf32>, tensor<f32>, tensor<i8>) -> tensor<64x64xi8>
  %y = onnx.MatMulInteger(%q, %w, %z) : (tensor<64x64xi8>, tensor<64x64xi8>, tensor<i8>) -> tensor<64x64xi32>
  func.return %y, %q : tensor<64x64xi32>, tensor<64x64xi8>
}

// For few they take longer than the kernel saves; a Pad of stored integers adds numbers that would be others.

// CHECK-LABEL: func.func @unmoved_few(
// CHECK: onnx.MatMulInteger(%q, %w
func.func @unmoved_few(%q: tensor<3x4xi8>, %w: tensor<4x2xi8>) -> tensor<3x2xi32> {
  // expected-remark@+1 {{the casts that change the signedness take longer than the kernel saves [legalize-sums: does-not-pay]}}
  %y = onnx.MatMulInteger(%q, %w) : (tensor<3x4xi8>, tensor<4x2xi8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}

// CHECK-LABEL: func.func @unmoved_padded(
// CHECK: onnx.MatMulInteger(%p, %w, _, _) : (tensor<3x5xi8>
func.func @unmoved_padded(%x: tensor<3x4xf32>, %s: tensor<f32>, %z: tensor<i8>, %w: tensor<5x2xi8>) -> tensor<3x2xi32> {
  %k = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<3x4xf32>, tensor<f32>, tensor<i8>) -> tensor<3x4xi8>
  %p = onnx.Pad(%q, %k) : (tensor<3x4xi8>, tensor<4xi64>) -> tensor<3x5xi8>
  // expected-remark@+1 {{the casts that change the signedness take longer than the kernel saves [legalize-sums: does-not-pay]}}
  %y = onnx.MatMulInteger(%p, %w) : (tensor<3x5xi8>, tensor<5x2xi8>) -> tensor<3x2xi32>
  func.return %y : tensor<3x2xi32>
}
