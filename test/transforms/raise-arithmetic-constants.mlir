// RUN: OPT %s -p 'raise-arithmetic{constants=true},fold-constants' | FILECHECK %s

// Weights alone, before fold-constants: the floats that it would make of them are on no grid that anything reads.

// CHECK-LABEL: func.func @fake_quantized_weight
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-3, 4, 127, 0, -128, 2] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: onnx.MatMul(%{{.*}}, %[[D]])
func.func @fake_quantized_weight(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-1.5, 1.0, 99.0, 0.1, -99.0, 0.625] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %q = onnx.QuantizeLinear(%x, %xs, %xz) : (tensor<4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>
  %r = onnx.DequantizeLinear(%q, %xs, %xz) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32>
  %a = onnx.Div(%w, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %b = onnx.Round(%a) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %c = onnx.Clip(%b, %lo, %hi) : (tensor<3x2xf32>, tensor<f32>, tensor<f32>) -> tensor<3x2xf32>
  %d = onnx.Mul(%c, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// The integers are stored, the zero point is cast to float as they are; a Transpose in front of the product.
// CHECK-LABEL: func.func @dequantized_weight
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<2x3x!quant.uniform<u8:f32:0, {0.5:128,0.3:128}>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: %[[T:.*]] = onnx.Transpose(%[[D]])
// CHECK: onnx.MatMul(%{{.*}}, %[[T]])
func.func @dequantized_weight(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 255, 128, 0, 77] : tensor<2x3xui8>>} : () -> tensor<2x3xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>} : () -> tensor<ui8>
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.3] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %q = onnx.QuantizeLinear(%x, %xs, %z) : (tensor<4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>
  %r = onnx.DequantizeLinear(%q, %xs, %z) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32>
  %a = onnx.Cast(%w) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %b = onnx.Cast(%z) {to = 1 : i64} : (tensor<ui8>) -> tensor<f32>
  %c = onnx.Sub(%a, %b) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = onnx.Mul(%c, %s) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %t = onnx.Transpose(%d) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %t) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// A zero point for each channel, in integers that are reshaped and cast.
// CHECK-LABEL: func.func @zero_points_by_channel
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<2x3x!quant.uniform<u8:f32:0, {0.5:128,0.3:7}>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: %[[T:.*]] = onnx.Transpose(%[[D]])
// CHECK: onnx.MatMul(%{{.*}}, %[[T]])
func.func @zero_points_by_channel(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 255, 128, 0, 77] : tensor<2x3xui8>>} : () -> tensor<2x3xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[128, 7] : tensor<2xi64>>} : () -> tensor<2xi64>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.3] : tensor<2xf32>>} : () -> tensor<2xf32>
  %n = onnx.Constant() {value = #onnx.tensor<[2, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %xz = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>} : () -> tensor<ui8>
  %q = onnx.QuantizeLinear(%x, %xs, %xz) : (tensor<4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>
  %r = onnx.DequantizeLinear(%q, %xs, %xz) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32>
  %a = onnx.Cast(%w) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %zs = onnx.Reshape(%z, %n) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2x1xi64>
  %b = onnx.Cast(%zs) {to = 1 : i64} : (tensor<2x1xi64>) -> tensor<2x1xf32>
  %c = onnx.Sub(%a, %b) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %ss = onnx.Reshape(%s, %n) : (tensor<2xf32>, tensor<2xi64>) -> tensor<2x1xf32>
  %d = onnx.Mul(%c, %ss) : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
  %t = onnx.Transpose(%d) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %t) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// No product reads the mask: an addition has no use for its integers.
// CHECK-LABEL: func.func @unmoved_mask
// CHECK-NOT: quant.dcast
// CHECK: func.return
func.func @unmoved_mask(%x : tensor<2x3xf32>) -> tensor<2x3xui8> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 0, 1] : tensor<3xui8>>} : () -> tensor<3xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>} : () -> tensor<ui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.3] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Cast(%w) {to = 1 : i64} : (tensor<3xui8>) -> tensor<3xf32>
  %d = onnx.Mul(%a, %s) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %y = onnx.Add(%x, %d) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%y, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  func.return %q : tensor<2x3xui8>
}

// -----

// Nothing is quantized at run time: the weight still is; fold-float-weights makes floats of it where they are faster.
// CHECK-LABEL: func.func @weight_alone
// CHECK: quant.dcast %{{.*}} : tensor<3x2x!quant.uniform<i8:f32, 0.3>>
// CHECK: func.return
func.func @weight_alone(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -7, 3, 0, 77] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.3] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Cast(%w) {to = 1 : i64} : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %d = onnx.Mul(%a, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%x, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// A Round of what runs belongs to the activation, which is raised behind raise-qdq.
// CHECK-LABEL: func.func @unmoved_activation
// CHECK-NOT: quant.
// CHECK: onnx.Round
// CHECK-NOT: quant.
// CHECK: func.return
func.func @unmoved_activation(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, -7.0, 3.0, 0.0, 77.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Div(%x, %s) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %b = onnx.Round(%a) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %c = onnx.Clip(%b, %lo, %hi) : (tensor<4x3xf32>, tensor<f32>, tensor<f32>) -> tensor<4x3xf32>
  %d = onnx.Mul(%c, %s) : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  %y = onnx.MatMul(%d, %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// The zero point is subtracted in i32, to which both are cast.
// CHECK-LABEL: func.func @integers_subtracted
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<3x2x!quant.uniform<u8:f32, 0.5:128>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: onnx.MatMul(%{{.*}}, %[[D]])
func.func @integers_subtracted(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 255, 128, 0, 77] : tensor<3x2xui8>>} : () -> tensor<3x2xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[128] : tensor<ui8>>} : () -> tensor<ui8>
  %xs = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q = onnx.QuantizeLinear(%x, %xs, %z) : (tensor<4x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<4x3xui8>
  %r = onnx.DequantizeLinear(%q, %xs, %z) : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32>
  %a = onnx.Cast(%w) {to = 6 : i64} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %b = onnx.Cast(%z) {to = 6 : i64} : (tensor<ui8>) -> tensor<i32>
  %c = onnx.Sub(%a, %b) : (tensor<3x2xi32>, tensor<i32>) -> tensor<3x2xi32>
  %e = onnx.Cast(%c) {to = 1 : i64} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %d = onnx.Mul(%e, %s) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// A weight that is moved first, without a scale, beside integers that are read as floats.
// CHECK-LABEL: func.func @multiplied_by_integers
// CHECK: %[[T:.*]] = onnx.Transpose(
// CHECK: %[[W:.*]] = quant.scast %[[T]] : {{.*}} to tensor<3x2x!quant.uniform<i8:f32, 1.0>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: onnx.MatMul(%{{.*}}, %[[D]])
func.func @multiplied_by_integers(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -5, 12, 0, 77] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4x3xf32>, tensor<f32>, tensor<i8>) -> tensor<4x3xi8>
  %r = onnx.Cast(%q) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %t = onnx.Transpose(%w) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  %d = onnx.Cast(%t) {to = 1 : i64} : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// A weight of stored integers, its scales behind the product, in a model that quantizes nothing else.
// CHECK-LABEL: func.func @stored_weight
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<3x2x!quant.uniform<i8:f32, 1.0>>
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: %[[Y:.*]] = onnx.MatMul(%{{.*}}, %[[D]])
// CHECK: onnx.Mul(%[[Y]]
func.func @stored_weight(%x : tensor<4x3xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, -127, 4, 0, 77] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.3] : tensor<2xf32>>} : () -> tensor<2xf32>
  %f = onnx.Cast(%w) {to = 1 : i64} : (tensor<3x2xi8>) -> tensor<3x2xf32>
  %p = onnx.MatMul(%x, %f) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %y = onnx.Mul(%p, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// -----

// Integers that are no weight become floats.
// CHECK-LABEL: func.func @unmoved_added_integers
// CHECK-NOT: quant.
func.func @unmoved_added_integers(%x : tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi8>>} : () -> tensor<2xi8>
  %f = onnx.Cast(%w) {to = 1 : i64} : (tensor<2xi8>) -> tensor<2xf32>
  %y = onnx.Add(%x, %f) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
