// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// CHECK-LABEL: func.func @relu(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Relu(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @relu(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Both bounds are stored exactly: -0.04 as 11, 1.0 as 63.

// CHECK-LABEL: func.func @clip(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[Q]], %{{.*}}, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @clip(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %c = onnx.Constant() {value = #onnx.tensor<[-0.04] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Clip(%x, %c, %d) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// No lower bound, and an upper one beyond the range: 6.0 is more than 242 * 0.02.

// CHECK-LABEL: func.func @clip_open(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[Q]], _, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @clip_open(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %d = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Clip(%x, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @relu_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Relu(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @relu_per_axis(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @max(
// CHECK: %[[M:.*]] = onnx.Max({{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @max(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Max(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %z : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @min(
// CHECK: %[[M:.*]] = onnx.Min({{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @min(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Min(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %z : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_max_pool_of_the_axis(
// CHECK: %[[M:.*]] = onnx.MaxPool(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_max_pool_of_the_axis(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>> {
  %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>>
  func.return %q : tensor<1x3x4x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>>
}

// CHECK-LABEL: func.func @unmoved_clip_computed(
// CHECK: %[[M:.*]] = onnx.Clip(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_clip_computed(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Clip(%x, %i) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a bound of Clip is computed; give Clip constant bounds [hoist-quantize: computed-parameter]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// A bound between two stored values is quantized as the elements are.

// CHECK-LABEL: func.func @clip_that_rounds(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[Q]], _, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @clip_that_rounds(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %d = onnx.Constant() {value = #onnx.tensor<[1.01] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Clip(%x, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: what Relu takes is made in float, and would only be quantized earlier.

// CHECK-LABEL: func.func @unmoved_made_in_float(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_made_in_float(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the operands that the op selects from are float, so the op stays in float [hoist-quantize: does-not-pay]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// In front of the clamp it would requantize to the type it comes from, which gives other integers of the same numbers.

// CHECK-LABEL: func.func @unmoved_wide_storage(
// CHECK: onnx.Clip
// CHECK-NEXT: quant.qcast
func.func @unmoved_wide_storage(%q: tensor<2x3x!quant.uniform<i16:f16, 5.66e-06:-32768>>) -> tensor<2x3x!quant.uniform<i16:f16, 5.66e-06:-32768>> {
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i16:f16, 5.66e-06:-32768>> to tensor<2x3xf16>
  %h = onnx.Constant() {value = #onnx.tensor<[0.2] : tensor<f16>>} : () -> tensor<f16>
  %c = onnx.Clip(%x, _, %h) : (tensor<2x3xf16>, tensor<f16>) -> tensor<2x3xf16>
  // expected-remark@+1 {{float does not represent every stored integer exactly [hoist-quantize: other-type]}}
  %y = quant.qcast %c : tensor<2x3xf16> to tensor<2x3x!quant.uniform<i16:f16, 5.66e-06:-32768>>
  func.return %y : tensor<2x3x!quant.uniform<i16:f16, 5.66e-06:-32768>>
}
