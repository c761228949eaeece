// RUN: OPT %s -p fuse-quantized | FILECHECK %s
// RUN: DIAGNOSTICS -p fuse-quantized

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>
!y = !quant.uniform<u8:f32, 0.03:7>

// Dequantize, op, quantize: the op on quantized types.

// CHECK-LABEL: func.func @sum(
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%a, %b) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: func.return %[[Y]]
func.func @sum(%a: tensor<2x3x!x>, %b: tensor<3x!y>) -> tensor<2x3x!y> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %s = quant.dcast %b : tensor<3x!y> to tensor<3xf32>
  %t = onnx.Add(%r, %s) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %q : tensor<2x3x!y>
}

// No kernel makes a scale for each channel: the sum comes out in float, and the quantize stays.

// CHECK-LABEL: func.func @product_per_axis(
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%a, %b) : (tensor<4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<4x2xf32>
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @product_per_axis(%a: tensor<4x2x!x>, %b: tensor<2x2x!y>) -> tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3,0.25}>> {
  %r = quant.dcast %a : tensor<4x2x!x> to tensor<4x2xf32>
  %s = quant.dcast %b : tensor<2x2x!y> to tensor<2x2xf32>
  %t = onnx.MatMul(%r, %s) : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %q = quant.qcast %t : tensor<4x2xf32> to tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3,0.25}>>
  func.return %q : tensor<4x2x!quant.uniform<u8:f32:1, {0.5:3,0.25}>>
}

// A weight per output channel, a bias in float for rescale-bias.

// CHECK-LABEL: func.func @conv(
// CHECK-NEXT: %[[B:.*]] = onnx.Constant()
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%x, %w, %[[B]]) {kernel_shape = array<i64: 3, 3>} : (tensor<1x4x5x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x4x3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2xf32>) -> tensor<1x2x3x3x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: func.return %[[Y]]
func.func @conv(%x: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>) -> tensor<1x2x3x3x!y> {
  %r = quant.dcast %x : tensor<1x4x5x5x!x> to tensor<1x4x5x5xf32>
  %s = quant.dcast %w : tensor<2x4x3x3x!w> to tensor<2x4x3x3xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -0.5] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Conv(%r, %s, %c) {kernel_shape = array<i64: 3, 3>} : (tensor<1x4x5x5xf32>, tensor<2x4x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %q = quant.qcast %t : tensor<1x2x3x3xf32> to tensor<1x2x3x3x!y>
  func.return %q : tensor<1x2x3x3x!y>
}

// A bias in steps of x_scale * w_scale goes along; another stays behind its dequantize.

// CHECK-LABEL: func.func @bias(
// CHECK-NEXT: %[[B:.*]] = quant.dcast %c
// CHECK-NEXT: onnx.Conv(%x, %w, %b)
// CHECK-NEXT: onnx.Conv(%x, %w, %[[B]])
func.func @bias(%x: tensor<1x4x5x5x!x>, %w: tensor<2x4x3x3x!w>, %b: tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>>, %c: tensor<2x!quant.uniform<i32:f32, 0.001>>) -> (tensor<1x2x3x3x!y>, tensor<1x2x3x3x!y>) {
  %r = quant.dcast %x : tensor<1x4x5x5x!x> to tensor<1x4x5x5xf32>
  %s = quant.dcast %w : tensor<2x4x3x3x!w> to tensor<2x4x3x3xf32>
  %u = quant.dcast %b : tensor<2x!quant.uniform<i32:f32:0, {0.01,0.005}>> to tensor<2xf32>
  %v = quant.dcast %c : tensor<2x!quant.uniform<i32:f32, 0.001>> to tensor<2xf32>
  %t = onnx.Conv(%r, %s, %u) : (tensor<1x4x5x5xf32>, tensor<2x4x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %p = quant.qcast %t : tensor<1x2x3x3xf32> to tensor<1x2x3x3x!y>
  %z = onnx.Conv(%r, %s, %v) : (tensor<1x4x5x5xf32>, tensor<2x4x3x3xf32>, tensor<2xf32>) -> tensor<1x2x3x3xf32>
  %q = quant.qcast %z : tensor<1x2x3x3xf32> to tensor<1x2x3x3x!y>
  func.return %p, %q : tensor<1x2x3x3x!y>, tensor<1x2x3x3x!y>
}

// A linear op needs no quantize behind it: integers in, float out.

// CHECK-LABEL: func.func @float_result(
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%a, %b) : ({{.*}}) -> tensor<2x4xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @float_result(%a: tensor<2x3x!x>, %b: tensor<3x4x!y>) -> tensor<2x4xf32> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %s = quant.dcast %b : tensor<3x4x!y> to tensor<3x4xf32>
  %t = onnx.MatMul(%r, %s) : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return %t : tensor<2x4xf32>
}

// A result that is no float has no scale; a float constant may stay.

// CHECK-LABEL: func.func @comparison(
// CHECK: onnx.Greater(%a, %{{.*}}) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<f32>) -> tensor<2x3xi1>
func.func @comparison(%a: tensor<2x3x!x>) -> tensor<2x3xi1> {
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %t = onnx.Greater(%r, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xi1>
  func.return %t : tensor<2x3xi1>
}

// Nothing is fused: one operand is float.

// CHECK-LABEL: func.func @unmoved_float_operand(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Add(%[[R]], %b)
// CHECK-NEXT: quant.qcast %[[T]]
func.func @unmoved_float_operand(%a: tensor<2x3x!x>, %b: tensor<3xf32>) -> tensor<2x3x!y> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  // expected-remark@+1 {{onnx.Add 'onnx.Add': the operand 1 is float; quantize every operand [fuse-quantized: float-operand]}}
  %t = onnx.Add(%r, %b) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %q : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_float_weight(
// CHECK: %[[T:.*]] = onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<2x2xf32>, tensor<2x1xf32>)
func.func @unmoved_float_weight(%a: tensor<2x2x!x>) -> tensor<2x1xf32> {
  %r = quant.dcast %a : tensor<2x2x!x> to tensor<2x2xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5, -0.5] : tensor<2x1xf32>>} : () -> tensor<2x1xf32>
  // expected-remark@+1 {{the weight is float; quantize every operand [fuse-quantized: float-operand]}}
  %t = onnx.MatMul(%r, %c) : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  func.return %t : tensor<2x1xf32>
}

// Nothing is fused: nobody says on which grid the result lies.

// CHECK-LABEL: func.func @unmoved_not_quantized(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %a
// CHECK-NEXT: onnx.Sigmoid(%[[R]])
func.func @unmoved_not_quantized(%a: tensor<2x3x!x>) -> tensor<2x3xf32> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  // expected-remark@+1 {{no quantize follows; quantize the result [fuse-quantized: not-quantized]}}
  %t = onnx.Sigmoid(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %t : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: %[[T:.*]] = onnx.Sigmoid(
// CHECK-NEXT: quant.qcast %[[T]]
func.func @unmoved_second_consumer(%a: tensor<2x3x!x>) -> (tensor<2x3x!y>, tensor<2x3xf32>) {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  // expected-remark@+1 {{[fuse-quantized: second-consumer]}}
  %t = onnx.Sigmoid(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %q, %t : tensor<2x3x!y>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_two_quantizers(
// CHECK: %[[T:.*]] = onnx.Sigmoid(
// CHECK-NEXT: quant.qcast %[[T]]
// CHECK-NEXT: quant.qcast %[[T]]
func.func @unmoved_two_quantizers(%a: tensor<2x3x!x>) -> (tensor<2x3x!y>, tensor<2x3x!x>) {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  // expected-remark@+1 {{[fuse-quantized: other-parameters]}}
  %t = onnx.Sigmoid(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!y>
  %p = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!x>
  func.return %q, %p : tensor<2x3x!y>, tensor<2x3x!x>
}

// Nothing is fused: the weight's scales run along what is summed over.

// CHECK-LABEL: func.func @unmoved_weight_axis(
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<4x2xf32>, tensor<2x3xf32>)
func.func @unmoved_weight_axis(%a: tensor<4x2x!x>, %w: tensor<2x3x!w>) -> tensor<4x3xf32> {
  %r = quant.dcast %a : tensor<4x2x!x> to tensor<4x2xf32>
  %s = quant.dcast %w : tensor<2x3x!w> to tensor<2x3xf32>
  // expected-remark@+1 {{the weight's scales do not run along its output channels; quantize the weight per tensor or per output channel [fuse-quantized: weight-axis]}}
  %t = onnx.MatMul(%r, %s) : (tensor<4x2xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  func.return %t : tensor<4x3xf32>
}

// Likewise those of a transposed convolution along its input channels, unless each is a group with one output channel.

// CHECK-LABEL: func.func @depthwise(
// CHECK: onnx.ConvTranspose({{.*}} : (tensor<1x2x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x1x2x!quant.uniform<i8:f32:0, {0.01,0.02}>>) -> tensor<1x2x6x!quant.uniform<u8:f32, 0.02:13>>
func.func @depthwise(%a: tensor<1x2x5x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<2x1x2x!quant.uniform<i8:f32:0, {0.01,0.02}>>) -> tensor<1x2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %r = quant.dcast %a : tensor<1x2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x5xf32>
  %s = quant.dcast %w : tensor<2x1x2x!quant.uniform<i8:f32:0, {0.01,0.02}>> to tensor<2x1x2xf32>
  %t = onnx.ConvTranspose(%r, %s) {group = 2 : i64} : (tensor<1x2x5xf32>, tensor<2x1x2xf32>) -> tensor<1x2x6xf32>
  %q = quant.qcast %t : tensor<1x2x6xf32> to tensor<1x2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_two_for_each_channel(
// CHECK: onnx.ConvTranspose({{.*}} : (tensor<1x2x5xf32>, tensor<2x2x2xf32>) -> tensor<1x4x6xf32>
func.func @unmoved_two_for_each_channel(%a: tensor<1x2x5x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<2x2x2x!quant.uniform<i8:f32:0, {0.01,0.02}>>) -> tensor<1x4x6x!quant.uniform<u8:f32, 0.02:13>> {
  %r = quant.dcast %a : tensor<1x2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x5xf32>
  %s = quant.dcast %w : tensor<2x2x2x!quant.uniform<i8:f32:0, {0.01,0.02}>> to tensor<2x2x2xf32>
  // expected-remark@+1 {{[fuse-quantized: weight-axis]}}
  %t = onnx.ConvTranspose(%r, %s) {group = 2 : i64} : (tensor<1x2x5xf32>, tensor<2x2x2xf32>) -> tensor<1x4x6xf32>
  %q = quant.qcast %t : tensor<1x4x6xf32> to tensor<1x4x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x4x6x!quant.uniform<u8:f32, 0.02:13>>
}

// A vector has no output channels at all.

// CHECK-LABEL: func.func @unmoved_vector_weight(
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<4x2xf32>, tensor<2xf32>)
func.func @unmoved_vector_weight(%a: tensor<4x2x!x>, %w: tensor<2x!w>) -> tensor<4xf32> {
  %r = quant.dcast %a : tensor<4x2x!x> to tensor<4x2xf32>
  %s = quant.dcast %w : tensor<2x!w> to tensor<2xf32>
  // expected-remark@+1 {{[fuse-quantized: weight-axis]}}
  %t = onnx.MatMul(%r, %s) : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4xf32>
  func.return %t : tensor<4xf32>
}

// A transposed convolution: a group's scales, each channel's biases. The bias stays behind its dequantize.

// CHECK-LABEL: func.func @unmoved_grouped_bias(
// CHECK-NEXT: %[[B:.*]] = quant.dcast %b
// CHECK-NEXT: onnx.ConvTranspose(%x, %w, %[[B]])
func.func @unmoved_grouped_bias(%x: tensor<1x4x5x5x!x>, %w: tensor<4x2x3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>, %b: tensor<4x!quant.uniform<i32:f32:0, {0.01,0.005,0.01,0.005}>>) -> tensor<1x4x7x7x!y> {
  %r = quant.dcast %x : tensor<1x4x5x5x!x> to tensor<1x4x5x5xf32>
  %s = quant.dcast %w : tensor<4x2x3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25}>> to tensor<4x2x3x3xf32>
  %u = quant.dcast %b : tensor<4x!quant.uniform<i32:f32:0, {0.01,0.005,0.01,0.005}>> to tensor<4xf32>
  %t = onnx.ConvTranspose(%r, %s, %u) {group = 2 : i64} : (tensor<1x4x5x5xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>) -> tensor<1x4x7x7xf32>
  %q = quant.qcast %t : tensor<1x4x7x7xf32> to tensor<1x4x7x7x!y>
  func.return %q : tensor<1x4x7x7x!y>
}

// Nothing is fused: what moves is for sink and hoist.

// CHECK-LABEL: func.func @unmoved_layout(
// CHECK-NEXT: quant.dcast
// CHECK-NEXT: onnx.Transpose
// CHECK-NEXT: quant.qcast
func.func @unmoved_layout(%a: tensor<2x3x!x>) -> tensor<3x2x!y> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %t = onnx.Transpose(%r) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %q = quant.qcast %t : tensor<3x2xf32> to tensor<3x2x!y>
  func.return %q : tensor<3x2x!y>
}

// Nothing is fused: the quantize runs only in one branch.

// CHECK-LABEL: func.func @unmoved_other_region(
// CHECK: %[[Y:.*]] = onnx.Concat({{.*}}) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
// CHECK: quant.qcast %[[Y]]
func.func @unmoved_other_region(%a: tensor<2x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x!quant.uniform<u8:f32, 0.5:7>>, %p: tensor<i1>) -> tensor<4xf32> {
  %d = quant.dcast %a : tensor<2x!quant.uniform<u8:f32, 0.02:13>> to tensor<2xf32>
  %e = quant.dcast %b : tensor<2x!quant.uniform<u8:f32, 0.5:7>> to tensor<2xf32>
  // expected-remark@+1 {{the quantize is in a subgraph, its operand outside [fuse-quantized: sides-differ]}}
  %y = onnx.Concat(%d, %e) {axis = 0 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %z = onnx.If(%p) then_branch {
    %q = quant.qcast %y : tensor<4xf32> to tensor<4x!quant.uniform<u8:f32, 0.02:13>>
    %r = quant.dcast %q : tensor<4x!quant.uniform<u8:f32, 0.02:13>> to tensor<4xf32>
    onnx.Yield(%r) : (tensor<4xf32>) -> ()
  } else_branch {
    %c = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    onnx.Yield(%c) : (tensor<4xf32>) -> ()
  } : (tensor<i1>) -> tensor<4xf32>
  func.return %z : tensor<4xf32>
}

// A sum of products that was read into floats before, and has got a quantize since.

// CHECK-LABEL: func.func @quantized_since(
// CHECK: %[[Y:.*]] = onnx.MatMul(%x, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %[[Y]]
func.func @quantized_since(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.25:100>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %y = onnx.MatMul(%x, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2xf32>
  %q = quant.qcast %y : tensor<5x2xf32> to tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
  func.return %q : tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
}
