// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

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

// CHECK-LABEL: func.func @unmoved_blocks(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Tile(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_blocks(%q: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<4x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{scales per block cannot move through this op [sink-dequantize: block-size]}}
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
  // expected-remark@+1 {{[sink-dequantize: block-size]}}
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
  // expected-remark@+1 {{Resize fills positions outside the tensor with a constant [sink-dequantize: interpolates]}}
  %y = onnx.Resize(%r, _, %s) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x8xf32>
  func.return %y : tensor<1x2x6x8xf32>
}

// onnxruntime's quantizer puts a pair around the value too: 48 - 23 steps of 0.02 are 0.5, 25 steps above the zero point.

// CHECK-LABEL: func.func @dequantized_pad_value(
// CHECK: %[[V:.*]] = quant.dcast
// CHECK: %[[M:.*]] = onnx.Pad(%q, %{{.*}}, %[[V]], _) {{.*}}-> tensor<2x6x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @dequantized_pad_value(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %s = onnx.Constant() {value = #onnx.tensor<[48] : tensor<i8>>} : () -> tensor<!quant.uniform<i8:f32, 0.02:23>>
  %v = quant.dcast %s : tensor<!quant.uniform<i8:f32, 0.02:23>> to tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Pad(%r, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// Likewise bounds: 35 - 10 and 110 - 10 steps of 0.02, 25 and 100 steps of the type.

// CHECK-LABEL: func.func @dequantized_bounds(
// CHECK: %[[M:.*]] = onnx.Clip(%q, %{{.*}}, %{{.*}}) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @dequantized_bounds(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3xf32> {
  %l = onnx.Constant() {value = #onnx.tensor<[35] : tensor<i8>>} : () -> tensor<!quant.uniform<i8:f32, 0.02:10>>
  %h = onnx.Constant() {value = #onnx.tensor<[110] : tensor<i8>>} : () -> tensor<!quant.uniform<i8:f32, 0.02:10>>
  %a = quant.dcast %l : tensor<!quant.uniform<i8:f32, 0.02:10>> to tensor<f32>
  %b = quant.dcast %h : tensor<!quant.uniform<i8:f32, 0.02:10>> to tensor<f32>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = onnx.Clip(%r, %a, %b) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_pad_value_computed(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: %[[M:.*]] = onnx.Pad(%[[R]]
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_pad_value_computed(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<f32>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, 2] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{the value that Pad inserts is computed at run time [sink-dequantize: computed-parameter]}}
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
  // expected-remark@+1 {{the value that Pad inserts is stored differently in each channel [sink-dequantize: zero-point]}}
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
  // expected-remark@+1 {{Pad inserts -0.25, which the type cannot represent [sink-dequantize: value-rounds]}}
  %y = onnx.Pad(%r, %c, %v) : (tensor<2x3xf32>, tensor<4xi64>, tensor<f32>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}
