// RUN: OPT %s -p fold-casts | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-casts

// Requantizing to the same parameters changes nothing.

// CHECK-LABEL: func.func @pair(
// CHECK-NEXT: func.return %q
func.func @pair(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// One scale is repeated along an axis: the same integers, read as the other type.

// CHECK-LABEL: func.func @repeated(
// CHECK-NEXT: %[[I:.*]] = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
// CHECK-NEXT: %[[R:.*]] = quant.scast %[[I]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:13}>>
// CHECK-NEXT: func.return %[[R]]
func.func @repeated(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:13}>> {
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:13}>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:13}>>
}

// CHECK-LABEL: func.func @unmoved_one_other_zero_point(
// CHECK-NEXT: quant.dcast
// CHECK-NEXT: quant.qcast
func.func @unmoved_one_other_zero_point(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:14}>> {
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{a pair of casts with other parameters rounds a second time [fold-casts: other-parameters]}}
  %y = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:14}>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32:0, {0.02:13,0.02:14}>>
}

// 16 bits per axis; the float between has another reader and stays.

// CHECK-LABEL: func.func @pair_with_a_reader(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: func.return %q, %[[X]]
func.func @pair_with_a_reader(%q: tensor<3x2x!quant.uniform<i16:f32:1, {0.5:300,0.25:-7}>>) -> (tensor<3x2x!quant.uniform<i16:f32:1, {0.5:300,0.25:-7}>>, tensor<3x2xf32>) {
  %x = quant.dcast %q : tensor<3x2x!quant.uniform<i16:f32:1, {0.5:300,0.25:-7}>> to tensor<3x2xf32>
  %y = quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i16:f32:1, {0.5:300,0.25:-7}>>
  func.return %y, %x : tensor<3x2x!quant.uniform<i16:f32:1, {0.5:300,0.25:-7}>>, tensor<3x2xf32>
}

// Not every u16 survives the way through f16, but its number does: it is read from the first.

// CHECK-LABEL: func.func @read_through(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]]
// CHECK-NEXT: func.return %[[Q]], %[[X]]
func.func @read_through(%q: tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>>) -> (tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>>, tensor<3x2xf16>) {
  %x = quant.dcast %q : tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>> to tensor<3x2xf16>
  // expected-remark@+1 {{float does not represent every stored integer exactly [fold-casts: other-type]}}
  %y = quant.qcast %x : tensor<3x2xf16> to tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>>
  %z = quant.dcast %y : tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>> to tensor<3x2xf16>
  func.return %y, %z : tensor<3x2x!quant.uniform<u16:f16, 6.25e-05:7>>, tensor<3x2xf16>
}

// Integers that are read twice under one type are read once, so that what quantizes their numbers again is one, too.

// CHECK-LABEL: func.func @equal_readings(
// CHECK-NEXT: %[[Q:.*]] = quant.scast %i
// CHECK-NEXT: %[[X:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[R:.*]] = quant.qcast %[[X]]
// CHECK-NEXT: func.return %[[R]], %[[R]]
func.func @equal_readings(%i: tensor<3x2xui8>) -> (tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>) {
  %a = quant.scast %i : tensor<3x2xui8> to tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>
  %x = quant.dcast %a : tensor<3x2x!quant.uniform<u8:f32, 0.02:7>> to tensor<3x2xf32>
  // expected-remark@+1 {{a pair of casts with other parameters rounds a second time [fold-casts: other-parameters]}}
  %y = quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>
  %b = quant.scast %i : tensor<3x2xui8> to tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>
  %u = quant.dcast %b : tensor<3x2x!quant.uniform<u8:f32, 0.02:7>> to tensor<3x2xf32>
  %v = quant.qcast %u : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>
  func.return %y, %v : tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<3x2x!quant.uniform<u8:f32, 0.5:9>>
}

// Under two types they are other numbers.

// CHECK-LABEL: func.func @unmoved_readings_of_two_types(
// CHECK-NEXT: quant.scast %i
// CHECK-NEXT: quant.scast %i
func.func @unmoved_readings_of_two_types(%i: tensor<3x2xui8>) -> (tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>, tensor<3x2x!quant.uniform<u8:f32, 0.02:8>>) {
  %a = quant.scast %i : tensor<3x2xui8> to tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>
  %b = quant.scast %i : tensor<3x2xui8> to tensor<3x2x!quant.uniform<u8:f32, 0.02:8>>
  func.return %a, %b : tensor<3x2x!quant.uniform<u8:f32, 0.02:7>>, tensor<3x2x!quant.uniform<u8:f32, 0.02:8>>
}

// Two quantizes that say the same are one, behind what they quantize.

// CHECK-LABEL: func.func @equal_quantizes(
// CHECK-NEXT: %[[Y:.*]] = onnx.Neg(%x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[Y]]
// CHECK-NEXT: %[[Z:.*]] = onnx.Relu(%[[Q]])
// CHECK-NEXT: func.return %[[Q]], %[[Z]]
func.func @equal_quantizes(%x: tensor<2xf32>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x!quant.uniform<u8:f32, 0.02:13>>) {
  %y = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %a = quant.qcast %y : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %z = onnx.Relu(%a) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %b = quant.qcast %y : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %b, %z : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing goes: two zero points.

// CHECK-LABEL: func.func @unmoved_other_zero_point(
// CHECK-NEXT: quant.qcast %x
// CHECK-NEXT: quant.qcast %x
func.func @unmoved_other_zero_point(%x: tensor<2xf32>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x!quant.uniform<u8:f32, 0.02:14>>) {
  %a = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %b = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:14>>
  func.return %a, %b : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x!quant.uniform<u8:f32, 0.02:14>>
}

// Read as integers and back; integers and back.

// CHECK-LABEL: func.func @storage(
// CHECK-NEXT: func.return %q, %i
func.func @storage(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2xi8>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi8>) {
  %a = quant.scast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xui8>
  %b = quant.scast %a : tensor<2xui8> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %c = quant.scast %i : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.5:-3>>
  %d = quant.scast %c : tensor<2x!quant.uniform<i8:f32, 0.5:-3>> to tensor<2xi8>
  func.return %b, %d : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi8>
}

// Nothing goes: the pair requantizes.

// CHECK-LABEL: func.func @unmoved_other_scale(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: %[[Y:.*]] = quant.qcast %[[X]]
// CHECK-NEXT: func.return %[[Y]]
func.func @unmoved_other_scale(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.03:13>> {
  %x = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  // expected-remark@+1 {{quant.qcast 'quant.qcast': a pair of casts with other parameters rounds a second time [fold-casts: other-parameters]}}
  %y = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.03:13>>
  func.return %y : tensor<2x!quant.uniform<u8:f32, 0.03:13>>
}

// A requantize that a second one alone reads, to the same steps in the other signedness, is that one.

// CHECK-LABEL: func.func @requantized_alike(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: %[[Y:.*]] = quant.qcast %[[X]] : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.03:-115>>
// CHECK-NEXT: func.return %[[Y]]
func.func @requantized_alike(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<i8:f32, 0.03:-115>> {
  %x = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %a = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.03:13>>
  %b = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.03:13>> to tensor<2xf32>
  %y = quant.qcast %b : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.03:-115>>
  func.return %y : tensor<2x!quant.uniform<i8:f32, 0.03:-115>>
}

// Not if the steps differ, if it has another reader, or if it is no requantize: a fused op has integers of its type.

// CHECK-LABEL: func.func @unmoved_requantized_twice(
// CHECK-COUNT-4: quant.qcast
// CHECK: func.return
func.func @unmoved_requantized_twice(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x!quant.uniform<i8:f32, 0.03:-114>>, tensor<2x!quant.uniform<i8:f32, 0.04:-115>>, tensor<2xf32>) {
  %x = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %a = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.03:13>>
  %b = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.03:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %y = quant.qcast %b : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.03:-114>>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %c = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.04:13>>
  %d = quant.dcast %c : tensor<2x!quant.uniform<u8:f32, 0.04:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %z = quant.qcast %d : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.04:-115>>
  func.return %y, %z, %d : tensor<2x!quant.uniform<i8:f32, 0.03:-114>>, tensor<2x!quant.uniform<i8:f32, 0.04:-115>>, tensor<2xf32>
}

// CHECK-LABEL: func.func @unmoved_quantized_real(
// CHECK-NEXT: quant.qcast %x
// CHECK-NEXT: quant.dcast
// CHECK-NEXT: quant.qcast
func.func @unmoved_quantized_real(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.03:-115>> {
  %a = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.03:13>>
  %b = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.03:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %y = quant.qcast %b : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.03:-115>>
  func.return %y : tensor<2x!quant.uniform<i8:f32, 0.03:-115>>
}

// CHECK-LABEL: func.func @unmoved_other_bounds(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: quant.qcast %[[X]]
func.func @unmoved_other_bounds(%q: tensor<2x!quant.uniform<i8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<i8<-127:127>:f32, 0.02:13>> {
  %x = quant.dcast %q : tensor<2x!quant.uniform<i8:f32, 0.02:13>> to tensor<2xf32>
  // expected-remark@+1 {{[fold-casts: other-parameters]}}
  %y = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-127:127>:f32, 0.02:13>>
  func.return %y : tensor<2x!quant.uniform<i8<-127:127>:f32, 0.02:13>>
}

// Nothing goes: float32 holds no 32-bit integer, float16 no product beyond 65504.

// CHECK-LABEL: func.func @unmoved_wide_storage(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: quant.qcast %[[X]]
func.func @unmoved_wide_storage(%q: tensor<2x!quant.uniform<i32:f32, 0.02>>) -> tensor<2x!quant.uniform<i32:f32, 0.02>> {
  %x = quant.dcast %q : tensor<2x!quant.uniform<i32:f32, 0.02>> to tensor<2xf32>
  // expected-remark@+1 {{float does not represent every stored integer exactly [fold-casts: other-type]}}
  %y = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i32:f32, 0.02>>
  func.return %y : tensor<2x!quant.uniform<i32:f32, 0.02>>
}

// CHECK-LABEL: func.func @unmoved_half_overflow(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: quant.qcast %[[X]]
func.func @unmoved_half_overflow(%q: tensor<2x!quant.uniform<u8:f16, 512.0:13>>) -> tensor<2x!quant.uniform<u8:f16, 512.0:13>> {
  %x = quant.dcast %q : tensor<2x!quant.uniform<u8:f16, 512.0:13>> to tensor<2xf16>
  // expected-remark@+1 {{[fold-casts: other-type]}}
  %y = quant.qcast %x : tensor<2xf16> to tensor<2x!quant.uniform<u8:f16, 512.0:13>>
  func.return %y : tensor<2x!quant.uniform<u8:f16, 512.0:13>>
}

// Nothing goes: a quantize that is dequantized rounds, which is what the model means.

// CHECK-LABEL: func.func @unmoved_rounding(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: quant.dcast %[[Q]]
func.func @unmoved_rounding(%x: tensor<2xf32>) -> tensor<2xf32> {
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  %y = quant.dcast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// Nothing goes: the same bytes under two types.

// CHECK-LABEL: func.func @unmoved_reinterpretation(
// CHECK-NEXT: %[[A:.*]] = quant.scast %q
// CHECK-NEXT: quant.scast %[[A]]
func.func @unmoved_reinterpretation(%q: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x!quant.uniform<u8:f32, 0.5:3>> {
  %a = quant.scast %q : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xui8>
  %b = quant.scast %a : tensor<2xui8> to tensor<2x!quant.uniform<u8:f32, 0.5:3>>
  func.return %b : tensor<2x!quant.uniform<u8:f32, 0.5:3>>
}

// Narrower storage bounds, as Brevitas has them, are a clamp of the whole storage's integers.

// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5:2>>
// CHECK-NEXT: %[[L:.*]] = onnx.Constant() {value = #onnx.tensor<[-4.5] : tensor<f32>>}
// CHECK-NEXT: %[[H:.*]] = onnx.Constant() {value = #onnx.tensor<[2.5] : tensor<f32>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Clip(%[[Q]], %[[L]], %[[H]])
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[C]]
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[C]]
// CHECK-NEXT: func.return %[[D]], %[[S]]
func.func @narrow(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi8>) {
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
  %s = quant.scast %q : tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>> to tensor<2xi8>
  %d = quant.dcast %q : tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>> to tensor<2xf32>
  func.return %d, %s : tensor<2xf32>, tensor<2xi8>
}

// A weight is quantized when it is compiled, and needs no clamp.

// CHECK-LABEL: func.func @unmoved_narrow_weight(
// CHECK: quant.qcast %{{.*}} : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
func.func @unmoved_narrow_weight() -> tensor<2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-0.7, 0.011] : tensor<2xf32>>} : () -> tensor<2xf32>
  %q = quant.qcast %w : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
  %d = quant.dcast %q : tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>> to tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// CHECK-LABEL: func.func @unmoved_narrow_users(
// CHECK-NEXT: quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
func.func @unmoved_narrow_users(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>> {
  // expected-remark@+1 {{another consumer has a kernel for the narrower type [fold-casts: does-not-pay]}}
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
  func.return %q : tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
}

// CHECK-LABEL: func.func @unmoved_narrow_channels(
// CHECK-NEXT: quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32:0, {0.5:2,0.25}>>
func.func @unmoved_narrow_channels(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark@+1 {{Clip has one bound, on integers it would differ by channel [fold-casts: activation-per-axis]}}
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32:0, {0.5:2,0.25}>>
  %d = quant.dcast %q : tensor<2x!quant.uniform<i8<-7:7>:f32:0, {0.5:2,0.25}>> to tensor<2xf32>
  func.return %d : tensor<2xf32>
}

// Clip's bounds were attributes once.

// CHECK-LABEL: func.func @unmoved_narrow_opset(
// CHECK-NEXT: quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {
func.func @unmoved_narrow_opset(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-remark@+1 {{Clip takes its bounds as operands from opset 11 on [fold-casts: opset]}}
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>>
  %d = quant.dcast %q : tensor<2x!quant.uniform<i8<-7:7>:f32, 0.5:2>> to tensor<2xf32>
  func.return %d : tensor<2xf32>
}
}
