// RUN: OPT %s -p raise-arithmetic | FILECHECK %s
// RUN: DIAGNOSTICS -p raise-arithmetic

// CHECK-LABEL: func.func @quantize
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32>)
// CHECK: %[[Q:.*]] = quant.qcast %[[X]] : tensor<3x4xf32> to tensor<3x4x!quant.uniform<u8:f32, 0.25:138>>
// CHECK-NEXT: %[[I:.*]] = quant.scast %[[Q]] : {{.*}} to tensor<3x4xui8>
// CHECK-NEXT: func.return %[[I]]
func.func @quantize(%x : tensor<3x4xf32>) -> tensor<3x4xui8> {
  %m = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[138.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%m, %x) : (tensor<f32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Cast(%d) {to = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// Division, one scale for each column, bounds narrower than the storage and in front of the Round.
// CHECK-LABEL: func.func @quantize_by_column
// CHECK: quant.qcast %{{.*}} to tensor<3x2x!quant.uniform<i8<-7:7>:f32:1, {0.5,0.3}>>
func.func @quantize_by_column(%x : tensor<3x2xf32>) -> tensor<3x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.3] : tensor<2xf32>>} : () -> tensor<2xf32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-7.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[7.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Div(%x, %s) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %b = onnx.Max(%a, %lo) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %c = onnx.Min(%hi, %b) : (tensor<f32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %d = onnx.Round(%c) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = onnx.Cast(%d) {to = 3 : i64} : (tensor<3x2xf32>) -> tensor<3x2xi8>
  func.return %y : tensor<3x2xi8>
}

// -----

// Aidge: no Cast, so the result is a float tensor of integers, and the weights are integers in float.
// CHECK-LABEL: func.func @float_integers
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>>
// CHECK-NEXT: %[[RW:.*]] = quant.dcast %[[W]]
// CHECK: %[[B:.*]] = onnx.Constant() {{.*}} -> tensor<3x!quant.uniform<i32:f32, 1.0>>
// CHECK-NEXT: %[[RB:.*]] = quant.dcast %[[B]]
// CHECK: %[[C:.*]] = onnx.Conv(%{{.*}}, %[[RW]], %[[RB]])
// CHECK: %[[R:.*]] = onnx.Relu(%[[C]])
// CHECK: %[[Q:.*]] = quant.qcast %[[R]] : {{.*}} to tensor<1x3x4x5x!quant.uniform<i8:f32, 8.0>>
// CHECK-NEXT: %[[I:.*]] = quant.scast %[[Q]] : {{.*}} to tensor<1x3x4x5xi8>
// CHECK-NEXT: %[[O:.*]] = quant.scast %[[I]] : {{.*}} to tensor<1x3x4x5x!quant.uniform<i8:f32, 1.0>>
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %[[O]]
// CHECK-NEXT: func.return %[[Y]]
func.func @float_integers(%x : tensor<1x2x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 3.0, -4.0, 5.0, -6.0] : tensor<3x2x1x1xf32>>} : () -> tensor<3x2x1x1xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[1000.0, -20.0, 3.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %m = onnx.Constant() {value = #onnx.tensor<[0.125] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Conv(%x, %w, %b) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x5xf32>
  %r = onnx.Relu(%c) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %a = onnx.Mul(%r, %m) : (tensor<1x3x4x5xf32>, tensor<f32>) -> tensor<1x3x4x5xf32>
  %d = onnx.Round(%a) : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %y = onnx.Clip(%d, %lo, %hi) : (tensor<1x3x4x5xf32>, tensor<f32>, tensor<f32>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @dequantize
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xui8>)
// CHECK: %[[Q:.*]] = quant.scast %[[X]] : tensor<3x4xui8> to tensor<3x4x!quant.uniform<u8:f32, 0.3:138>>
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[Y]]
func.func @dequantize(%x : tensor<3x4xui8>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.3] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[138.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Cast(%x) {to = 1 : i64} : (tensor<3x4xui8>) -> tensor<3x4xf32>
  %b = onnx.Sub(%a, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Mul(%b, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Fake quantization without a Cast: both halves meet.
// CHECK-LABEL: func.func @fake
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<u8:f32, 0.25:13>>
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[Y]]
func.func @fake(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Div(%x, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %e = onnx.Sub(%d, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Mul(%e, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// The factor is the inverse of the scale that reads the integers, though 1 / 74.135483 is rounded to 0.013488818.
// CHECK-LABEL: func.func @fake_by_factors
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<u8:f32, 0.013488817:13>>
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[Y]]
func.func @fake_by_factors(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[74.13548278808594] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.013488817] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %e = onnx.Sub(%d, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Mul(%e, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A scale that is further off is another one.
// CHECK-LABEL: func.func @unmoved_other_scale
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<u8:f32, 0.013488818:13>>
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[Q]] : {{.*}} to tensor<3x4xui8>
// CHECK-NEXT: quant.scast %[[S]] : tensor<3x4xui8> to tensor<3x4x!quant.uniform<u8:f32, 0.01348882:13>>
func.func @unmoved_other_scale(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[74.13548278808594] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.01348882] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %e = onnx.Sub(%d, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Mul(%e, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A cast reads them, too.
// CHECK-LABEL: func.func @read_by_a_cast
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8<-100:99>:f32, 0.013488817>>
func.func @read_by_a_cast(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[74.13548278808594] : tensor<1xf32>>} : () -> tensor<1xf32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-100.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[99.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<1xf32>) -> tensor<3x4xf32>
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Clip(%b, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %d = onnx.Cast(%c) {to = 3 : i64} : (tensor<3x4xf32>) -> tensor<3x4xi8>
  %e = quant.scast %d : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.013488817>>
  %y = quant.dcast %e : tensor<3x4x!quant.uniform<i8:f32, 0.013488817>> to tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// The zero point may be the clamp's upper end: it is one of the integers.
// CHECK-LABEL: func.func @narrow_below_zero
// CHECK: quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8<-7:7>:f32, 0.5:7>>
func.func @narrow_below_zero(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %lo = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>} : () -> tensor<i8>
  %hi = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 0.5:7>>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:7>> to tensor<3x4xi8>
  %c = onnx.Clip(%i, %lo, %hi) : (tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<3x4xi8>
  %p = quant.scast %c : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.5:7>>
  %y = quant.dcast %p : tensor<3x4x!quant.uniform<i8:f32, 0.5:7>> to tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Another type reads the clamped integers: its zero point is the clamp's upper end, which is one of them.
// CHECK-LABEL: func.func @narrow_in_another_type
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
// CHECK: quant.dcast %{{.*}} : tensor<3x4x!quant.uniform<i8<-7:7>:f32, 0.25:7>>
func.func @narrow_in_another_type(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %lo = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>} : () -> tensor<i8>
  %hi = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xi8>
  %c = onnx.Clip(%i, %lo, %hi) : (tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<3x4xi8>
  %p = quant.scast %c : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.25:7>>
  %y = quant.dcast %p : tensor<3x4x!quant.uniform<i8:f32, 0.25:7>> to tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Brevitas: a clamp between quantize and dequantize is the range of the type.
// CHECK-LABEL: func.func @narrow
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[Y]]
func.func @narrow(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %lo = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>} : () -> tensor<i8>
  %hi = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xi8>
  %c = onnx.Clip(%i, %lo, %hi) : (tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<3x4xi8>
  %p = quant.scast %c : tensor<3x4xi8> to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
  %y = quant.dcast %p : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Others take the integers before the clamp: narrowed, they would be quantized twice.
// CHECK-LABEL: func.func @unmoved_second_consumer
// CHECK: %[[Q:.*]] = quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
// CHECK: onnx.Clip
// CHECK-NEXT: quant.dcast %[[Q]]
func.func @unmoved_second_consumer(%x : tensor<3x4xf32>) -> (tensor<3x4xi8>, tensor<3x4xf32>) {
  %lo = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>} : () -> tensor<i8>
  %hi = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xi8>
  // expected-remark@+1 {{the integers in front of the clamp have other users [raise-arithmetic: second-consumer]}}
  %c = onnx.Clip(%i, %lo, %hi) : (tensor<3x4xi8>, tensor<i8>, tensor<i8>) -> tensor<3x4xi8>
  %y = quant.dcast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xf32>
  func.return %c, %y : tensor<3x4xi8>, tensor<3x4xf32>
}

// -----

// A clamp that starts at the zero point is an activation.
// CHECK-LABEL: func.func @unmoved_activation
// CHECK: quant.qcast %{{.*}} to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
// CHECK: onnx.Max
func.func @unmoved_activation(%x : tensor<3x4xf32>) -> tensor<3x4xi8> {
  %z = onnx.Constant() {value = #onnx.tensor<[2] : tensor<i8>>} : () -> tensor<i8>
  %q = quant.qcast %x : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32, 0.5:2>>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<i8:f32, 0.5:2>> to tensor<3x4xi8>
  %y = onnx.Max(%i, %z) : (tensor<3x4xi8>, tensor<i8>) -> tensor<3x4xi8>
  func.return %y : tensor<3x4xi8>
}

// -----

// CHECK-LABEL: func.func @unmoved_no_round
// CHECK: onnx.Mul
// CHECK-NEXT: onnx.Clip
func.func @unmoved_no_round(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{keep fractions; round in between [raise-arithmetic: not-a-quantize]}}
  %y = onnx.Clip(%a, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A Cast wraps where a quantize saturates.
// CHECK-LABEL: func.func @unmoved_unbounded
// CHECK: onnx.Round
func.func @unmoved_unbounded(%x : tensor<3x4xf32>) -> tensor<3x4xui8> {
  %m = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[raise-arithmetic: not-a-quantize]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = onnx.Cast(%b) {to = 2 : i64} : (tensor<3x4xf32>) -> tensor<3x4xui8>
  func.return %y : tensor<3x4xui8>
}

// -----

// One bound is none.
// CHECK-LABEL: func.func @unmoved_unbounded_above
// CHECK: onnx.Round
// CHECK-NEXT: onnx.Clip
func.func @unmoved_unbounded_above(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[raise-arithmetic: not-a-quantize]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%b, %lo, _) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A clamp between integers rounds nothing; this one gives -2.5, which no step stands for.
// CHECK-LABEL: func.func @unmoved_fractional_bound
// CHECK: onnx.Round
// CHECK-NEXT: onnx.Clip
func.func @unmoved_fractional_bound(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-2.5] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[raise-arithmetic: not-a-quantize]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%b, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_negative_multiplier
// CHECK: onnx.Round
func.func @unmoved_negative_multiplier(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %m = onnx.Constant() {value = #onnx.tensor<[-4.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[-128.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %m) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[raise-arithmetic: scale-value]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%b, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_wide_cast
// CHECK: onnx.Cast
// CHECK: onnx.Mul
func.func @unmoved_wide_cast(%x : tensor<3x4xi32>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.3] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Cast(%x) {to = 1 : i64} : (tensor<3x4xi32>) -> tensor<3x4xf32>
  %y = onnx.Mul(%a, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Indices are no quantized values, on either side of their Cast.
// CHECK-LABEL: func.func @unmoved_indices
// CHECK: onnx.Cast
// CHECK: onnx.Round
func.func @unmoved_indices(%x : tensor<3x4xi64>) -> tensor<3x4xi64> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.3] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[127.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Cast(%x) {to = 1 : i64} : (tensor<3x4xi64>) -> tensor<3x4xf32>
  %b = onnx.Mul(%a, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[raise-arithmetic: other-type]}}
  %c = onnx.Round(%b) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %d = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Cast(%d) {to = 7 : i64} : (tensor<3x4xf32>) -> tensor<3x4xi64>
  func.return %y : tensor<3x4xi64>
}

// -----

// More than 16 bits.
// CHECK-LABEL: func.func @unmoved_wide_range
// CHECK: onnx.Round(
// CHECK: onnx.Clip(
func.func @unmoved_wide_range(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[7.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[65536.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{no 8-bit or 16-bit type holds [0, 65536] [raise-arithmetic: storage-type]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// Real zero would be 300.
// CHECK-LABEL: func.func @unmoved_zero_point_outside
// CHECK: onnx.Round(
// CHECK: onnx.Clip(
func.func @unmoved_zero_point_outside(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[4.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[300.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %s) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{the zero point 300 is outside the storage range [raise-arithmetic: invalid-parameters]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// A factor for each element.
// CHECK-LABEL: func.func @unmoved_scales_of_elements
// CHECK: onnx.Round(
// CHECK: onnx.Clip(
func.func @unmoved_scales_of_elements(%x : tensor<3x4xf32>) -> tensor<3x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 4.0, 8.0, 1.0, 2.0, 4.0, 8.0, 1.0, 2.0, 4.0, 8.0] : tensor<3x4xf32>>} : () -> tensor<3x4xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[7.0] : tensor<f32>>} : () -> tensor<f32>
  %lo = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %hi = onnx.Constant() {value = #onnx.tensor<[255.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Mul(%x, %s) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  // expected-remark@+1 {{the scales run along more than one axis [raise-arithmetic: weight-axis]}}
  %b = onnx.Round(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %c = onnx.Add(%b, %z) : (tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
  %y = onnx.Clip(%c, %lo, %hi) : (tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// -----

// At run time: the integers are cast to i32 and shifted there. Bytes that are shifted as such may wrap.
// CHECK-LABEL: func.func @dequantize_in_i32
// CHECK: %[[Q:.*]] = quant.scast %q : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32:1, {0.5:7,0.25:8,0.125:9}>>
// CHECK-NEXT: quant.dcast %[[Q]]
func.func @dequantize_in_i32(%q : tensor<2x3xui8>) -> tensor<2x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[-7, -8, -9] : tensor<3xi32>>} : () -> tensor<3xi32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125] : tensor<3xf32>>} : () -> tensor<3xf32>
  %a = onnx.Cast(%q) {to = 6 : i64} : (tensor<2x3xui8>) -> tensor<2x3xi32>
  %b = onnx.Add(%a, %z) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %c = onnx.Cast(%b) {to = 1 : i64} : (tensor<2x3xi32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%c, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @bytes_that_wrap
// CHECK: %[[B:.*]] = onnx.Sub(%q
// CHECK-NEXT: quant.scast %[[B]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.5>>
func.func @bytes_that_wrap(%q : tensor<2x3xui8>) -> tensor<2x3xf32> {
  %z = onnx.Constant() {value = #onnx.tensor<[7] : tensor<ui8>>} : () -> tensor<ui8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.Sub(%q, %z) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  %c = onnx.Cast(%b) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %y = onnx.Mul(%c, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// Integers that a product multiplies by integers are read with scale 1: what scales the sum stands behind it.
// CHECK-LABEL: func.func @products_of_integers
// CHECK-SAME: (%[[X:.*]]: tensor<1x4x3xi8>)
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} -> tensor<2x3x!quant.uniform<u8:f32, 1.0:128>>
// CHECK: %[[Q:.*]] = quant.scast %[[X]] : {{.*}} to tensor<1x4x3x!quant.uniform<i8:f32, 1.0>>
// CHECK: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK: %[[D:.*]] = quant.dcast %[[W]]
// CHECK: %[[T:.*]] = onnx.Transpose(%[[D]])
// CHECK: onnx.MatMul(%[[R]], %[[T]])
func.func @products_of_integers(%x : tensor<1x4x3xi8>) -> tensor<1x4x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 255, 128, 0, 77] : tensor<2x3xui8>>} : () -> tensor<2x3xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[128.0] : tensor<f32>>} : () -> tensor<f32>
  %r = onnx.Cast(%x) {to = 1 : i64} : (tensor<1x4x3xi8>) -> tensor<1x4x3xf32>
  %c = onnx.Cast(%w) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
  %d = onnx.Sub(%c, %z) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %t = onnx.Transpose(%d) {perm = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %y = onnx.MatMul(%r, %t) : (tensor<1x4x3xf32>, tensor<3x2xf32>) -> tensor<1x4x2xf32>
  func.return %y : tensor<1x4x2xf32>
}

// -----

// Multiplied by floats, or by integers too wide, or added, they stay floats.
// CHECK-LABEL: func.func @unmoved_products
// CHECK-NOT: quant.
// CHECK: func.return
func.func @unmoved_products(%x : tensor<4x3xi8>, %f : tensor<3x2xf32>, %i : tensor<3x2xi32>, %v : tensor<4x3xi8>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x3xf32>) {
  %a = onnx.Cast(%x) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %b = onnx.Cast(%i) {to = 1 : i64} : (tensor<3x2xi32>) -> tensor<3x2xf32>
  %c = onnx.Cast(%v) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %d = onnx.Cast(%x) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %p = onnx.MatMul(%a, %f) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %q = onnx.MatMul(%a, %b) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %s = onnx.Add(%c, %d) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %p, %q, %s : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x3xf32>
}

// -----

// Opset 9 has no casts; raise-opset, which comes first, raises all models but those with an op that it does not know.
// CHECK-LABEL: func.func @unmoved_before_casts
// CHECK-NOT: quant.
// CHECK: func.return
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @unmoved_before_casts(%x: tensor<2x3xui8>) -> tensor<2x3xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
    // expected-remark@+1 {{casts came with opset 10, to which the model is not raised}}
    %f = onnx.Cast(%x) {to = 1 : i64} : (tensor<2x3xui8>) -> tensor<2x3xf32>
    %y = onnx.Mul(%f, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    func.return %y : tensor<2x3xf32>
  }
}

// -----

// Products of int32 whose operands are bytes, less a zero point, or constants of that size, are sums of bytes.
// CHECK-LABEL: func.func @sums_of_bytes
// CHECK-NEXT: onnx.MatMulInteger(%x, %w, _, _) : (tensor<4x3xi8>, tensor<3x2xui8>) -> tensor<4x2xi32>
// CHECK-NEXT: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[-7] : tensor<i8>>}
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>}
// CHECK-NEXT: onnx.MatMulInteger(%x, %w, %[[A]], %[[B]])
// CHECK-NEXT: %[[K:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -128, 127, 0, 5, 6] : tensor<3x2xi8>>}
// CHECK-NEXT: onnx.MatMulInteger(%x, %[[K]], _, _)
func.func @sums_of_bytes(%x : tensor<4x3xi8>, %w : tensor<3x2xui8>) -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
  %k = onnx.Constant() {value = #onnx.tensor<[1, -128, 127, 0, 5, 6] : tensor<3x2xi32>>} : () -> tensor<3x2xi32>
  %z = onnx.Constant() {value = #onnx.tensor<[7] : tensor<i32>>} : () -> tensor<i32>
  %a = onnx.Cast(%x) {to = 6 : i64} : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %b = onnx.Cast(%w) {to = 6 : i64} : (tensor<3x2xui8>) -> tensor<3x2xi32>
  %p = onnx.MatMul(%a, %b) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %s = onnx.Add(%a, %z) : (tensor<4x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %q = onnx.MatMul(%s, %b) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %r = onnx.MatMul(%a, %k) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  func.return %p, %q, %r : tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
}

// Wider integers, constants that no byte holds, a zero point beyond the range, and one for each row.
// CHECK-LABEL: func.func @unmoved_wide_products
// CHECK-NOT: onnx.MatMulInteger
// CHECK: func.return
func.func @unmoved_wide_products(%x : tensor<4x3xi8>, %w : tensor<3x2xi16>, %i : tensor<3x2xi32>) -> (tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>) {
  %k = onnx.Constant() {value = #onnx.tensor<[1, -1, 255, 0, 5, 6] : tensor<3x2xi32>>} : () -> tensor<3x2xi32>
  %j = onnx.Constant() {value = #onnx.tensor<[1, -1, 25, 0, 5, 6] : tensor<3x2xi32>>} : () -> tensor<3x2xi32>
  %z = onnx.Constant() {value = #onnx.tensor<[129] : tensor<i32>>} : () -> tensor<i32>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4x1xi32>>} : () -> tensor<4x1xi32>
  %a = onnx.Cast(%x) {to = 6 : i64} : (tensor<4x3xi8>) -> tensor<4x3xi32>
  %b = onnx.Cast(%w) {to = 6 : i64} : (tensor<3x2xi16>) -> tensor<3x2xi32>
  %p = onnx.MatMul(%a, %b) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %q = onnx.MatMul(%a, %k) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %s = onnx.Sub(%a, %z) : (tensor<4x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %r = onnx.MatMul(%s, %j) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %t = onnx.Sub(%a, %v) : (tensor<4x3xi32>, tensor<4x1xi32>) -> tensor<4x3xi32>
  %u = onnx.MatMul(%t, %j) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  %o = onnx.MatMul(%a, %i) : (tensor<4x3xi32>, tensor<3x2xi32>) -> tensor<4x2xi32>
  func.return %p, %q, %r, %u, %o : tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>, tensor<4x2xi32>
}
