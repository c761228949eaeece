// RUN: OPT %s -p raise-qdq | FILECHECK %s
// RUN: DIAGNOSTICS -p raise-qdq

// Scale and zero point become a type; whoever else reads the integers still reads integers.

// CHECK-LABEL: func.func @pair(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[Q]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: func.return %[[R]], %[[S]]
func.func @pair(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>} : () -> tensor<ui8>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  func.return %r, %q : tensor<2x3xf32>, tensor<2x3xui8>
}

// A weight that two nodes dequantize stays one constant.

// CHECK-LABEL: func.func @shared_weight(
// CHECK-COUNT-1: onnx.Constant() {value = #onnx.tensor<[1, -2, 3] : tensor<3xi8>>}
// CHECK-NOT: tensor<3xi8>>}
// CHECK: func.return
func.func @shared_weight() -> (tensor<3xf32>, tensor<3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3] : tensor<3xi8>>} : () -> tensor<3xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.DequantizeLinear(%w, %s) : (tensor<3xi8>, tensor<f32>) -> tensor<3xf32>
  %b = onnx.DequantizeLinear(%w, %s) : (tensor<3xi8>, tensor<f32>) -> tensor<3xf32>
  func.return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// An annotation alone quantizes nothing; of a constant, and of what is quantized, it says what a node says too.

// CHECK-LABEL: func.func @annotated(
// CHECK: onnx.Constant()
// CHECK: onnx.Relu(%x)
// CHECK: quant.qcast
func.func @annotated(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>, tensor<3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, 1.0, 1.5] : tensor<3xf32>>} attributes {onnx.quantization.0 = {SCALE_TENSOR = "s"}} : () -> tensor<3xf32>
  // expected-remark@+1 {{an annotation states scale and zero point, but no node quantizes the tensor, so it is float; insert QuantizeLinear and DequantizeLinear [raise-qdq: annotation-only]}}
  %a = onnx.Relu(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = "s"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Neg(%x) attributes {onnx.quantization.0 = {SCALE_TENSOR = "s"}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = onnx.QuantizeLinear(%b, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xui8>
  func.return %a, %q, %c : tensor<2x3xf32>, tensor<2x3xui8>, tensor<3xf32>
}

// Integers that come from outside are read as quantized; no zero point is 0 of their type.

// CHECK-LABEL: func.func @integers(
// CHECK: %[[Q:.*]] = quant.scast %q : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32, 0.25>>
// CHECK-NEXT: quant.dcast %[[Q]]
func.func @integers(%q: tensor<2x3xi8>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1xf32>>} : () -> tensor<1xf32>
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<2x3xi8>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// A quantized constant holds its integers.

// CHECK-LABEL: func.func @weight(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
// CHECK-NEXT: quant.dcast %[[W]]
func.func @weight() -> tensor<2x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<2x3xi8>>} : () -> tensor<2x3xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>} : () -> tensor<2xi8>
  %r = onnx.DequantizeLinear(%w, %s, %z) {axis = -2 : i64} : (tensor<2x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x3xf32>
  func.return %r : tensor<2x3xf32>
}

// The axis is 1 if nothing says so.

// CHECK-LABEL: func.func @default_axis(
// CHECK: quant.qcast %x : tensor<4x2xf32> to tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3,0.25:7}>>
func.func @default_axis(%x: tensor<4x2xf32>) -> tensor<4x2xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[3, 7] : tensor<2xui8>>} : () -> tensor<2xui8>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4x2xf32>, tensor<2xf32>, tensor<2xui8>) -> tensor<4x2xui8>
  func.return %q : tensor<4x2xui8>
}

// Blocks of 2 along axis 0.

// CHECK-LABEL: func.func @blocks(
// CHECK{LITERAL}: to tensor<4x1x!quant.uniform<i8:f32:{0:2, 1:1}, {{0.5:3}, {0.25:-7}}>>
func.func @blocks(%x: tensor<4x1xf32>) -> tensor<4x1xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2x1xi8>>} : () -> tensor<2x1xi8>
  %q = onnx.QuantizeLinear(%x, %s, %z) {axis = 0 : i64, block_size = 2 : i64} : (tensor<4x1xf32>, tensor<2x1xf32>, tensor<2x1xi8>) -> tensor<4x1xi8>
  func.return %q : tensor<4x1xi8>
}

// The type without a zero point: uint8, or what the attribute says (int16 is 5).

// CHECK-LABEL: func.func @output_dtype(
// CHECK: quant.qcast %x : tensor<4xf32> to tensor<4x!quant.uniform<u8:f32, 0.02>>
// CHECK: quant.qcast %x : tensor<4xf32> to tensor<4x!quant.uniform<i16:f32, 0.02>>
func.func @output_dtype(%x: tensor<4xf32>) -> (tensor<4xui8>, tensor<4xi16>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %p = onnx.QuantizeLinear(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  %q = onnx.QuantizeLinear(%x, %s) {output_dtype = 5 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xi16>
  func.return %p, %q : tensor<4xui8>, tensor<4xi16>
}

// Half precision and onnxruntime's own domain.

// CHECK-LABEL: func.func @half(
// CHECK: quant.qcast %x : tensor<4xf16> to tensor<4x!quant.uniform<u16:f16, 0.5:300>>
func.func @half(%x: tensor<4xf16>) -> tensor<4xui16> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f16>>} : () -> tensor<f16>
  %z = onnx.Constant() {value = #onnx.tensor<[300] : tensor<ui16>>} : () -> tensor<ui16>
  %q = onnx_ms.QuantizeLinear(%x, %s, %z) : (tensor<4xf16>, tensor<f16>, tensor<ui16>) -> tensor<4xui16>
  func.return %q : tensor<4xui16>
}

// Nothing moves: the scale is computed.

// CHECK-LABEL: func.func @unmoved_computed_scale(
// CHECK: onnx.QuantizeLinear(%x, %s
func.func @unmoved_computed_scale(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xui8> {
  // expected-remark@+1 {{onnx.QuantizeLinear 'onnx.QuantizeLinear': scale or zero point is computed at run time; use static quantization [raise-qdq: run-time-scale]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %q : tensor<4xui8>
}

// A scale that is a copy of a constant, as torch's exporter leaves them, is one when it is folded.

// CHECK-LABEL: func.func @unmoved_unfolded_scale(
// CHECK: onnx.QuantizeLinear(%x, %s
func.func @unmoved_unfolded_scale(%x: tensor<4xf32>) -> tensor<4xui8> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f64>>} : () -> tensor<f64>
  %i = onnx.Identity(%c) : (tensor<f64>) -> tensor<f64>
  %s = onnx.Cast(%i) {to = 1 : i64} : (tensor<f64>) -> tensor<f32>
  // expected-remark@+1 {{scale or zero point is computed from constants by nodes that are not folded yet; run fold-identity,fold-constants first [raise-qdq: unfolded-scale]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<4xf32>, tensor<f32>) -> tensor<4xui8>
  func.return %q : tensor<4xui8>
}

// CHECK-LABEL: func.func @unmoved_computed_zero_point(
// CHECK: onnx.DequantizeLinear(%q, %{{.*}}, %z)
func.func @unmoved_computed_zero_point(%q: tensor<4xui8>, %z: tensor<ui8>) -> tensor<4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qdq: run-time-scale]}}
  %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<4xui8>, tensor<f32>, tensor<ui8>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Nothing moves: of an axis without elements there are no scales.

// CHECK-LABEL: func.func @unmoved_empty_axis(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_empty_axis(%x: tensor<4x0xf32>) -> tensor<4x0xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>} : () -> tensor<0xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xui8>>} : () -> tensor<0xui8>
  // expected-remark@+1 {{an axis without elements has no scales [raise-qdq: empty-tensor]}}
  %q = onnx.QuantizeLinear(%x, %s, %z) {axis = 1 : i64} : (tensor<4x0xf32>, tensor<0xf32>, tensor<0xui8>) -> tensor<4x0xui8>
  func.return %q : tensor<4x0xui8>
}

// Nothing moves: no quantized type stores floats.

// CHECK-LABEL: func.func @unmoved_float8(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_float8(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{f8E4M3FN stores floats, which no integer kernel takes; quantize to int8 [raise-qdq: storage-type]}}
  %q = onnx.QuantizeLinear(%x, %s) {output_dtype = 17 : i64} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf8E4M3FN>
  func.return %q : tensor<4xf8E4M3FN>
}

// Nothing moves: what is quantized is no float.

// CHECK-LABEL: func.func @unmoved_integer_input(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_integer_input(%x: tensor<4xi32>) -> tensor<4xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{i32 is not an expressed type of quantization [raise-qdq: expressed-type]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<4xi32>, tensor<f32>) -> tensor<4xui8>
  func.return %q : tensor<4xui8>
}

// Nothing moves: the arithmetic mixes two float types.

// CHECK-LABEL: func.func @unmoved_scale_of_another_type(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_scale_of_another_type(%x: tensor<4xf16>) -> tensor<4xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{the scale is float32, the tensor f16; quantize with scales of the tensor's type [raise-qdq: expressed-type]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<4xf16>, tensor<f32>) -> tensor<4xui8>
  func.return %q : tensor<4xui8>
}

// Nothing moves: a scale is negative, zero, or no number.

// CHECK-LABEL: func.func @unmoved_negative_scale(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_negative_scale(%x: tensor<2x2xf32>) -> tensor<2x2xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, -0.02] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{a scale is zero, negative or not finite; quantize the model again [raise-qdq: scale-value]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xui8>
  func.return %q : tensor<2x2xui8>
}

// CHECK-LABEL: func.func @unmoved_zero_scale(
// CHECK: onnx.DequantizeLinear(%q
func.func @unmoved_zero_scale(%q: tensor<2x2xui8>) -> tensor<2x2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0, 0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{[raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<2x2xui8>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return %r : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_zero_scale_of_unknown_rank(
// CHECK: onnx.DequantizeLinear(%q
func.func @unmoved_zero_scale_of_unknown_rank(%q: tensor<*xui8>) -> tensor<*xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<*xui8>, tensor<f32>) -> tensor<*xf32>
  func.return %r : tensor<*xf32>
}

// A computed number of scale 0 is 0, and its integers are not read.

// CHECK-LABEL: func.func @zero_scale(
// CHECK: %[[S:.*]] = onnx.Shape(%q)
// CHECK: onnx.Expand(%{{.*}}, %[[S]]) : (tensor<f32>, tensor<2xi64>) -> tensor<?x4xf32>
func.func @zero_scale(%q: tensor<?x4xui8>) -> tensor<?x4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<?x4xui8>, tensor<f32>) -> tensor<?x4xf32>
  func.return %r : tensor<?x4xf32>
}

// A constant of scale 0 is its zero point under any scale, as that of another channel.

// CHECK-LABEL: func.func @dead_channel(
// CHECK: onnx.Constant() {value = #onnx.tensor<[5, -7, 6, -7] : tensor<2x2xi8>>} : () -> tensor<2x2x!quant.uniform<i8:f32:1, {0.25:3,0.25:-7}>>
// CHECK: onnx.Constant() {value = #onnx.tensor<[0, 0] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.0009765625>>
func.func @dead_channel() -> (tensor<2x2xf32>, tensor<2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 90, 6, -128] : tensor<2x2xi8>>} : () -> tensor<2x2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.25, 0.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[3, -7] : tensor<2xi8>>} : () -> tensor<2xi8>
  %r = onnx.DequantizeLinear(%w, %s, %z) {axis = 1 : i64} : (tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xf32>
  %b = onnx.Constant() {value = #onnx.tensor<[2500, -3500] : tensor<2xi32>>} : () -> tensor<2xi32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %p = onnx.DequantizeLinear(%b, %t) : (tensor<2xi32>, tensor<f32>) -> tensor<2xf32>
  func.return %r, %p : tensor<2x2xf32>, tensor<2xf32>
}

// Between casts of one negative scale the integers are counted the other way round: 0 + 255 - 120.

// CHECK-LABEL: func.func @turned_pair(
// CHECK: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.5:135>>
// CHECK: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-1}>>
// CHECK-NOT: onnx.QuantizeLinear
func.func @turned_pair(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[120] : tensor<ui8>>} : () -> tensor<ui8>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x2xf32>
  %t = onnx.Constant() {value = #onnx.tensor<[0.5, -0.25] : tensor<2xf32>>} : () -> tensor<2xf32>
  %o = onnx.Constant() {value = #onnx.tensor<[3, 0] : tensor<2xi8>>} : () -> tensor<2xi8>
  %p = onnx.QuantizeLinear(%x, %t, %o) {axis = 0 : i64} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xi8>
  %u = onnx.DequantizeLinear(%p, %t, %o) {axis = 0 : i64} : (tensor<2x2xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2xf32>
  func.return %r, %u : tensor<2x2xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_scale_value_of_read_integers(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_scale_value_of_read_integers(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xui8>) {
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qdq: scale-value]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xui8>
  // expected-remark@+1 {{[raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<2x2xui8>, tensor<f32>) -> tensor<2x2xf32>
  func.return %r, %q : tensor<2x2xf32>, tensor<2x2xui8>
}

// CHECK-LABEL: func.func @unmoved_nan_scale(
// CHECK: onnx.DequantizeLinear(%q
func.func @unmoved_nan_scale(%q: tensor<4xui8>) -> tensor<4xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<"0x0000C07F" : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{[raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<4xui8>, tensor<f32>) -> tensor<4xf32>
  func.return %r : tensor<4xf32>
}

// Nothing moves: the parameters do not fit the tensor.

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.02] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [raise-qdq: unknown-shape]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<*xf32>, tensor<2xf32>) -> tensor<*xui8>
  func.return %q : tensor<*xui8>
}

// CHECK-LABEL: func.func @unmoved_axis_out_of_rank(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_axis_out_of_rank(%x: tensor<4x2xf32>) -> tensor<4x2xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.02] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{axis 2 is not one of 2 [raise-qdq: invalid-parameters]}}
  %q = onnx.QuantizeLinear(%x, %s) {axis = 2 : i64} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xui8>
  func.return %q : tensor<4x2xui8>
}

// CHECK-LABEL: func.func @unmoved_scale_count(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_scale_count(%x: tensor<4x3xf32>) -> tensor<4x3xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.02] : tensor<2xf32>>} : () -> tensor<2xf32>
  // expected-remark@+1 {{2 scales for an axis of 3 [raise-qdq: invalid-parameters]}}
  %q = onnx.QuantizeLinear(%x, %s) : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<4x3xui8>
  func.return %q : tensor<4x3xui8>
}

// CHECK-LABEL: func.func @unmoved_zero_point_count(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_zero_point_count(%x: tensor<4x3xf32>) -> tensor<4x3xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3, 4, 5] : tensor<3xui8>>} : () -> tensor<3xui8>
  // expected-remark@+1 {{1 scales but 3 zero points [raise-qdq: invalid-parameters]}}
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4x3xf32>, tensor<f32>, tensor<3xui8>) -> tensor<4x3xui8>
  func.return %q : tensor<4x3xui8>
}

// A branch that states a size of a captured value that the graph does not know states it of no cast: both sides have one
// shape.

// CHECK-LABEL: func.func @captured_of_unknown_size(
// CHECK: quant.qcast %{{.*}} : tensor<?xf32> to tensor<?x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: quant.dcast {{.*}} to tensor<?xf32>
func.func @captured_of_unknown_size(%x: tensor<?xf32>, %c: tensor<i1>) -> tensor<1xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.02] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[13] : tensor<ui8>>} : () -> tensor<ui8>
  %e = onnx.Exp(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %y = onnx.If(%c) then_branch {
    %q = onnx.QuantizeLinear(%e, %s, %z) : (tensor<?xf32>, tensor<f32>, tensor<ui8>) -> tensor<1xui8>
    %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<1xui8>, tensor<f32>, tensor<ui8>) -> tensor<1xf32>
    onnx.Yield(%r) : (tensor<1xf32>) -> ()
  } else_branch {
    %n = onnx.Neg(%e) : (tensor<?xf32>) -> tensor<1xf32>
    onnx.Yield(%n) : (tensor<1xf32>) -> ()
  } : (tensor<i1>) -> tensor<1xf32>
  func.return %y : tensor<1xf32>
}

// One block, as long as its axis or longer, is a scale for each place on the other axis.

// CHECK-LABEL: func.func @one_block(
// CHECK{LITERAL}: quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
func.func @one_block(%x: tensor<3x2xf32>) -> tensor<3x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25] : tensor<1x2xf32>>} : () -> tensor<1x2xf32>
  %q = onnx.QuantizeLinear(%x, %s) {axis = 0 : i64, block_size = 4 : i64, output_dtype = 3 : i64} : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xi8>
  func.return %q : tensor<3x2xi8>
}

// CHECK-LABEL: func.func @unmoved_ragged_block(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_ragged_block(%x: tensor<3x2xf32>) -> tensor<3x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125, 2.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  // expected-remark@+1 {{blocks of 2 do not divide axis 0 of [3, 2] [raise-qdq: block-size]}}
  %q = onnx.QuantizeLinear(%x, %s) {axis = 0 : i64, block_size = 2 : i64, output_dtype = 3 : i64} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xi8>
  func.return %q : tensor<3x2xi8>
}

// Nothing moves: the operand's type is not what its zero point says.

// CHECK-LABEL: func.func @unmoved_unknown_storage(
// CHECK: onnx.DequantizeLinear(%q
func.func @unmoved_unknown_storage(%q: tensor<*x!onnx.any>) -> tensor<*xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i8>>} : () -> tensor<i8>
  // expected-remark@+1 {{[raise-qdq: storage-type]}}
  %r = onnx.DequantizeLinear(%q, %s, %z) : (tensor<*x!onnx.any>, tensor<f32>, tensor<i8>) -> tensor<*xf32>
  func.return %r : tensor<*xf32>
}

// Blocks of the wrong number: nobody knows which integers a scale is for.

// CHECK-LABEL: func.func @unmoved_scale_count_of_blocks(
// CHECK: onnx.QuantizeLinear(%x
func.func @unmoved_scale_count_of_blocks(%x: tensor<4x2xf32>) -> tensor<4x2xi8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 0.125] : tensor<3x1xf32>>} : () -> tensor<3x1xf32>
  // expected-remark@+1 {{scales of [3, 1] for [2, 2] blocks [raise-qdq: invalid-parameters]}}
  %q = onnx.QuantizeLinear(%x, %s) {axis = 0 : i64, block_size = 2 : i64, output_dtype = 3 : i64} : (tensor<4x2xf32>, tensor<3x1xf32>) -> tensor<4x2xi8>
  func.return %q : tensor<4x2xi8>
}

// Scales in blocks that fit the other axis alone run along that.

// CHECK-LABEL: func.func @blocks_along_the_other_axis(
// CHECK{LITERAL}: tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.5, 0.25}, {2.0, 4.0}}>>
func.func @blocks_along_the_other_axis() -> tensor<2x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8] : tensor<2x4xi8>>} : () -> tensor<2x4xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5, 0.25, 2.0, 4.0] : tensor<2x2xf32>>} : () -> tensor<2x2xf32>
  %r = onnx.DequantizeLinear(%w, %s) {axis = 0 : i64, block_size = 2 : i64} : (tensor<2x4xi8>, tensor<2x2xf32>) -> tensor<2x4xf32>
  func.return %r : tensor<2x4xf32>
}

// A negative scale of a constant is positive for the integers turned round their zero point.

// CHECK-LABEL: func.func @negative_scale(
// CHECK: value = #onnx.tensor<[-1, 2, 3, 10, 11, 12] : tensor<3x2xi8>>{{.*}} -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5,0.25,2.0:7}>>
// CHECK-NEXT: quant.dcast
func.func @negative_scale() -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 10, 3, 2] : tensor<3x2xi8>>} : () -> tensor<3x2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5, 0.25, -2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %z = onnx.Constant() {value = #onnx.tensor<[0, 0, 7] : tensor<3xi8>>} : () -> tensor<3xi8>
  %r = onnx.DequantizeLinear(%w, %s, %z) {axis = 0 : i64} : (tensor<3x2xi8>, tensor<3xf32>, tensor<3xi8>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// The lowest integer has no negative: the zero point moves too.

// CHECK-LABEL: func.func @negative_scale_of_the_lowest(
// CHECK: value = #onnx.tensor<[127, -4] : tensor<2xi8>>{{.*}} -> tensor<2x!quant.uniform<i8:f32, 0.5:-1>>
func.func @negative_scale_of_the_lowest() -> tensor<2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-128, 3] : tensor<2xi8>>} : () -> tensor<2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  %r = onnx.DequantizeLinear(%w, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Of 32 bits there is no zero point to move.

// CHECK-LABEL: func.func @unmoved_scale_value_of_32_bits(
// CHECK: onnx.DequantizeLinear(
func.func @unmoved_scale_value_of_32_bits() -> tensor<2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[-2147483648, 3] : tensor<2xi32>>} : () -> tensor<2xi32>
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{a scale is zero, negative or not finite; quantize the model again [raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%w, %s) : (tensor<2xi32>, tensor<f32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Integers that are computed stay under their scale.

// CHECK-LABEL: func.func @unmoved_scale_value(
// CHECK: onnx.DequantizeLinear(%q
func.func @unmoved_scale_value(%q: tensor<2xi8>) -> tensor<2xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[-0.5] : tensor<f32>>} : () -> tensor<f32>
  // expected-remark@+1 {{a scale is zero, negative or not finite; quantize the model again [raise-qdq: scale-value]}}
  %r = onnx.DequantizeLinear(%q, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// -----

// From opset 23 on QuantizeLinear divides in half precision, unless it says otherwise: a step on 8 bits, many on 16.

builtin.module attributes {onnx.opset_import = {ai.onnx = 23 : i64}} {
// CHECK-LABEL: func.func @precision(
// CHECK: quant.qcast %x : tensor<4xf16> to tensor<4x!quant.uniform<i8:f16, 0.25>>
// CHECK: quant.qcast %x : tensor<4xf16> to tensor<4x!quant.uniform<i16:f16, 0.25>>
func.func @precision(%x: tensor<4xf16>) -> (tensor<4xi8>, tensor<4xi16>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f16>>} : () -> tensor<f16>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  %w = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i16>>} : () -> tensor<i16>
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4xf16>, tensor<f16>, tensor<i8>) -> tensor<4xi8>
  %r = onnx.QuantizeLinear(%x, %s, %w) {precision = 1 : i64} : (tensor<4xf16>, tensor<f16>, tensor<i16>) -> tensor<4xi16>
  func.return %q, %r : tensor<4xi8>, tensor<4xi16>
}

// CHECK-LABEL: func.func @unmoved_half_division(
// CHECK-COUNT-2: onnx.QuantizeLinear(
func.func @unmoved_half_division(%x: tensor<4xf16>, %y: tensor<4xf32>) -> (tensor<4xi16>, tensor<4xi8>) {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f16>>} : () -> tensor<f16>
  %t = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i16>>} : () -> tensor<i16>
  %w = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i8>>} : () -> tensor<i8>
  // expected-remark@+1 {{it divides in f16, which moves a value by more than a step; quantize in float32 [raise-qdq: expressed-type]}}
  %q = onnx.QuantizeLinear(%x, %s, %z) : (tensor<4xf16>, tensor<f16>, tensor<i16>) -> tensor<4xi16>
  // expected-remark@+1 {{it divides in f16, which moves a value by more than a step; quantize in float32 [raise-qdq: expressed-type]}}
  %r = onnx.QuantizeLinear(%y, %t, %w) {precision = 10 : i64} : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  func.return %q, %r : tensor<4xi16>, tensor<4xi8>
}
}
