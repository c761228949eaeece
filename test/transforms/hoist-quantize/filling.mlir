// RUN: OPT %s -p hoist-quantize | FILECHECK %s
// RUN: DIAGNOSTICS -p hoist-quantize

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

// CHECK-LABEL: func.func @unmoved_pad_of_blocks(
// CHECK: %[[M:.*]] = onnx.Pad(%x
// CHECK: %[[Q:.*]] = quant.qcast %[[M]]
// CHECK-NEXT: func.return %[[Q]]
func.func @unmoved_pad_of_blocks(%x: tensor<4x2xf32>) -> tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 0, 0, 0] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Pad(%x, %c) : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32>
  // expected-remark@+1 {{[hoist-quantize: block-size]}}
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
  // expected-remark@+1 {{Resize fills positions outside the tensor with a constant [hoist-quantize: interpolates]}}
  %q = quant.qcast %y : tensor<1x2x6x8xf32> to tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<1x2x6x8x!quant.uniform<u8:f32, 0.02:13>>
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
  // expected-remark@+1 {{the value that Pad inserts is computed at run time [hoist-quantize: computed-parameter]}}
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
  // expected-remark@+1 {{the value that Pad inserts is stored differently in each channel [hoist-quantize: zero-point]}}
  %q = quant.qcast %y : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Nothing moves: nobody knows how many rows there are, and the Pad takes one away.

// CHECK-LABEL: func.func @unmoved_more_work_of_unknown_size(
// CHECK: onnx.Pad(%x
// CHECK-NEXT: quant.qcast
func.func @unmoved_more_work_of_unknown_size(%x: tensor<?x3xf32>) -> tensor<?x5x!quant.uniform<u8:f32, 0.02:13>> {
  %pads = onnx.Constant() {value = #onnx.tensor<[-1, 0, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %p = onnx.Pad(%x, %pads) : (tensor<?x3xf32>, tensor<4xi64>) -> tensor<?x5xf32>
  // expected-remark@+1 {{[hoist-quantize: does-not-pay]}}
  %q = quant.qcast %p : tensor<?x5xf32> to tensor<?x5x!quant.uniform<u8:f32, 0.02:13>>
  func.return %q : tensor<?x5x!quant.uniform<u8:f32, 0.02:13>>
}
