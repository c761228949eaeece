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
  // expected-remark@+1 {{the zero point differs from that of the quantize [legalize-sums: other-zero-point]}}
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
