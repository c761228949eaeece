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

// CHECK-LABEL: func.func @slice(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Slice(%r, %c, %d) : (tensor<5x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<2x2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Gather(%r, %i) {axis = 0 : i64} : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  func.return %y : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @gather_elements(
// CHECK: %[[M:.*]] = onnx.GatherElements(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_elements(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.GatherElements(%r, %i) : (tensor<5x3xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gather_nd(
// CHECK: %[[M:.*]] = onnx.GatherND(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_nd(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.GatherND(%r, %i) : (tensor<5x3xf32>, tensor<2x1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK: %[[M:.*]] = onnx.Expand(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @expand(%q: tensor<3x1x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 3, 4] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = quant.dcast %q : tensor<3x1x!quant.uniform<u8:f32, 0.02:13>> to tensor<3x1xf32>
  %y = onnx.Expand(%r, %c) : (tensor<3x1xf32>, tensor<3xi64>) -> tensor<2x3x4xf32>
  func.return %y : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @tile(
// CHECK: %[[M:.*]] = onnx.Tile(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @tile(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Tile(%r, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @pad(
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @resize_nearest(
// CHECK: %[[M:.*]] = onnx.Resize(%q, _, %s{{.*}}) {{.*}}-> tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x6x8xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @resize_nearest(%q: tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x6x8xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %r = quant.dcast %q : tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x3x4xf32>
  %y = onnx.Resize(%r, _, %s) : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  func.return %y : tensor<1x2x6x8xf32>
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

// CHECK-LABEL: func.func @reverse_sequence(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%q, %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reverse_sequence(%q: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<3xi64>) -> tensor<4x3xf32> {
  %r = quant.dcast %q : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
  %y = onnx.ReverseSequence(%r, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @compress(
// CHECK: %[[M:.*]] = onnx.Compress(%q, %i{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @compress(%q: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<5xi1>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = onnx.Compress(%r, %i) {axis = 0 : i64} : (tensor<5x3xf32>, tensor<5xi1>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

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

// CHECK-LABEL: func.func @slice_other_axis(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_other_axis(%q: tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
  %y = onnx.Slice(%r, %c, %d, %e) : (tensor<5x3xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// The scales are sliced as the axis is.

// CHECK-LABEL: func.func @slice_along(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e, %f{{.*}}) {{.*}}-> tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.75:9}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.75:9}>> to tensor<2x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_along(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[5] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %f = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r, %c, %d, %e, %f) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @slice_backwards(
// CHECK: %[[M:.*]] = onnx.Slice(%q, %{{.*}}, %d, %e, %f{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.75:9,0.25:-7}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.75:9,0.25:-7}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_backwards(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[-9223372036854775808] : tensor<1xi64>>} : () -> tensor<1xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %f = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r, %c, %d, %e, %f) : (tensor<2x6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Indices of rank 2 in front of the axis move it by one.

// CHECK-LABEL: func.func @gather_other_axis(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<2x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x2x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<2x2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_other_axis(%q: tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<2x2xi64>) -> tensor<2x2x3xf32> {
  %r = quant.dcast %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
  %y = onnx.Gather(%r, %i) : (tensor<5x3xf32>, tensor<2x2xi64>) -> tensor<2x2x3xf32>
  func.return %y : tensor<2x2x3xf32>
}

// CHECK-LABEL: func.func @gather_behind(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %i{{.*}}) {{.*}}-> tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_behind(%q: tensor<3x5x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %i: tensor<4xi64>) -> tensor<3x4xf32> {
  %r = quant.dcast %q : tensor<3x5x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x5xf32>
  %y = onnx.Gather(%r, %i) {axis = -1 : i64} : (tensor<3x5xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// The scales are gathered as the axis is; an index may count from the end.

// CHECK-LABEL: func.func @gather_along(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.5:3,1.5:-2}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {2.5:1,0.5:3,1.5:-2}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_along(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[5, 0, -2] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Gather(%r, %c) {axis = 1 : i64} : (tensor<2x6xf32>, tensor<3xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// One index without an axis: one scale.

// CHECK-LABEL: func.func @gather_one(
// CHECK: %[[M:.*]] = onnx.Gather(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x!quant.uniform<i8:f32, 0.75:9>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x!quant.uniform<i8:f32, 0.75:9>> to tensor<2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @gather_one(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[3] : tensor<i64>>} : () -> tensor<i64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<i64>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @expand_other_axis(
// CHECK: %[[M:.*]] = onnx.Expand(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x4x3x!quant.uniform<i8:f32:2, {0.5:3,0.25:-7,0.125}>> to tensor<2x4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @expand_other_axis(%q: tensor<1x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x4x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 4, 3] : tensor<3xi64>>} : () -> tensor<3xi64>
  %r = quant.dcast %q : tensor<1x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<1x3xf32>
  %y = onnx.Expand(%r, %c) : (tensor<1x3xf32>, tensor<3xi64>) -> tensor<2x4x3xf32>
  func.return %y : tensor<2x4x3xf32>
}

// The axis grows: its scales are repeated.

// CHECK-LABEL: func.func @expand_along(
// CHECK: %[[M:.*]] = onnx.Expand(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.5:3,0.5:3}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.5:3,0.5:3}>> to tensor<3x2xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @expand_along(%q: tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>>) -> tensor<3x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<1x2x!quant.uniform<i8:f32:0, {0.5:3}>> to tensor<1x2xf32>
  %y = onnx.Expand(%r, %c) : (tensor<1x2xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @tile_other_axis(
// CHECK: %[[M:.*]] = onnx.Tile(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @tile_other_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<4x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Tile(%r, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @tile_along(
// CHECK: %[[M:.*]] = onnx.Tile(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.5:3,0.25:-7}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.5:3,0.25:-7}>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @tile_along(%q: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<4x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x3xf32>
  %y = onnx.Tile(%r, %c) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @pad_other_axis(
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_other_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<5x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 0, 2, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @pad_some_axes(
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}, _, %e{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_some_axes(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<5x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %e = onnx.Constant() {value = #onnx.tensor<[-2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c, _, %e) : (tensor<2x3xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @pad_edge(
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}, _{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_edge(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c, _) {mode = "edge"} : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// -0.26 is stored as 0.

// CHECK-LABEL: func.func @pad_value(
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}, %v{{.*}}) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x6x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x6xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_value(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[-0.26] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @reverse_sequence_per_axis(
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%q, %i{{.*}}) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @reverse_sequence_per_axis(%q: tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<3xi64>) -> tensor<4x3xf32> {
  %r = quant.dcast %q : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
  %y = onnx.ReverseSequence(%r, %i) : (tensor<4x3xf32>, tensor<3xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
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

// Several operands of one type share one cast.

// CHECK-LABEL: func.func @concat(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// CHECK-LABEL: func.func @concat_other_axis(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat_other_axis(%a: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %b: tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Along the scales' axis, two lists become one.

// CHECK-LABEL: func.func @concat_along(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat_along(%a: tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>, %b: tensor<4x1x!quant.uniform<i8:f32:1, {0.125}>>) -> tensor<4x3xf32> {
  %x = quant.dcast %a : tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>> to tensor<4x2xf32>
  %y = quant.dcast %b : tensor<4x1x!quant.uniform<i8:f32:1, {0.125}>> to tensor<4x1xf32>
  %z = onnx.Concat(%x, %y) {axis = -1 : i64} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
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

// CHECK-LABEL: func.func @where(
// CHECK-NEXT: %[[M:.*]] = onnx.Where(%m, %a, %b) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @where(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>, %m: tensor<2x3xi1>) -> tensor<2x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Where(%m, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scatter_elements(
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterElements(%a, %i, %b) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @scatter_elements(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterElements(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @scatter_nd(
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterND(%a, %i, %b) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @scatter_nd(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterND(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// Several results take one type each.

// CHECK-LABEL: func.func @split(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @split_other_axis(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split_other_axis(%q: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @split_along(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split_along(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
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

// CHECK-LABEL: func.func @unmoved_clamp_of_storage(
// CHECK: %[[S:.*]] = quant.scast %q
// CHECK-NEXT: %[[M:.*]] = onnx.Clip(%[[S]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clamp_of_storage(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %low: tensor<ui8>) -> tensor<2x3xui8> {
  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xui8>
  // expected-remark@+1 {{[sink-dequantize: computed-bound]}}
  %y = onnx.Clip(%s, %low) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  func.return %y : tensor<2x3xui8>
}

// Nothing moves: the scales' axis is merged with another.

// CHECK-LABEL: func.func @unmoved_reshape_of_the_axis(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Reshape(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_reshape_of_the_axis(%q: tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<12xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[12] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4xf32>
  // expected-remark@+1 {{the scales run along an axis that this op changes [sink-dequantize: scales-along-axis]}}
  %y = onnx.Reshape(%r, %c) : (tensor<3x4xf32>, tensor<1xi64>) -> tensor<12xf32>
  func.return %y : tensor<12xf32>
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

// Nothing moves: rows change places, their scales would not.

// CHECK-LABEL: func.func @unmoved_reverse_sequence(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.ReverseSequence(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_reverse_sequence(%q: tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %i: tensor<4xi64>) -> tensor<3x4xf32> {
  %r = quant.dcast %q : tensor<3x4x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.ReverseSequence(%r, %i) : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<3x4xf32>
  func.return %y : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_of_the_axis(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_of_the_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, -1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Pad(%r, %c) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing moves: the axis becomes two.

// CHECK-LABEL: func.func @unmoved_gather_of_rank_2(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_of_rank_2(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 5, 3, 1] : tensor<2x2xi64>>} : () -> tensor<2x2xi64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<2x2xi64>) -> tensor<2x2x2xf32>
  func.return %y : tensor<2x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_gather_out_of_range(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_out_of_range(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{an index is out of the operand's range; check the model [sink-dequantize: out-of-range]}}
  %y = onnx.Gather(%r, %c) : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Nothing moves: which scales are taken is computed.

// CHECK-LABEL: func.func @unmoved_gather_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Gather(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_gather_computed(%q: tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>, %i: tensor<2xi64>) -> tensor<2x2xf32> {
  %r = quant.dcast %q : tensor<6x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<6x2xf32>
  // expected-remark@+1 {{an axis, index or size that decides where scales go is computed [sink-dequantize: computed-parameter]}}
  %y = onnx.Gather(%r, %i) : (tensor<6x2xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
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

// CHECK-LABEL: func.func @unmoved_pad_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_computed(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<4xi64>) -> tensor<4x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{the pads are computed [sink-dequantize: computed-parameter]}}
  %y = onnx.Pad(%r, %i) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_axes_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_axes_computed(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %i: tensor<1xi64>) -> tensor<4x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{the padded axes are computed [sink-dequantize: computed-parameter]}}
  %y = onnx.Pad(%r, %c, _, %i) : (tensor<2x3xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<4x3xf32>
  func.return %y : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @unmoved_slice_to_nothing(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Slice(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_slice_to_nothing(%q: tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<0x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x2xf32>
  // expected-remark@+1 {{nothing of the axis that the scales run along is left [sink-dequantize: no-scales]}}
  %y = onnx.Slice(%r, %c, %d) : (tensor<3x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<0x2xf32>
  func.return %y : tensor<0x2xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Transpose(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_unknown_rank(%q: tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<*xf32> {
  %r = quant.dcast %q : tensor<*x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<*xf32>
  // expected-remark@+1 {{the operand's rank is not known; run ONNX shape inference on the model [sink-dequantize: unknown-rank]}}
  %y = onnx.Transpose(%r) : (tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// Nothing moves: an end that counts from the axis' end needs its size.

// CHECK-LABEL: func.func @unmoved_slice_of_unknown_size(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Slice(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_slice_of_unknown_size(%q: tensor<?x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>) -> tensor<?x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
  %d = onnx.Constant() {value = #onnx.tensor<[2] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<?x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<?x2xf32>
  // expected-remark@+1 {{[sink-dequantize: unknown-rank]}}
  %y = onnx.Slice(%r, %c, %d) : (tensor<?x2xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<?x2xf32>
  func.return %y : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @unmoved_blocks(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Tile(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_blocks(%q: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<4x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{scales per block do not follow this op [sink-dequantize: blocked-scales]}}
  %y = onnx.Tile(%r, %c) : (tensor<4x2xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_of_blocks(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_of_blocks(%q: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<4x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{[sink-dequantize: blocked-scales]}}
  %y = onnx.Pad(%r, %c) : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @unmoved_linear_resize(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Resize(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_linear_resize(%q: tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x6x8xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %r = quant.dcast %q : tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x3x4xf32>
  // expected-remark@+1 {{Resize computes new elements between the old ones [sink-dequantize: interpolates]}}
  %y = onnx.Resize(%r, _, %s) {mode = "linear"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  func.return %y : tensor<1x2x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_cropping_resize(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Resize(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_cropping_resize(%q: tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x6x8xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  %r = quant.dcast %q : tensor<1x2x3x4x!quant.uniform<u8:f32, 0.02:13>> to tensor<1x2x3x4xf32>
  // expected-remark@+1 {{Resize fills in a value where it looks beyond the tensor [sink-dequantize: extrapolates]}}
  %y = onnx.Resize(%r, _, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  func.return %y : tensor<1x2x6x8xf32>
}

// CHECK-LABEL: func.func @unmoved_clip_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Clip(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_clip_computed(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<f32>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{a bound of Clip is computed; give Clip constant bounds [sink-dequantize: computed-bound]}}
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
  // expected-remark@+1 {{the type cannot express the bounds [-inf, 1.01] [sink-dequantize: bound-rounds]}}
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
  // expected-remark@+1 {{[sink-dequantize: bound-rounds]}}
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
  // expected-remark@+1 {{[sink-dequantize: bound-rounds]}}
  %y = onnx.Clip(%r, _, %d) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_value_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_value_computed(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<f32>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{the value that Pad puts in is computed [sink-dequantize: computed-pad-value]}}
  %y = onnx.Pad(%r, %c, %i) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_value_per_axis(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_value_per_axis(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<5x3xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 0, 2, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{the value that Pad puts in is stored differently in each channel [sink-dequantize: pad-value-per-axis]}}
  %y = onnx.Pad(%r, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_value_that_rounds(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_value_that_rounds(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %v = onnx.Constant() {value = #onnx.tensor<[-0.25] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{Pad puts in -0.25, which the type cannot express [sink-dequantize: pad-value-rounds]}}
  %y = onnx.Pad(%r, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// Nothing moves: the operands have two scales.

// CHECK-LABEL: func.func @unmoved_two_scales(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_two_scales(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.03:13>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<4x3xf32>
  // expected-remark@+1 {{the operands have different scales or zero points [sink-dequantize: mixed-scales]}}
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
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

// Nothing moves: the scales run along two axes.

// CHECK-LABEL: func.func @unmoved_two_axes(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_two_axes(%a: tensor<3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %b: tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x3xf32>
  %y = quant.dcast %b : tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<3x3xf32>
  // expected-remark@+1 {{[sink-dequantize: mixed-scales]}}
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Nothing moves: axis 1 is one block, which would become two.

// CHECK-LABEL: func.func @unmoved_joined_blocks(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_joined_blocks(%a: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>, %b: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<4x4xf32> {
  %x = quant.dcast %a : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  %y = quant.dcast %b : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{[sink-dequantize: blocked-scales]}}
  %z = onnx.Concat(%x, %y) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// Nothing moves: what is overwritten is added.

// CHECK-LABEL: func.func @unmoved_scatter_that_adds(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterND(%[[X]], %i, %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_scatter_that_adds(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{the op computes with the elements that it overwrites [sink-dequantize: reduces]}}
  %z = onnx.ScatterND(%x, %i, %y) {reduction = "add"} : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// Nothing moves: one operand has no scale at all.

// CHECK-LABEL: func.func @unmoved_float_operand(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %b)
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_float_operand(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{onnx.Concat 'onnx.Concat': another operand is not quantized; quantize every operand alike [sink-dequantize: other-operand]}}
  %z = onnx.Concat(%x, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
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
  // expected-remark@+1 {{a slope other than a constant 0 makes new numbers; use Relu [sink-dequantize: slope]}}
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
  // expected-remark@+1 {{the bounds of the clamp leave nothing between them [sink-dequantize: empty-range]}}
  %a = onnx.Clip(%i, %l, %h) : (tensor<2x3xui8>, tensor<ui8>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{the bound is none of the type's integers [sink-dequantize: bound-outside]}}
  %b = onnx.Max(%j, %o) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<2x3xui8>
  // expected-remark@+1 {{the bound differs from element to element [sink-dequantize: bound-shape]}}
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

// Nothing moves: a part without elements would have no scale.

// CHECK-LABEL: func.func @unmoved_split_to_nothing(
// CHECK: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Split(%[[X]]
func.func @unmoved_split_to_nothing(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> (tensor<2x3xf32>, tensor<2x0xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: no-scales]}}
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x0xf32>)
  func.return %y, %z : tensor<2x3xf32>, tensor<2x0xf32>
}

// -----

// Opset 9: what became inputs later were attributes.

builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
// CHECK-LABEL: func.func @squeeze_11(
// CHECK: %[[M:.*]] = onnx.Squeeze(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @squeeze_11(%q: tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
  %y = onnx.Squeeze(%r) {axes = array<i64: 0, 2>} : (tensor<1x2x1x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unsqueeze_11(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%q{{.*}}) {{.*}}-> tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<1x2x1x3x!quant.uniform<i8:f32:3, {0.5:3,0.25:-7,0.125}>> to tensor<1x2x1x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @unsqueeze_11(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<1x2x1x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Unsqueeze(%r) {axes = array<i64: 0, 2>} : (tensor<2x3xf32>) -> tensor<1x2x1x3xf32>
  func.return %y : tensor<1x2x1x3xf32>
}

// CHECK-LABEL: func.func @clip_6(
// CHECK: %[[M:.*]] = onnx.Clip(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @clip_6(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Clip(%r) {min = 0.0 : f32, max = 1.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @pad_2(
// CHECK: %[[M:.*]] = onnx.Pad(%q{{.*}}) {{.*}}-> tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @pad_2(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<5x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = onnx.Pad(%r) {pads = array<i64: 1, 0, 2, 0>} : (tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @slice_1(
// CHECK: %[[M:.*]] = onnx.Slice(%q{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<i8:f32:1, {0.25:-7,0.125,0.75:9}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]] : tensor<2x3x!quant.uniform<i8:f32:1, {0.25:-7,0.125,0.75:9}>> to tensor<2x3xf32>
// CHECK-NEXT: func.return %[[R]]
func.func @slice_1(%q: tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x6x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125,0.75:9,1.5:-2,2.5:1}>> to tensor<2x6xf32>
  %y = onnx.Slice(%r) {axes = array<i64: 1>, starts = array<i64: 1>, ends = array<i64: -2>} : (tensor<2x6xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_2(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_2(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: pad-value-rounds]}}
  %y = onnx.Pad(%r) {pads = array<i64: 0, 1, 0, 2>, value = -0.25 : f32} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

}

// A slope of 0 makes PRelu a Relu; any other makes new numbers.

// CHECK-LABEL: func.func @prelu(
// CHECK: %[[M:.*]] = onnx.PRelu(%q, %{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @prelu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<1xf32>>} : () -> tensor<1xf32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.PRelu(%r, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_prelu(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.PRelu(%[[R]]
func.func @unmoved_prelu(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<1xf32>>} : () -> tensor<1xf32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: slope]}}
  %y = onnx.PRelu(%r, %s) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
