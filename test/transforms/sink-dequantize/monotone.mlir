// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Ops that choose by order: a positive scale keeps it.

// CHECK-LABEL: func.func @max_pool(
// CHECK: %[[M:.*]] = onnx.MaxPool(%q{{.*}}) {{.*}}-> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @max_pool(%q: tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x3x2x2xf32> {
  %r = quant.dcast %q : tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x3x4x4xf32>
  %y = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  func.return %y : tensor<1x3x2x2xf32>
}

// CHECK-LABEL: func.func @global_max_pool(
// CHECK: %[[M:.*]] = onnx.GlobalMaxPool(%q{{.*}}) {{.*}}-> tensor<1x3x1x1x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x3x1x1x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x3x1x1xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @global_max_pool(%q: tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x3x1x1xf32> {
  %r = quant.dcast %q : tensor<1x3x4x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x3x4x4xf32>
  %y = onnx.GlobalMaxPool(%r) : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
  func.return %y : tensor<1x3x1x1xf32>
}

// CHECK-LABEL: func.func @reduce_max(
// CHECK: %[[M:.*]] = onnx.ReduceMax(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x1x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x1x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x1x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reduce_max(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x1x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
  %y = onnx.ReduceMax(%r, %c) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  func.return %y : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @reduce_min(
// CHECK: %[[M:.*]] = onnx.ReduceMin(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x1x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x1x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x1x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reduce_min(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x1x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
  %y = onnx.ReduceMin(%r, %c) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  func.return %y : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @relu(
// CHECK: %[[M:.*]] = onnx.Relu(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @relu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Relu(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Both bounds are stored exactly: -0.04 as 11, 1.0 as 63.

// CHECK-LABEL: func.func @clip(
// CHECK: %[[M:.*]] = onnx.Clip(%q, %{{.*}}, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @clip(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-0.04] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Clip(%r, %c, %d) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// No lower bound, and an upper one beyond the range: 6.0 is more than 242 * 0.02.

// CHECK-LABEL: func.func @clip_open(
// CHECK: %[[M:.*]] = onnx.Clip(%q, _, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @clip_open(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Clip(%r, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @max_pool_per_axis(
// CHECK: %[[M:.*]] = onnx.MaxPool(%q{{.*}}) {{.*}}-> tensor<1x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @max_pool_per_axis(%q: tensor<1x3x4x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<1x3x2x2xf32> {
  %r = quant.dcast %q : tensor<1x3x4x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<1x3x4x4xf32>
  %y = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32>
  func.return %y : tensor<1x3x2x2xf32>
}

// CHECK-LABEL: func.func @global_max_pool_per_axis(
// CHECK: %[[M:.*]] = onnx.GlobalMaxPool(%q{{.*}}) {{.*}}-> tensor<1x3x1x1x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x3x1x1x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<1x3x1x1xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @global_max_pool_per_axis(%q: tensor<1x3x4x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<1x3x1x1xf32> {
  %r = quant.dcast %q : tensor<1x3x4x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<1x3x4x4xf32>
  %y = onnx.GlobalMaxPool(%r) : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
  func.return %y : tensor<1x3x1x1xf32>
}

// CHECK-LABEL: func.func @relu_per_axis(
// CHECK: %[[M:.*]] = onnx.Relu(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @relu_per_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Relu(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @max(
// CHECK-NEXT: %[[M:.*]] = onnx.Max(%a, %b) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @max(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Max(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @min(
// CHECK-NEXT: %[[M:.*]] = onnx.Min(%a, %b) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @min(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Min(%x, %y) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// The first result of TopK holds elements, the second indices.

// CHECK-LABEL: func.func @top_k(
// CHECK: %[[V:.*]], %[[I:.*]] = onnx.TopK(%q, %{{.*}}) {{.*}}-> (tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2xi64>)
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[V]]
// CHECK-NEXT: func.return %[[R]], %[[I]]
func.func @top_k(%q: tensor<2x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x2xf32>, tensor<2x2xi64>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %x = quant.dcast %q : tensor<2x5x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x5xf32>
  %v, %i = onnx.TopK(%x, %c) : (tensor<2x5xf32>, tensor<1xi64>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  func.return %v, %i : tensor<2x2xf32>, tensor<2x2xi64>
}

// CHECK-LABEL: func.func @unmoved_clamp_of_storage(
// CHECK: %[[S:.*]] = quant.scast %q
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[S]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clamp_of_storage(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %low: tensor<ui8>) -> tensor<2x3xui8> {
  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
  // expected-remark@+1 {{[sink-dequantize: computed-parameter]}}
  %y = onnx.Clip(%s, %low) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  func.return %y : tensor<2x3xui8>
}

// CHECK-LABEL: func.func @unmoved_reduce(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.ReduceMax(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_reduce(%q: tensor<2x3x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<2x3x1xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<2x3x4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.ReduceMax(%r, %c) : (tensor<2x3x4xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  func.return %y : tensor<2x3x1xf32>
}

// CHECK-LABEL: func.func @unmoved_empty_reduction(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.ReduceMax(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_empty_reduction(%q: tensor<2x0x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x1x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x0x4x!quant.uniform<i8:f32, 0.5:3>> to tensor<2x0x4xf32>
  // expected-remark@+1 {{[sink-dequantize: empty-tensor]}}
  %y = onnx.ReduceMax(%r, %c) : (tensor<2x0x4xf32>, tensor<1xi64>) -> tensor<2x1x4xf32>
  func.return %y : tensor<2x1x4xf32>
}

// CHECK-LABEL: func.func @empty_beside_the_reduction(
// CHECK: onnx.ReduceMax(%q
func.func @empty_beside_the_reduction(%q: tensor<2x0x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x0x1xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x0x4x!quant.uniform<i8:f32, 0.5:3>> to tensor<2x0x4xf32>
  %y = onnx.ReduceMax(%r, %c) : (tensor<2x0x4xf32>, tensor<1xi64>) -> tensor<2x0x1xf32>
  func.return %y : tensor<2x0x1xf32>
}

// CHECK-LABEL: func.func @unmoved_max_pool_of_the_axis(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.MaxPool(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_max_pool_of_the_axis(%q: tensor<1x3x4x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<1x3x4x4xf32> {
  %r = quant.dcast %q : tensor<1x3x4x4x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<1x3x4x4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.MaxPool(%r) {kernel_shape = array<i64: 1, 1>} : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  func.return %y : tensor<1x3x4x4xf32>
}

// CHECK-LABEL: func.func @unmoved_clip_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Clip(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clip_computed(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<f32>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{a bound of Clip is computed; give Clip constant bounds [sink-dequantize: computed-parameter]}}
  %y = onnx.Clip(%r, %i) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing moves: 1.01 lies between two stored values.

// CHECK-LABEL: func.func @unmoved_clip_that_rounds(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Clip(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clip_that_rounds(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[1.01] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{the type cannot represent the bounds [-inf, 1.01] [sink-dequantize: value-rounds]}}
  %y = onnx.Clip(%r, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing moves: everything becomes 6.0, which is more than the type can express.

// CHECK-LABEL: func.func @unmoved_clip_above_the_range(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Clip(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clip_above_the_range(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: value-rounds]}}
  %y = onnx.Clip(%r, %c) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_clip_below_the_range(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Clip(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clip_below_the_range(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %d = onnx.Constant() {value = #onnx.tensor<[-6.0] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: value-rounds]}}
  %y = onnx.Clip(%r, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing moves: the operands have two zero points.

// CHECK-LABEL: func.func @unmoved_two_zero_points(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Max(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_two_zero_points(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:14>>) -> tensor<2x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:14>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: mixed-scales]}}
  %z = onnx.Max(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// PReLU without a slope is Relu; with one it computes.

// CHECK-LABEL: func.func @prelu(
// CHECK: %[[M:.*]] = onnx.PRelu(%q, %{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @prelu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.PRelu(%x, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_slope(
// CHECK: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.PRelu(%[[X]]
func.func @unmoved_slope(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf32>>} : () -> tensor<1xf32>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{a slope that is not a constant 0 computes new values; use Relu [sink-dequantize: slope]}}
  %y = onnx.PRelu(%x, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing moves: clamps of integers that are no clamps of what they stand for.

// CHECK-LABEL: func.func @unmoved_integer_clamps(
// CHECK: onnx.Clip(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<2x3xui8>
// CHECK: onnx.Max(%{{.*}}, %{{.*}}) : (tensor<2x3xui8>
// CHECK: onnx.Min(%{{.*}}, %{{.*}}) : (tensor<2x3xui8>
func.func @unmoved_integer_clamps(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %n: tensor<2x3x!quant.uniform<u8<10:200>:f32, 0.02:13>>) -> (tensor<2x3xui8>, tensor<2x3xui8>, tensor<2x3xui8>) {
  %l = onnx.Constant() {value = #onnx.tensor<[90] : tensor<ui8>>} : () -> tensor<ui8>
  %h = onnx.Constant() {value = #onnx.tensor<[20] : tensor<ui8>>} : () -> tensor<ui8>
  %o = onnx.Constant() {value = #onnx.tensor<[201] : tensor<ui8>>} : () -> tensor<ui8>
  %v = onnx.Constant() {value = #onnx.tensor<[11, 12, 13] : tensor<3xui8>>} : () -> tensor<3xui8>
  %i = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
  %j = quant.scast %n : tensor<2x3x!quant.uniform<u8<10:200>:f32, 0.02:13>> to tensor<2x3xui8>
  // expected-remark@+1 {{no stored integer lies between the bounds of the clamp [sink-dequantize: empty-tensor]}}
  %a = onnx.Clip(%i, %l, %h) : (tensor<2x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{the bound is outside the storage range [sink-dequantize: bound-outside]}}
  %b = onnx.Max(%j, %o) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{the bound differs from element to element [sink-dequantize: not-a-quantize]}}
  %c = onnx.Min(%j, %v) : (tensor<2x3xui8>, tensor<3xui8>) -> tensor<2x3xui8>
  func.return %a, %b, %c : tensor<2x3xui8>, tensor<2x3xui8>, tensor<2x3xui8>
}

// Nothing moves: Sigmoid computes, so it makes no promise; nothing stands in anybody's way.

// CHECK-LABEL: func.func @unmoved_sigmoid(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Sigmoid(%[[X]])
func.func @unmoved_sigmoid(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
