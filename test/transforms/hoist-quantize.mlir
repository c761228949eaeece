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

// CHECK-LABEL: func.func @expand(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<3x1xf32> to tensor<3x1x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Expand(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @expand(%x: tensor<3x1xf32>) -> tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 3, 4] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Expand(%x, %c) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  %q = quant.qcast %y : tensor<2x3x4xf32> to tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @tile(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Tile(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @tile(%x: tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Tile(%x, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @pad(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad(%x: tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x6xf32>
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @resize_nearest(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x3x4xf32> to tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Resize(%[[Q]], _, %s{{.*}}) {{.*}}-> tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @resize_nearest(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx.Resize(%x, _, %s) : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  %q = quant.qcast %y : tensor<1x2x6x8xf32> to tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
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

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.ReverseSequence(%[[Q]], %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @reverse_sequence(%x: tensor<4x3xf32>, %i: tensor<3xi64>) -> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
}

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

// CHECK-LABEL: func.func @expand_other_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x3xf32> to tensor<1x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Expand(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @expand_other_axis(%x: tensor<1x3xf32>) -> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 4, 3] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Expand(%x, %c) : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  %q = quant.qcast %y : tensor<2x4x3xf32> to tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @tile_other_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Tile(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @tile_other_axis(%x: tensor<2x3xf32>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Tile(%x, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @pad_other_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_other_axis(%x: tensor<2x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 0, 2, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<5x3xf32>
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @pad_some_axes(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}, _, %e{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_some_axes(%x: tensor<2x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Pad(%x, %c, _, %e) : (tensor<2x3xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<5x3xf32>
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @pad_edge(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}, _{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_edge(%x: tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c, _) {mode = "edge"} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x6xf32>
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// -0.26 is stored as 0.

// CHECK-LABEL: func.func @pad_value(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}, %v{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_value(%x: tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[-0.26] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Pad(%x, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @reverse_sequence_per_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.ReverseSequence(%[[Q]], %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @reverse_sequence_per_axis(%x: tensor<4x3xf32>, %i: tensor<3xi64>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
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

// Several operands of one type share one cast.

// CHECK-LABEL: func.func @concat(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x3xf32> to tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %q = quant.qcast %y : tensor<6x3xf32> to tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @concat_other_axis(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat_other_axis(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>) -> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  %q = quant.qcast %y : tensor<6x3xf32> to tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Along the scales' axis, two lists become one.

// CHECK-LABEL: func.func @concat_along(
// CHECK-DAG: %[[A:.*]] = quant.qcast %a : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>
// CHECK-DAG: %[[B:.*]] = quant.qcast %b : tensor<4x1xf32> to tensor<4x1x!quant.uniform<i8:f32, 0.125>>
// CHECK: %[[M:.*]] = onnx.Concat(%[[A]], %[[B]]) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @concat_along(%a: tensor<4x2xf32>, %b: tensor<4x1xf32>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = -1 : i64} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// A part of one slice has one scale: the type is per tensor, and joins all the same.

// CHECK-LABEL: func.func @split_along_one_slice(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: onnx.Split(%[[Q]],
func.func @split_along_one_slice(%x: tensor<4x3xf32>) -> (tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> (tensor<4x1xf32>, tensor<4x2xf32>)
  %q = quant.qcast %y : tensor<4x1xf32> to tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>
  %r = quant.qcast %z : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %q, %r : tensor<4x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
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

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @where(
// CHECK: %[[M:.*]] = onnx.Where({{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @where(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>, %m: tensor<2x3xi1>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Where(%m, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %z : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @scatter_elements(
// CHECK: %[[M:.*]] = onnx.ScatterElements({{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @scatter_elements(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterElements(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
}

// More work above, but for operands that are dequantized: the pairs cancel.

// CHECK-LABEL: func.func @scatter_nd(
// CHECK: %[[M:.*]] = onnx.ScatterND({{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @scatter_nd(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterND(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Several results take one type each.

// CHECK-LABEL: func.func @split(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %p, %q : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @split_other_axis(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split_other_axis(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
  func.return %p, %q : tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>
}

// CHECK-LABEL: func.func @split_along(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]], %[[N:.*]] = onnx.Split(%[[Q]], %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>)
// CHECK-NEXT: func.return %[[M]], %[[N]]
func.func @split_along(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %p, %q : tensor<2x1x!quant.uniform<i8:f32:1, {0.5:3}>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
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

// More elements above than below, but what makes them makes integers: a dequantize, a constant, an integer kernel.

// CHECK-LABEL: func.func @shrinking_dequantized(
// CHECK: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]] : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: onnx.Gather(%[[Q]], %i)
func.func @shrinking_dequantized(%a: tensor<5x3x!quant.uniform<u8:f32, 0.03:13>>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<5x3xf32>
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @shrinking_kernel(
// CHECK: %[[X:.*]] = onnx.MatMul(%{{.*}}, %{{.*}})
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]] : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: onnx.Gather(%[[Q]], %i)
func.func @shrinking_kernel(%a: tensor<5x4x!quant.uniform<u8:f32, 0.03:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.03:13>>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %r = quant.dcast %a : tensor<5x4x!quant.uniform<u8:f32, 0.03:13>> to tensor<5x4xf32>
  %s = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<4x3xf32>
  %x = onnx.MatMul(%r, %s) : (tensor<5x4xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: the scales' axis is made here.

// CHECK-LABEL: func.func @unmoved_reshape_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Reshape(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_reshape_of_the_axis(%x: tensor<12xf32>) -> tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Reshape(%x, %c) : (tensor<12xf32>, tensor<2xi64>) -> tensor<3x4xf32>
  // expected-remark@+1 {{the scales run along an axis that this op changes [hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
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

// Nothing moves: rows change places, their scales would not.

// CHECK-LABEL: func.func @unmoved_reverse_sequence(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_reverse_sequence(%x: tensor<3x4xf32>, %i: tensor<4xi64>) -> tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.ReverseSequence(%x, %i) : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x4xf32> to tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_pad_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_of_the_axis(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, -1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: of the elements cut away no scale is known.

// CHECK-LABEL: func.func @unmoved_slice_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Slice(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_slice_of_the_axis(%x: tensor<2x6xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %y = onnx.Slice(%x, %c, %d, %e) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_gather_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Gather(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_gather_of_the_axis(%x: tensor<3x3xf32>) -> tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 0, 1] : tensor<3xi64>>} : () -> tensor<3xi64>
  %y = onnx.Gather(%x, %c) {axis = 1 : i64} : (tensor<3x3xf32>, tensor<3xi64>) -> tensor<3x3xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x3xf32> to tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_expand_of_the_axis(
// CHECK: %[[M:.*]] = onnx.Expand(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_expand_of_the_axis(%x: tensor<1x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Expand(%x, %c) : (tensor<1x2xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  // expected-remark@+1 {{[hoist-quantize: scales-along-axis]}}
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
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

// CHECK-LABEL: func.func @unmoved_pad_computed(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_computed(%x: tensor<2x3xf32>, %i: tensor<4xi64>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Pad(%x, %i) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  // expected-remark@+1 {{the pads are computed [hoist-quantize: computed-parameter]}}
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_pad_axes_computed(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_axes_computed(%x: tensor<2x3xf32>, %i: tensor<1xi64>) -> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y = onnx.Pad(%x, %c, _, %i) : (tensor<2x3xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  // expected-remark@+1 {{the padded axes are computed [hoist-quantize: computed-parameter]}}
  %q = quant.qcast %y : tensor<4x3xf32> to tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[M:.*]] = onnx.Transpose(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Transpose(%x) : (tensor<*xf32>) -> tensor<*xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [hoist-quantize: unknown-rank]}}
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

// CHECK-LABEL: func.func @unmoved_pad_of_blocks(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_of_blocks(%x: tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c) : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  // expected-remark@+1 {{[hoist-quantize: blocked-scales]}}
  %q = quant.qcast %y : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>
  func.return %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>
}

// CHECK-LABEL: func.func @unmoved_linear_resize(
// CHECK: %[[M:.*]] = onnx.Resize(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_linear_resize(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx.Resize(%x, _, %s) {mode = "linear"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  // expected-remark@+1 {{Resize computes new elements between the old ones [hoist-quantize: interpolates]}}
  %q = quant.qcast %y : tensor<1x2x6x8xf32> to tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_cropping_resize(
// CHECK: %[[M:.*]] = onnx.Resize(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_cropping_resize(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %y = onnx.Resize(%x, _, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  // expected-remark@+1 {{Resize fills in a value where it looks beyond the tensor [hoist-quantize: extrapolates]}}
  %q = quant.qcast %y : tensor<1x2x6x8xf32> to tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_clip_computed(
// CHECK: %[[M:.*]] = onnx.Clip(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_clip_computed(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Clip(%x, %i) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{a bound of Clip is computed; give Clip constant bounds [hoist-quantize: computed-bound]}}
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

// CHECK-LABEL: func.func @pad_value_that_rounds(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]], %{{.*}}, %v{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_value_that_rounds(%x: tensor<2x3xf32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[-0.25] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Pad(%x, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_pad_value_computed(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_value_computed(%x: tensor<2x3xf32>, %i: tensor<f32>) -> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c, %i) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  // expected-remark@+1 {{the value that Pad puts in is computed [hoist-quantize: computed-pad-value]}}
  %q = quant.qcast %y : tensor<2x6xf32> to tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @unmoved_pad_value_per_axis(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_value_per_axis(%x: tensor<2x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 0, 2, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %y = onnx.Pad(%x, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<5x3xf32>
  // expected-remark@+1 {{the value that Pad puts in is stored differently in each channel [hoist-quantize: pad-value-per-axis]}}
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
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

// Nothing moves: one part stays float.

// CHECK-LABEL: func.func @unmoved_half_of_a_split(
// CHECK: %[[Y:.*]], %[[Z:.*]] = onnx.Split(%x
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[Y]]
// CHECK-NEXT: func.return %[[Q]], %[[Z]]
func.func @unmoved_half_of_a_split(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  // expected-remark@+1 {{another result of the op is used in float [hoist-quantize: second-consumer]}}
  %q = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %z : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2xf32>
}

// Nothing moves: two consumers quantize in two ways.

// CHECK-LABEL: func.func @unmoved_two_quantizers(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_two_quantizers(%x: tensor<2x3x4xf32>) -> (tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  // expected-remark@+1 {{the result is quantized in two ways; use one scale and zero point [hoist-quantize: two-quantizers]}}
  %p = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[hoist-quantize: two-quantizers]}}
  %q = quant.qcast %y : tensor<3x4x2xf32> to tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>
  func.return %p, %q : tensor<3x4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<3x4x2x!quant.uniform<u8:f32, 0.03:13>>
}

// Nothing moves: the parts have two scales.

// CHECK-LABEL: func.func @unmoved_split_of_two_scales(
// CHECK: %[[Y:.*]], %[[Z:.*]] = onnx.Split(%x
func.func @unmoved_split_of_two_scales(%x: tensor<2x3xf32>) -> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %p = quant.qcast %y : tensor<2x1xf32> to tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %q = quant.qcast %z : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>
  func.return %p, %q : tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.03:13>>
}

// Nothing moves: one scale for two slices is no list of scales.

// CHECK-LABEL: func.func @unmoved_split_along_two_slices(
// CHECK: onnx.Split(%x,
func.func @unmoved_split_along_two_slices(%x: tensor<4x4xf32>) -> (tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<4x4xf32>, tensor<2xi64>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %q = quant.qcast %y : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>
  // expected-remark@+1 {{[hoist-quantize: mixed-scales]}}
  %r = quant.qcast %z : tensor<4x2xf32> to tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
  func.return %q, %r : tensor<4x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
}

// Nothing moves: a part of unknown size takes an unknown number of scales.

// CHECK-LABEL: func.func @unmoved_concat_of_unknown_size(
// CHECK-NEXT: %[[Y:.*]] = onnx.Concat(%a, %b)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_concat_of_unknown_size(%a: tensor<?x2xf32>, %b: tensor<1x2xf32>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = 0 : i64} : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{[hoist-quantize: unknown-rank]}}
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
}

// Where sizes are not known, an op that drops nothing still has no more elements above it than below.

// CHECK-LABEL: func.func @unknown_sizes(
// CHECK-DAG: %[[X:.*]] = quant.qcast %x : tensor<?x3xf32>
// CHECK-DAG: %[[Y:.*]] = quant.qcast %y : tensor<?x3xf32>
// CHECK: %[[J:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK: %[[T:.*]] = onnx.Transpose(%[[J]])
// CHECK: %[[P:.*]] = onnx.Pad(%[[T]]
// CHECK-NEXT: func.return %[[P]]
func.func @unknown_sizes(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<5x?x!quant.uniform<u8:f32, 0.02:13>> {
  %pads = onnx.Constant() {value = #onnx.tensor<[1, 0, 1, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %j = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %t = onnx.Transpose(%j) {perm = array<i64: 1, 0>} : (tensor<?x3xf32>) -> tensor<3x?xf32>
  %p = onnx.Pad(%t, %pads) : (tensor<3x?xf32>, tensor<4xi64>) -> tensor<5x?xf32>
  %q = quant.qcast %p : tensor<5x?xf32> to tensor<5x?x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<5x?x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: nobody knows how many rows there are, and the Pad takes one away.

// CHECK-LABEL: func.func @unmoved_more_work_of_unknown_size(
// CHECK: onnx.Pad(%x
// CHECK-NEXT: quant.qcast
func.func @unmoved_more_work_of_unknown_size(%x: tensor<?x3xf32>) -> tensor<?x5x!quant.uniform<u8:f32, 0.02:13>> {
  %pads = onnx.Constant() {value = #onnx.tensor<[-1, 0, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %p = onnx.Pad(%x, %pads) : (tensor<?x3xf32>, tensor<4xi64>) -> tensor<?x5xf32>
  // expected-remark@+1 {{[hoist-quantize: more-work]}}
  %q = quant.qcast %p : tensor<?x5xf32> to tensor<?x5x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<?x5x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: five rows would be quantized for two.

// CHECK-LABEL: func.func @unmoved_more_work(
// CHECK-NEXT: %[[Y:.*]] = onnx.Gather(%x, %i)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_more_work(%x: tensor<5x3xf32>, %i: tensor<2xi64>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Gather(%x, %i) : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  // expected-remark@+1 {{there are more elements to quantize above the op than below it [hoist-quantize: more-work]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: the operand comes from an op, and no integer kernel makes several scales.

// CHECK-LABEL: func.func @unmoved_per_axis(
// CHECK-NEXT: %[[X:.*]] = onnx.Neg(%a)
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[X]])
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_per_axis(%a: tensor<3x4x2xf32>) -> tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> {
  %x = onnx.Neg(%a) : (tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2, 0>} : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  // expected-remark@+1 {{the result has a scale for each channel, which no integer kernel makes [hoist-quantize: per-axis]}}
  %q = quant.qcast %y : tensor<4x2x3xf32> to tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<4x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: what Relu takes is made in float, and would only be quantized earlier.

// CHECK-LABEL: func.func @unmoved_made_in_float(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_made_in_float(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{what the op selects from is made in float, so the op stays in float [hoist-quantize: made-in-float]}}
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// Nothing moves: the quantize runs only in one branch.

// CHECK-LABEL: func.func @unmoved_other_region(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK: quant.qcast %[[Y]]
func.func @unmoved_other_region(%x: tensor<2x3xf32>, %p: tensor<i1>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %z = onnx.If(%p) then_branch {
    // expected-remark@+1 {{the quantize stands in a subgraph, its operand outside [hoist-quantize: other-region]}}
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

// -----

// Opset 9: what became inputs later were attributes.

builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: func.func @squeeze_11(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Squeeze(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @squeeze_11(%x: tensor<1x2x1x3xf32>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Squeeze(%x) {axes = array<i64: 0, 2>} : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @unsqueeze_11(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Unsqueeze(%[[Q]]{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @unsqueeze_11(%x: tensor<2x3xf32>) -> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Unsqueeze(%x) {axes = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<1x2x1x3xf32>
  %q = quant.qcast %y : tensor<1x2x1x3xf32> to tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
}

// CHECK-LABEL: func.func @clip_6(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[Q]]{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: func.return %[[M]]
func.func @clip_6(%p: tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> to tensor<2x3xf32>
  %y = onnx.Clip(%x) {min = 0.0 : f32, max = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %y : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
}

// CHECK-LABEL: func.func @pad_2(
// CHECK: %[[Q:.*]] = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Pad(%[[Q]]{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: func.return %[[M]]
func.func @pad_2(%x: tensor<2x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Pad(%x) {pads = array<i64: 1, 0, 2, 0>} : (tensor<2x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

}

// A clamp of floats quantizes nowhere sooner for it: it stays in front.

// CHECK-LABEL: func.func @unmoved_made_in_float(
// CHECK-NEXT: %[[Y:.*]] = onnx.MaxPool(%x)
// CHECK-NEXT: quant.qcast %[[Y]]
func.func @unmoved_made_in_float(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>> {
  %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 3>} : (tensor<1x2x5x4xf32>) -> tensor<1x2x4x2xf32>
  // expected-remark@+1 {{what the op selects from is made in float, so the op stays in float [hoist-quantize: made-in-float]}}
  %q = quant.qcast %y : tensor<1x2x4x2xf32> to tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x4x2x!quant.uniform<u8:f32, 0.02:13>>
}

// Who reads only a shape reads it of the integers.

// CHECK-LABEL: func.func @shape_beside(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]])
// CHECK-NEXT: %[[S:.*]] = onnx.Shape(%[[M]])
// CHECK-NEXT: func.return %[[M]], %[[S]]
func.func @shape_beside(%x: tensor<2x3xf32>) -> (tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>) {
  %y = onnx.Transpose(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %s = onnx.Shape(%y) : (tensor<3x2xf32>) -> tensor<2xi64>
  %q = quant.qcast %y : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %s : tensor<3x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>
}

// Nothing moves: elements that rounding makes equal would have another's index.

// CHECK-LABEL: func.func @unmoved_indices_used(
// CHECK: %[[M:.*]], %[[I:.*]] = onnx.TopK(%{{.*}}, %c) : (tensor<5xf32>
func.func @unmoved_indices_used(%p: tensor<5x!quant.uniform<i16:f32, 0.001>>) -> (tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %x = quant.dcast %p : tensor<5x!quant.uniform<i16:f32, 0.001>> to tensor<5xf32>
  %y, %i = onnx.TopK(%x, %c) : (tensor<5xf32>, tensor<1xi64>) -> (tensor<2xf32>, tensor<2xi64>)
  // expected-remark@+1 {{the op also says where elements come from, and rounded ones may be equal [hoist-quantize: indices-used]}}
  %q = quant.qcast %y : tensor<2xf32> to tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q, %i : tensor<2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2xi64>
}

// CHECK-LABEL: func.func @unmoved_rounding_merges(
// CHECK: onnx.Unique(%x) : (tensor<5xf32>
func.func @unmoved_rounding_merges(%p: tensor<5x!quant.uniform<i16:f32, 0.001>>) -> tensor<?x!quant.uniform<u8:f32, 0.02:13>> {
  %x = quant.dcast %p : tensor<5x!quant.uniform<i16:f32, 0.001>> to tensor<5xf32>
  %y = onnx.Unique(%x) : (tensor<5xf32>) -> tensor<?xf32>
  // expected-remark@+1 {{elements that rounding makes equal would be dropped [hoist-quantize: rounding-merges]}}
  %q = quant.qcast %y : tensor<?xf32> to tensor<?x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<?x!quant.uniform<u8:f32, 0.02:13>>
}

// Integers that come in, moved, are read as quantized before they are moved.

// CHECK-LABEL: func.func @integers(
// CHECK-NEXT: %[[X:.*]] = quant.scast %x : tensor<2x3xi8> to tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[X]])
// CHECK-NEXT: quant.dcast %[[M]] : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
func.func @integers(%x: tensor<2x3xi8>) -> tensor<3x2xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  %q = quant.scast %y : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// Integers that somebody else needs as they are, or that are read in two ways.

// CHECK-LABEL: func.func @unmoved_integers(
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%x)
// CHECK-NEXT: quant.scast %[[Y]]
// CHECK: %[[Z:.*]] = onnx.Transpose(%z)
// CHECK-NEXT: quant.scast %[[Z]]
// CHECK-NEXT: quant.scast %[[Z]]
func.func @unmoved_integers(%x: tensor<2x3xi8>, %z: tensor<2x3xi8>) -> (tensor<3x2xf32>, tensor<3x2xi8>, tensor<3x2xf32>, tensor<3x2xf32>) {
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers have a second consumer [hoist-quantize: second-consumer]}}
  %q = quant.scast %y : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.02>>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32, 0.02>> to tensor<3x2xf32>
  %t = onnx.Transpose(%z) {perm = array<i64: 1, 0>} : (tensor<2x3xi8>) -> tensor<3x2xi8>
  // expected-remark@+1 {{the integers are read as two types [hoist-quantize: two-readings]}}
  %a = quant.scast %t : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.02>>
  // expected-remark@+1 {{the integers are read as two types [hoist-quantize: two-readings]}}
  %b = quant.scast %t : tensor<3x2xi8> to tensor<3x2x!quant.uniform<i8:f32, 0.04>>
  %c = quant.dcast %a : tensor<3x2x!quant.uniform<i8:f32, 0.02>> to tensor<3x2xf32>
  %d = quant.dcast %b : tensor<3x2x!quant.uniform<i8:f32, 0.04>> to tensor<3x2xf32>
  func.return %r, %y, %c, %d : tensor<3x2xf32>, tensor<3x2xi8>, tensor<3x2xf32>, tensor<3x2xf32>
}

// Nothing moves: parts of one scale each join to one of that scale, not to equal scales along an axis.

// CHECK-LABEL: func.func @unmoved_equal_scales(
// CHECK: %[[J:.*]] = onnx.Concat(%[[X:.*]], %[[Y:.*]]) {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: quant.qcast %[[J]]
func.func @unmoved_equal_scales(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>) -> tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>> {
  %x = onnx.Exp(%a) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %y = onnx.Exp(%b) : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %j = onnx.Concat(%x, %y) {axis = 1 : i64} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{of operands quantized so the op makes another type [hoist-quantize: other-type]}}
  %q = quant.qcast %j : tensor<3x2xf32> to tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>>
  func.return %q : tensor<3x2x!quant.uniform<u8:f32:1, {0.5:3,0.5:3}>>
}
