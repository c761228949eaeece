// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Layout ops, per tensor: any type passes as it is.

// CHECK-LABEL: func.func @transpose(
// CHECK: %[[M:.*]] = onnx.Transpose(%q{{.*}}) {{.*}}-> tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<3x4x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @transpose(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x4x2xf32> {
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
  %y = onnx.Transpose(%r) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  func.return %y : tensor<3x4x2xf32>
}

// CHECK-LABEL: func.func @reshape(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<4x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reshape(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[4, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// CHECK-LABEL: func.func @flatten(
// CHECK: %[[M:.*]] = onnx.Flatten(%q{{.*}}) {{.*}}-> tensor<6x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<6x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<6x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @flatten(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<6x4xf32> {
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
  %y = onnx.Flatten(%r) {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x1x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @unsqueeze(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x1x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Unsqueeze(%r, %c) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  func.return %y : tensor<2x1x3xf32>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze(%q: tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x1x3xf32>
  %y = onnx.Squeeze(%r, %c) : (tensor<2x1x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @identity(
// CHECK: %[[M:.*]] = onnx.Identity(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @identity(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Identity(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @depth_to_space(
// CHECK: %[[M:.*]] = onnx.DepthToSpace(%q{{.*}}) {{.*}}-> tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x4x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @depth_to_space(%q: tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x4x6xf32> {
  %r = quant.dcast %q : tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x8x2x3xf32>
  %y = onnx.DepthToSpace(%r) {blocksize = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  func.return %y : tensor<1x2x4x6xf32>
}

// CHECK-LABEL: func.func @space_to_depth(
// CHECK: %[[M:.*]] = onnx.SpaceToDepth(%q{{.*}}) {{.*}}-> tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x8x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @space_to_depth(%q: tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x8x2x3xf32> {
  %r = quant.dcast %q : tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x4x6xf32>
  %y = onnx.SpaceToDepth(%r) {blocksize = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  func.return %y : tensor<1x8x2x3xf32>
}

// Per axis: the scales follow their axis. (A permutation that is not its own inverse: axis 0 goes to 2, not to 1.)

// CHECK-LABEL: func.func @transpose_per_axis(
// CHECK: %[[M:.*]] = onnx.Transpose(%q{{.*}}) {{.*}}-> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<4x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @transpose_per_axis(%q: tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<4x2x3xf32> {
  %r = quant.dcast %q : tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4x2xf32>
  %y = onnx.Transpose(%r) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  func.return %y : tensor<4x2x3xf32>
}

// No permutation means reversed.

// CHECK-LABEL: func.func @transpose_reversed(
// CHECK: %[[M:.*]] = onnx.Transpose(%q{{.*}}) {{.*}}-> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<2x4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @transpose_reversed(%q: tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x4x3xf32> {
  %r = quant.dcast %q : tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4x2xf32>
  %y = onnx.Transpose(%r) : (tensor<3x4x2xf32>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// The axis keeps its size and what lies behind it.

// CHECK-LABEL: func.func @reshape_before(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<2x2x6x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reshape_before(%q: tensor<4x6x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x2x6x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2, 6, 3] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<4x6x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<4x6x3xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<4x6x3xf32>, tensor<4xi64>) -> tensor<2x2x6x3xf32>
  func.return %y : tensor<2x2x6x3xf32>
}

// CHECK-LABEL: func.func @reshape_behind(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3x2x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reshape_behind(%q: tensor<2x3x8x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3x2x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 3, 2, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x8x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3x8xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<2x3x8xf32>, tensor<4xi64>) -> tensor<2x3x2x4xf32>
  func.return %y : tensor<2x3x2x4xf32>
}

// An unknown batch in front: what lies behind decides.

// CHECK-LABEL: func.func @reshape_batch(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<?x3x2x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reshape_batch(%q: tensor<?x3x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<?x3x2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 3, 2, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<?x3x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<?x3x4xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<?x3x4xf32>, tensor<4xi64>) -> tensor<?x3x2x2xf32>
  func.return %y : tensor<?x3x2x2xf32>
}

// CHECK-LABEL: func.func @flatten_per_axis(
// CHECK: %[[M:.*]] = onnx.Flatten(%q{{.*}}) {{.*}}-> tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x8xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @flatten_per_axis(%q: tensor<3x2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<3x8xf32> {
  %r = quant.dcast %q : tensor<3x2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2x4xf32>
  %y = onnx.Flatten(%r) {axis = 1 : i64} : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
  func.return %y : tensor<3x8xf32>
}

// Axes 0 and 2 of the result are new: axis 1 is now 3.

// CHECK-LABEL: func.func @unsqueeze_per_axis(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @unsqueeze_per_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<1x2x1x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Unsqueeze(%r, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x2x1x3xf32>
  func.return %y : tensor<1x2x1x3xf32>
}

// CHECK-LABEL: func.func @unsqueeze_negative(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2x1xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @unsqueeze_negative(%q: tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<3x2x1xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
  %y = onnx.Unsqueeze(%r, %c) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x2x1xf32>
  func.return %y : tensor<3x2x1xf32>
}

// CHECK-LABEL: func.func @squeeze_per_axis(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze_per_axis(%q: tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, -2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
  %y = onnx.Squeeze(%r, %c) : (tensor<1x2x1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// No axes means all of size 1.

// CHECK-LABEL: func.func @squeeze_all(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze_all(%q: tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
  %y = onnx.Squeeze(%r) : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// The scales' own axis goes: there was one of them.

// CHECK-LABEL: func.func @squeeze_the_axis(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x!quant.uniform<i8:f32, 0.5:3>> to tensor<2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze_the_axis(%q: tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>>) -> tensor<2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>> to tensor<1x2xf32>
  %y = onnx.Squeeze(%r, %c) : (tensor<1x2xf32>, tensor<1xi64>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @identity_per_axis(
// CHECK: %[[M:.*]] = onnx.Identity(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @identity_per_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Identity(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Integers that only read as quantized move as they are; a clamp with a bound known at run time does not.

// CHECK-LABEL: func.func @storage(
// CHECK: %[[M:.*]] = onnx.Transpose(%q) {{.*}}-> tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[M]] : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<3x4x2xui8>
// CHECK-NEXT: func.return %[[S]]
func.func @storage(%q: tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x4x2xui8> {
  %s = quant.scast %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xui8>
  %y = onnx.Transpose(%s) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xui8>) -> tensor<3x4x2xui8>
  func.return %y : tensor<3x4x2xui8>
}

// CHECK-LABEL: func.func @unmoved_depth_to_space(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.DepthToSpace(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_depth_to_space(%q: tensor<1x4x2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9}>>) -> tensor<1x1x4x6xf32> {
  %r = quant.dcast %q : tensor<1x4x2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9}>> to tensor<1x4x2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.DepthToSpace(%r) {blocksize = 2 : i64} : (tensor<1x4x2x3xf32>) -> tensor<1x1x4x6xf32>
  func.return %y : tensor<1x1x4x6xf32>
}

// CHECK-LABEL: func.func @unmoved_unsqueeze_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_unsqueeze_computed(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<1xi64>) -> tensor<2x3x1xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: computed-parameter]}}
  %y = onnx.Unsqueeze(%r, %i) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  func.return %y : tensor<2x3x1xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Transpose(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_unknown_rank(%q: tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<*xf32> {
  %r = quant.dcast %q : tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<*xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [sink-dequantize: unknown-shape]}}
  %y = onnx.Transpose(%r) : (tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
