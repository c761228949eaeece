// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// A maximum with the zero point is Relu.
// CHECK-LABEL: func.func @max_is_relu
// CHECK-SAME: (%[[Q:.*]]: tensor<3x4x
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[Q]])
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[R]])
// CHECK-NEXT: quant.scast %[[T]] : {{.*}} to tensor<4x3xui8>
func.func @max_is_relu(%q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<4x3xui8> {
  %z = onnx.Constant() {value = #onnx.tensor<[117] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x4xui8>
  %m = onnx.Max(%z, %i) {} : (tensor<ui8>, tensor<3x4xui8>) -> tensor<3x4xui8>
  %t = onnx.Transpose(%m) {perm = array<i64: 1, 0>} : (tensor<3x4xui8>) -> tensor<4x3xui8>
  func.return %t : tensor<4x3xui8>
}

// -----

// CHECK-LABEL: func.func @clip
// CHECK: %[[HI:.*]] = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>}
// CHECK: onnx.Clip(%{{.*}}, _, %[[HI]])
func.func @clip(%q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<3x4xui8> {
  %lo = onnx.Constant() {value = #onnx.tensor<[0] : tensor<ui8>>} : () -> tensor<ui8>
  %hi = onnx.Constant() {value = #onnx.tensor<[129] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x4xui8>
  %m = onnx.Clip(%i, %lo, %hi) {} : (tensor<3x4xui8>, tensor<ui8>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %m : tensor<3x4xui8>
}

// -----

// The stored 119 is (119 - 117) * 0.5.
// CHECK-LABEL: func.func @pad
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>}
// CHECK: onnx.Pad(%{{.*}}, %{{.*}}, %[[V]], _)
func.func @pad(%q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<4x6xui8> {
  %p = onnx.Constant() {value = #onnx.tensor<[1, 0, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[119] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x4xui8>
  %m = onnx.Pad(%i, %p, %v) {} : (tensor<3x4xui8>, tensor<4xi64>, tensor<ui8>) -> tensor<4x6xui8>
  func.return %m : tensor<4x6xui8>
}

// -----

// Integer constants beside integers of one type are of that type.
// CHECK-LABEL: func.func @concat_with_constant
// CHECK: %[[K:.*]] = onnx.Constant() {{.*}} -> tensor<1x2x!quant.uniform<u8:f32, 0.5:117>>
// CHECK: onnx.Concat(%{{.*}}, %[[K]]) {axis = 1 : i64}
func.func @concat_with_constant(%q : tensor<1x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<1x6xui8> {
  %k = onnx.Constant() {value = #onnx.tensor<[3, 250] : tensor<1x2xui8>>} : () -> tensor<1x2xui8>
  %i = quant.scast %q : tensor<1x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<1x4xui8>
  %m = onnx.Concat(%i, %k) {axis = 1 : i64} : (tensor<1x4xui8>, tensor<1x2xui8>) -> tensor<1x6xui8>
  func.return %m : tensor<1x6xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_bound_varies
// CHECK: onnx.Max(%{{.*}}, %{{.*}}) : (tensor<3x2xui8>
func.func @unmoved_bound_varies(%q : tensor<3x2x!quant.uniform<u8:f32:0, {0.5,0.25,2.0:3}>>) -> tensor<3x2xui8> {
  %z = onnx.Constant() {value = #onnx.tensor<[11, 12] : tensor<2xui8>>} : () -> tensor<2xui8>
  %i = quant.scast %q : tensor<3x2x!quant.uniform<u8:f32:0, {0.5,0.25,2.0:3}>> to tensor<3x2xui8>
  // expected-remark@+1 {{[sink-dequantize: activation-per-axis]}}
  %m = onnx.Max(%i, %z) {} : (tensor<3x2xui8>, tensor<2xui8>) -> tensor<3x2xui8>
  func.return %m : tensor<3x2xui8>
}

// -----

// A bound of rank 2 is none that a session takes.
// CHECK-LABEL: func.func @unmoved_bound_of_rank_2
// CHECK: onnx.Clip({{.*}}) : (tensor<3x4xui8>
func.func @unmoved_bound_of_rank_2(%q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<3x4xui8> {
  %l = onnx.Constant() {value = #onnx.tensor<[9] : tensor<1x1xui8>>} : () -> tensor<1x1xui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x4xui8>
  // expected-remark@+1 {{[sink-dequantize: computed-parameter]}}
  %m = onnx.Clip(%i, %l) {} : (tensor<3x4xui8>, tensor<1x1xui8>) -> tensor<3x4xui8>
  func.return %m : tensor<3x4xui8>
}

// -----

// Nothing lies between 9 and 3.
// CHECK-LABEL: func.func @unmoved_empty_range
// CHECK: onnx.Clip({{.*}}) : (tensor<3x4xui8>
func.func @unmoved_empty_range(%q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<3x4xui8> {
  %l = onnx.Constant() {value = #onnx.tensor<[9] : tensor<ui8>>} : () -> tensor<ui8>
  %h = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x4xui8>
  // expected-remark@+1 {{no stored integer lies between the bounds of the clamp [sink-dequantize: empty-tensor]}}
  %m = onnx.Clip(%i, %l, %h) {} : (tensor<3x4xui8>, tensor<ui8>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %m : tensor<3x4xui8>
}

// -----

// The type ends at 200.
// CHECK-LABEL: func.func @unmoved_bound_outside
// CHECK: onnx.Clip({{.*}}) : (tensor<3x4xui8>
func.func @unmoved_bound_outside(%q : tensor<3x4x!quant.uniform<u8<0:200>:f32, 0.5:117>>) -> tensor<3x4xui8> {
  %h = onnx.Constant() {value = #onnx.tensor<[201] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8<0:200>:f32, 0.5:117>> to tensor<3x4xui8>
  // expected-remark@+1 {{the bound is outside the storage range [sink-dequantize: bound-outside]}}
  %m = onnx.Clip(%i, _, %h) {} : (tensor<3x4xui8>, tensor<ui8>) -> tensor<3x4xui8>
  func.return %m : tensor<3x4xui8>
}

// -----

// CHECK-LABEL: func.func @unmoved_pad_value_outside
// CHECK: onnx.Pad({{.*}}) : (tensor<3x4xui8>
func.func @unmoved_pad_value_outside(%q : tensor<3x4x!quant.uniform<u8<0:200>:f32, 0.5:117>>) -> tensor<4x6xui8> {
  %p = onnx.Constant() {value = #onnx.tensor<[1, 0, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[201] : tensor<ui8>>} : () -> tensor<ui8>
  %i = quant.scast %q : tensor<3x4x!quant.uniform<u8<0:200>:f32, 0.5:117>> to tensor<3x4xui8>
  // expected-remark@+1 {{the value that Pad inserts is outside the storage range [sink-dequantize: bound-outside]}}
  %m = onnx.Pad(%i, %p, %v) {} : (tensor<3x4xui8>, tensor<4xi64>, tensor<ui8>) -> tensor<4x6xui8>
  func.return %m : tensor<4x6xui8>
}

// -----

// Of the operand's shape nothing is known.
// CHECK-LABEL: func.func @unmoved_bound_shape
// CHECK: onnx.Min({{.*}}) : (tensor<*xui8>
func.func @unmoved_bound_shape(%q : tensor<*x!quant.uniform<u8:f32:0, {0.5,0.25,2.0:3}>>) -> tensor<*xui8> {
  %z = onnx.Constant() {value = #onnx.tensor<[11, 12] : tensor<2xui8>>} : () -> tensor<2xui8>
  %i = quant.scast %q : tensor<*x!quant.uniform<u8:f32:0, {0.5,0.25,2.0:3}>> to tensor<*xui8>
  // expected-remark@+1 {{the bound differs from element to element [sink-dequantize: not-a-quantize]}}
  %m = onnx.Min(%i, %z) {} : (tensor<*xui8>, tensor<2xui8>) -> tensor<*xui8>
  func.return %m : tensor<*xui8>
}

// A model need not say of what type its integers are: the cast says it.

// CHECK-LABEL: func.func @unknown_integers(
// CHECK: %[[R:.*]] = onnx.Relu(%q) {{.*}}-> tensor<*x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[R]])
// CHECK-NEXT: quant.scast %[[T]] {{.*}} to tensor<*xui8>
func.func @unknown_integers(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<*x!onnx.any> {
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
  %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>} : () -> tensor<ui8>
  %m = onnx.Max(%i, %z) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<*x!onnx.any>
  %t = onnx.Transpose(%m) : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
  func.return %t : tensor<*x!onnx.any>
}

// -----

// Integers that are read under another type than they were quantized to are moved as what they were.

// CHECK-LABEL: func.func @read_under_another_type(
// CHECK: %[[C:.*]] = onnx.Concat(%q, %r) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.5:117>>
// CHECK-NEXT: %[[I:.*]] = quant.scast %[[C]] : {{.*}} to tensor<5x3xui8>
// CHECK-NEXT: %[[W:.*]] = quant.scast %[[I]] : {{.*}} to tensor<5x3x!quant.uniform<u8:f32, 0.25:9>>
// CHECK-NEXT: quant.dcast %[[W]]
func.func @read_under_another_type(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:117>>, %r: tensor<3x3x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<5x3xf32> {
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:117>> to tensor<2x3xui8>
  %a = quant.scast %i : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:9>>
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.25:9>> to tensor<2x3xf32>
  %j = quant.scast %r : tensor<3x3x!quant.uniform<u8:f32, 0.5:117>> to tensor<3x3xui8>
  %b = quant.scast %j : tensor<3x3xui8> to tensor<3x3x!quant.uniform<u8:f32, 0.25:9>>
  %y = quant.dcast %b : tensor<3x3x!quant.uniform<u8:f32, 0.25:9>> to tensor<3x3xf32>
  %c = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  func.return %c : tensor<5x3xf32>
}

// Relu clamps at the zero point of the type that it is on.

// CHECK-LABEL: func.func @clamped_under_another_type(
// CHECK: %[[W:.*]] = quant.scast %{{.*}} : {{.*}} to tensor<2x3x!quant.uniform<u8:f32, 0.25:9>>
// CHECK-NEXT: onnx.Relu(%[[W]])
func.func @clamped_under_another_type(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<2x3xf32> {
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:117>> to tensor<2x3xui8>
  %a = quant.scast %i : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:9>>
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.25:9>> to tensor<2x3xf32>
  %c = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %c : tensor<2x3xf32>
}

// Parts that were quantized to several types are what they are read as.

// CHECK-LABEL: func.func @unmoved_mixed_scales(
// CHECK: onnx.Concat({{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.25:9>>
func.func @unmoved_mixed_scales(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:117>>, %r: tensor<3x3x!quant.uniform<u8:f32, 2.0:11>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.25:9>> {
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:117>> to tensor<2x3xui8>
  %a = quant.scast %i : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:9>>
  %j = quant.scast %r : tensor<3x3x!quant.uniform<u8:f32, 2.0:11>> to tensor<3x3xui8>
  %b = quant.scast %j : tensor<3x3xui8> to tensor<3x3x!quant.uniform<u8:f32, 0.25:9>>
  // expected-remark@+1 {{the operands have different scales or zero points [sink-dequantize: mixed-scales]}}
  %c = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x3x!quant.uniform<u8:f32, 0.25:9>>, tensor<3x3x!quant.uniform<u8:f32, 0.25:9>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.25:9>>
  func.return %c : tensor<5x3x!quant.uniform<u8:f32, 0.25:9>>
}

// A Concat that requantizes computes: what its integers were quantized as is none of what it makes.

// CHECK-LABEL: func.func @unmoved_requantizing_concat(
// CHECK: %[[A:.*]] = quant.scast %{{.*}} : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:117>>
// CHECK: %[[C:.*]] = onnx.Concat(%[[A]], %[[A]]) {{.*}}-> tensor<4x3x!quant.uniform<u8:f32, 0.2:131>>
// CHECK: quant.dcast %[[C]]
func.func @unmoved_requantizing_concat(%q: tensor<2x3x!quant.uniform<u8:f32, 0.5:117>>) -> tensor<4x3xf32> {
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.5:117>> to tensor<2x3xui8>
  %a = quant.scast %i : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.25:117>>
  %c = onnx.Concat(%a, %a) {axis = 0 : i64} : (tensor<2x3x!quant.uniform<u8:f32, 0.25:117>>, tensor<2x3x!quant.uniform<u8:f32, 0.25:117>>) -> tensor<4x3x!quant.uniform<u8:f32, 0.2:131>>
  %d = quant.dcast %c : tensor<4x3x!quant.uniform<u8:f32, 0.2:131>> to tensor<4x3xf32>
  func.return %d : tensor<4x3xf32>
}
