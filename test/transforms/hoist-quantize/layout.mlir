// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

// Layout ops, per tensor: any type passes as it is.

// CHECK-LABEL: func.func @transpose(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]]{{.*}}) {{.*}}-> tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @transpose(%x: tensor<2x3x4xf32>) -> tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %q = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @reshape(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Reshape(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<4x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @reshape(%x: tensor<2x3x4xf32>) -> tensor<4x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[4, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  %q = quant.qcast %y : tensor<4x6xf32> to tensor<4x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<4x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @flatten(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Flatten(%[[Q]]{{.*}}) {{.*}}-> tensor<6x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @flatten(%x: tensor<2x3x4xf32>) -> tensor<6x4x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Flatten(%x) {axis = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  %q = quant.qcast %y : tensor<6x4xf32> to tensor<6x4x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<6x4x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze(%x: tensor<2x3xf32>) -> tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Unsqueeze(%x, %c) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
  %q = quant.qcast %y : tensor<2x1x3xf32> to tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x1x3xf32> to tensor<2x1x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Squeeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @squeeze(%x: tensor<2x1x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Squeeze(%x, %c) : (tensor<2x1x3xf32>, tensor<1xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @identity(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Identity(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @identity(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @depth_to_space(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x8x2x3xf32> to tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.DepthToSpace(%[[Q]]{{.*}}) {{.*}}-> tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @depth_to_space(%x: tensor<1x8x2x3xf32>) -> tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.DepthToSpace(%x) {blocksize = 2 : i64} : (tensor<1x8x2x3xf32>) -> tensor<1x2x4x6xf32>
  %q = quant.qcast %y : tensor<1x2x4x6xf32> to tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @space_to_depth(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x4x6xf32> to tensor<1x2x4x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.SpaceToDepth(%[[Q]]{{.*}}) {{.*}}-> tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @space_to_depth(%x: tensor<1x2x4x6xf32>) -> tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.SpaceToDepth(%x) {blocksize = 2 : i64} : (tensor<1x2x4x6xf32>) -> tensor<1x8x2x3xf32>
  %q = quant.qcast %y : tensor<1x8x2x3xf32> to tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x8x2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Per axis: the scales follow their axis. (A permutation that is not its own inverse: axis 0 goes to 2, not to 1.)

// CHECK-LABEL: func.func @transpose_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]]{{.*}}) {{.*}}-> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @transpose_per_axis(%x: tensor<3x4x2xf32>) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %q = quant.qcast %y : tensor<4x2x3xf32> to tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
}

// No permutation means reversed.

// CHECK-LABEL: func.func @transpose_reversed(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]]{{.*}}) {{.*}}-> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @transpose_reversed(%x: tensor<3x4x2xf32>) -> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Transpose(%x) : (tensor<3x4x2xf32>) -> tensor<2x4x3xf32>
  %q = quant.qcast %y : tensor<2x4x3xf32> to tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
}

// The axis keeps its size and what lies behind it.

// CHECK-LABEL: func.func @reshape_before(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x6x3xf32> to tensor<4x6x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Reshape(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @reshape_before(%x: tensor<4x6x3xf32>) -> tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2, 6, 3] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<4x6x3xf32>, tensor<4xi64>) -> tensor<2x2x6x3xf32>
  %q = quant.qcast %y : tensor<2x2x6x3xf32> to tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x2x6x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @reshape_behind(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3x8xf32> to tensor<2x3x8x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Reshape(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @reshape_behind(%x: tensor<2x3x8xf32>) -> tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 3, 2, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<2x3x8xf32>, tensor<4xi64>) -> tensor<2x3x2x4xf32>
  %q = quant.qcast %y : tensor<2x3x2x4xf32> to tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x2x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// An unknown batch in front: what lies behind decides.

// CHECK-LABEL: func.func @reshape_batch(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<?x3x4xf32> to tensor<?x3x4x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Reshape(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @reshape_batch(%x: tensor<?x3x4xf32>) -> tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 3, 2, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<?x3x4xf32>, tensor<4xi64>) -> tensor<?x3x2x2xf32>
  %q = quant.qcast %y : tensor<?x3x2x2xf32> to tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<?x3x2x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @flatten_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x2x4xf32> to tensor<3x2x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Flatten(%[[Q]]{{.*}}) {{.*}}-> tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @flatten_per_axis(%x: tensor<3x2x4xf32>) -> tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Flatten(%x) {axis = 1 : i64} : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
  %q = quant.qcast %y : tensor<3x8xf32> to tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x8x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// Axes 0 and 2 of the result are new: axis 1 is now 3.

// CHECK-LABEL: func.func @unsqueeze_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze_per_axis(%x: tensor<2x3xf32>) -> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Unsqueeze(%x, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<1x2x1x3xf32>
  %q = quant.qcast %y : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unsqueeze_negative(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze_negative(%x: tensor<3x2xf32>) -> tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Unsqueeze(%x, %c) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<3x2x1xf32>
  %q = quant.qcast %y : tensor<3x2x1xf32> to tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @squeeze_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Squeeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @squeeze_per_axis(%x: tensor<1x2x1x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, -2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Squeeze(%x, %c) : (tensor<1x2x1x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// No axes means all of size 1.

// CHECK-LABEL: func.func @squeeze_all(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Squeeze(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @squeeze_all(%x: tensor<1x2x1x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Squeeze(%x) : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// The scales' own axis is new: there is one of them.

// CHECK-LABEL: func.func @unsqueeze_the_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze_the_axis(%x: tensor<2xf32>) -> tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Unsqueeze(%x, %c) : (tensor<2xf32>, tensor<1xi64>) -> tensor<1x2xf32>
  %q = quant.qcast %y : tensor<1x2xf32> to tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>>
  func.return %q : tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>>
}

// CHECK-LABEL: func.func @identity_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Identity(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @identity_per_axis(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Identity(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Two quantizes of one type count as one.

// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]])
// CHECK-NEXT: func.return %[[M]], %[[M]]
func.func @twice(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %p = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  %q = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %p, %q : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_unsqueeze_computed(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_unsqueeze_computed(%x: tensor<2x3xf32>, %i: tensor<1xi64>) -> tensor<2x3x1x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Unsqueeze(%x, %i) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x3x1xf32>
  // expected-remark@+1 {{[hoist-quantize: computed-parameter]}}
  %q = quant.qcast %y : tensor<2x3x1xf32> to tensor<2x3x1x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x1x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[M:.*]] = onnx.Transpose(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Transpose(%x) : (tensor<*xf32>) -> tensor<*xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [hoist-quantize: unknown-shape]}}
  %q = quant.qcast %y : tensor<*xf32> to tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @blocks(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32:{1:2}, {{.*}}0.5:3,{{ ?}}0.25:-7{{.*}}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]])
// CHECK-NEXT: func.return %[[M]]
func.func @blocks(%x: tensor<2x4xf32>) -> tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %q = quant.qcast %y : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>
  func.return %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>
}

// Nothing moves: somebody else reads the float result.

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[Y]]
// CHECK-NEXT: func.return %[[Q]], %[[Y]]
func.func @unmoved_second_consumer(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2xf32>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // expected-remark@+1 {{the float result has a second consumer; quantize it for every consumer [hoist-quantize: second-consumer]}}
  %q = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %y : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2xf32>
}

// Nothing moves: two consumers quantize in two ways.

// CHECK-LABEL: func.func @unmoved_two_quantizers(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_two_quantizers(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // expected-remark@+1 {{the result is quantized in two ways; use one scale and zero point [hoist-quantize: other-parameters]}}
  %p = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[hoist-quantize: other-parameters]}}
  %q = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>
  func.return %p, %q : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>
}

// Nothing moves: the operand comes from an op, and no integer kernel makes several scales.

// CHECK-LABEL: func.func @unmoved_per_axis(
// CHECK-NEXT: %[[X:.*]] = onnx.Neg(%a)
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[X]])
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_per_axis(%a: tensor<3x4x2xf32>) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> {
  %x = onnx.Neg(%a) : (tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  // expected-remark@+1 {{the result has a scale for each channel, which no integer kernel makes [hoist-quantize: activation-per-axis]}}
  %q = quant.qcast %y : tensor<4x2x3xf32> to tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: the quantize runs only in one branch.

// CHECK-LABEL: func.func @unmoved_other_region(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK: quant.qcast %[[Y]]
func.func @unmoved_other_region(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %z = onnx.If(%p) then_branch {
    // expected-remark@+1 {{the quantize is in a subgraph, its operand outside [hoist-quantize: sides-differ]}}
    %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
    %r = quant.dcast %q : tensor<3x2x!quant.uniform<u8:f32, 0.02:13>> to tensor<3x2xf32>
    onnx.Yield(%r) : (tensor<3x2xf32>) -> ()
  } else_branch {
    %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %s = onnx.Transpose(%n) : (tensor<2x3xf32>) -> tensor<3x2xf32>
    onnx.Yield(%s) : (tensor<3x2xf32>) -> ()
  } : (tensor<i1>) -> tensor<3x2xf32>
  func.return %z : tensor<3x2xf32>
}

// A quantize runs in either branch: it is as much work outside.

// CHECK-LABEL: func.func @every_branch(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[Q]])
// CHECK: onnx.Relu(%[[Y]])
// CHECK: onnx.Yield(%[[Y]])
func.func @every_branch(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %z = onnx.If(%p) then_branch {
    %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
    %r = onnx.Relu(%q) : (tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%r) : (tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } else_branch {
    %s = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
    onnx.Yield(%s) : (tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>) -> ()
  } : (tensor<i1>) -> tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %z : tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
}
