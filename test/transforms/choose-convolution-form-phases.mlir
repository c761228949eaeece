// RUN: OPT %s -p 'choose-convolution-form{form="phases"}' --print-constants | FILECHECK %s
// RUN: OPT %s -p 'choose-convolution-form{form="phases"}' --verify-diagnostics

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.01,0.02:3}>
!b = !quant.uniform<i32:f32:0, {0.0002,0.0004}>
!y = !quant.uniform<u8:f32, 0.04:9>

// One channel to two, a window of 2 x 3: six times two outputs, the channels of each place in the window together.

// CHECK-LABEL: func.func @image(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 7, 2, 8, 3, 9, 4, 10, 5, 11, 6, 12] : tensor<12x1x1x1xi8>>} : () -> tensor<12x1x1x1x!q0>
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[5, 6, 5, 6, 5, 6, 5, 6, 5, 6, 5, 6] : tensor<12xi32>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Conv(%x, %[[W]], %[[B]]) {kernel_shape = array<i64: 1, 1>} : {{.*}} -> tensor<?x12x?x5x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK-DAG: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>}
// CHECK-DAG: %[[M:.*]] = onnx.Constant() {value = #onnx.tensor<[6] : tensor<1xi64>>}
// CHECK-DAG: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[3] : tensor<1xi64>>}
// CHECK: %[[P:.*]] = onnx.Slice(%[[L]], %[[F]], %[[M]], %[[A]], _) : {{.*}} -> tensor<?x?x5x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[E:.*]] = onnx.Constant() {value = #onnx.tensor<[12] : tensor<1xi64>>}
// CHECK-NEXT: %[[Q:.*]] = onnx.Slice(%[[L]], %[[M]], %[[E]], %[[A]], _) : {{.*}} -> tensor<?x?x5x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[T:.*]] = onnx.Concat(%[[P]], %[[Q]]) {axis = 2 : i64} : {{.*}} -> tensor<?x?x10x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[U:.*]] = onnx.Constant() {value = #onnx.tensor<[0, -1, 15, 2] : tensor<4xi64>>}
// CHECK-NEXT: %[[V:.*]] = onnx.Reshape(%[[T]], %[[U]]) : {{.*}} -> tensor<?x?x15x2x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[V]]) {perm = array<i64: 0, 3, 1, 2>} : {{.*}} -> tensor<?x2x?x15x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
func.func @image(%x: tensor<?x1x?x5x!x>) -> tensor<?x2x?x15x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : tensor<1x2x2x3xi8>>} : () -> tensor<1x2x2x3x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[5, 6] : tensor<2xi32>>} : () -> tensor<2x!b>
  %y = onnx.ConvTranspose(%x, %w, %b) {strides = array<i64: 2, 3>} : (tensor<?x1x?x5x!x>, tensor<1x2x2x3x!w>, tensor<2x!b>) -> tensor<?x2x?x15x!y>
  func.return %y : tensor<?x2x?x15x!y>
}

// Runs of 130 bytes: a Transpose copies them.

// CHECK-LABEL: func.func @long_runs(
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 5, 2, 130] : tensor<5xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%{{.*}}, %[[S]])
// CHECK-NEXT: onnx.Transpose(%[[R]]) {perm = array<i64: 0, 1, 3, 2, 4>} : {{.*}} -> tensor<1x4x2x5x130x!quant.uniform<u8:f32, 0.04:9>>
func.func @long_runs(%x: tensor<1x1x4x5x!x>) -> tensor<1x65x8x10x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600" : tensor<1x65x2x2xi8>>} : () -> tensor<1x65x2x2x!quant.uniform<i8:f32, 0.01>>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x1x4x5x!x>, tensor<1x65x2x2x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x65x8x10x!y>
  func.return %y : tensor<1x65x8x10x!y>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!s = !quant.uniform<i8:f32, 0.02>
!w = !quant.uniform<i8:f32, 0.01>
!y = !quant.uniform<u8:f32, 0.04:9>
!z = !quant.uniform<i8:f32, 0.04:9>

// A line, in float: no place to change with another.

// CHECK-LABEL: func.func @line(
// CHECK: %[[C:.*]] = onnx.Conv(%x, %{{.*}}, _) {{.*}} -> tensor<1x2x5xf32>
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 10, 1] : tensor<3xi64>>}
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[L]], %[[S]])
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[R]]) {perm = array<i64: 0, 2, 1>} : {{.*}} -> tensor<1x1x10xf32>
func.func @line(%x: tensor<1x1x5x!x>) -> tensor<1x1x10xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x10xf32>
  func.return %y : tensor<1x1x10xf32>
}

// Windows of four, two apart: each pair of results sees two pixels; one result is cut off at either end.

// CHECK-LABEL: func.func @over_one_another(
// CHECK: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, 1, 4, 2] : tensor<2x1x2xi8>>}
// CHECK: %[[C:.*]] = onnx.Conv(%x, %[[W]], _) {kernel_shape = array<i64: 2>, pads = array<i64: 1, 1>} : {{.*}} -> tensor<1x2x6x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: %[[R:.*]] = onnx.Reshape({{.*}} -> tensor<1x12x1x
// CHECK: %[[F:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK: %[[E:.*]] = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>}
// CHECK: %[[S:.*]] = onnx.Slice(%[[R]], %[[F]], %[[E]], %[[F]], _) : {{.*}} -> tensor<1x10x1x
// CHECK: onnx.Transpose(%[[S]]) {perm = array<i64: 0, 2, 1>} : {{.*}} -> tensor<1x1x10x!quant.uniform<u8:f32, 0.04:9>>
func.func @over_one_another(%x: tensor<1x1x5x!x>) -> tensor<1x1x10x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x4xi8>>} : () -> tensor<1x1x4x!w>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x5x!x>, tensor<1x1x4x!w>) -> tensor<1x1x10x!y>
  func.return %y : tensor<1x1x10x!y>
}

// One apart, there is nothing to spread; the kernel is turned round. A height that is not known grows as it does.

// CHECK-LABEL: func.func @one_apart(
// CHECK: onnx.Constant() {value = #onnx.tensor<[4, 3, 2, 1] : tensor<1x1x2x2xi8>>}
// CHECK: %[[Y:.*]] = onnx.Conv({{.*}} {kernel_shape = array<i64: 2, 2>, pads = array<i64: 1, 0, 1, 1>} : {{.*}} -> tensor<1x1x?x5x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[Y]]
func.func @one_apart(%x: tensor<1x1x?x5x!x>) -> tensor<1x1x?x5x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2xi8>>} : () -> tensor<1x1x2x2x!w>
  %y = onnx.ConvTranspose(%x, %w) {pads = array<i64: 0, 1, 0, 0>} : (tensor<1x1x?x5x!x>, tensor<1x1x2x2x!w>) -> tensor<1x1x?x5x!y>
  func.return %y : tensor<1x1x?x5x!y>
}

// The pads follow from the size that is stated: an odd one cuts in front, behind for SAME_UPPER; `pads` counts for nothing.

// CHECK-LABEL: func.func @stated_sizes(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK: %[[A:.*]] = onnx.Slice({{.*}} -> tensor<1x9x1x
// CHECK: onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>}
// CHECK: %[[B:.*]] = onnx.Slice({{.*}} -> tensor<1x9x1x
// CHECK-NOT: onnx.ConvTranspose(
// CHECK: func.return
func.func @stated_sizes(%x: tensor<1x1x5x!x>) -> (tensor<1x1x9x!y>, tensor<1x1x9x!y>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, output_shape = array<i64: 9>, pads = array<i64: 3, 4>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x9x!y>
  %b = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, output_shape = array<i64: 9>, auto_pad = "SAME_UPPER"} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x9x!y>
  func.return %a, %b : tensor<1x1x9x!y>, tensor<1x1x9x!y>
}

// SAME makes size * stride results, whatever the size is.

// CHECK-LABEL: func.func @same_of_an_open_size(
// CHECK-NOT: onnx.ConvTranspose(
// CHECK: func.return
func.func @same_of_an_open_size(%x: tensor<1x1x5x!x>, %v: tensor<1x1x?x5x!x>) -> (tensor<1x1x10x!y>, tensor<1x1x?x10x!y>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  %k = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9] : tensor<1x1x3x3xi8>>} : () -> tensor<1x1x3x3x!w>
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, auto_pad = "SAME_UPPER"} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x10x!y>
  %b = onnx.ConvTranspose(%v, %k) {strides = array<i64: 2, 2>, auto_pad = "SAME_LOWER"} : (tensor<1x1x?x5x!x>, tensor<1x1x3x3x!w>) -> tensor<1x1x?x10x!y>
  func.return %a, %b : tensor<1x1x10x!y>, tensor<1x1x?x10x!y>
}

// CHECK-LABEL: func.func @unmoved_shapes(
// CHECK-NOT: onnx.Conv(
// CHECK: func.return
func.func @unmoved_shapes(%x: tensor<1x1x5x!x>) -> (tensor<1x1x11xf32>, tensor<1x1x11xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  // expected-remark@+1 {{the pads of the transposed convolution follow from its sizes (auto_pad) [choose-convolution-form: unknown-shape]}}
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, output_shape = array<i64: 11>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x11xf32>
  // expected-remark@+1 {{the stated shape of the result is not the one that the op computes [choose-convolution-form: invalid-op]}}
  %c = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x11xf32>
  func.return %a, %c : tensor<1x1x11xf32>, tensor<1x1x11xf32>
}

// CHECK-LABEL: func.func @unmoved_large_window(
// CHECK-NOT: onnx.Conv(
// CHECK: func.return
func.func @unmoved_large_window(%x: tensor<1x1x5x!x>) -> (tensor<1x1x?xf32>, tensor<1x1x?xf32>, tensor<1x1x?xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!w>
  // expected-remark@+1 {{an attribute of the window is out of range, or of another rank than the weight [choose-convolution-form: invalid-op]}}
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 1000000>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x?xf32>
  // expected-remark@+1 {{[choose-convolution-form: invalid-op]}}
  %b = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x?xf32>
  // expected-remark@+1 {{[choose-convolution-form: window-form]}}
  %c = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2000>, pads = array<i64: 50, 0>} : (tensor<1x1x5x!x>, tensor<1x1x2x!w>) -> tensor<1x1x?xf32>
  func.return %a, %b, %c : tensor<1x1x?xf32>, tensor<1x1x?xf32>, tensor<1x1x?xf32>
}

// Depthwise, with a scale for each channel along axis 0: the operand once for each of two results, the groups of one after
// those of the other.

// CHECK-LABEL: func.func @depthwise(
// CHECK: %[[X:.*]] = onnx.Concat(%x, %x) {axis = 1 : i64} : {{.*}} -> tensor<1x4x5x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 3, 2, 4] : tensor<4x1x1xi8>>} : () -> tensor<4x1x1x!quant.uniform<i8:f32:0, {0.01,0.02:3,0.01,0.02:3}>>
// CHECK-NEXT: onnx.Conv(%[[X]], %[[W]], _) {kernel_shape = array<i64: 1>, group = 4 : i64} : {{.*}} -> tensor<1x4x5x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: onnx.Reshape({{.*}} -> tensor<1x10x2x!quant.uniform<u8:f32, 0.04:9>>
func.func @depthwise(%x: tensor<1x2x5x!x>) -> tensor<1x2x10x!quant.uniform<u8:f32, 0.04:9>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x2xi8>>} : () -> tensor<2x1x2x!quant.uniform<i8:f32:0, {0.01,0.02:3}>>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, group = 2 : i64} : (tensor<1x2x5x!x>, tensor<2x1x2x!quant.uniform<i8:f32:0, {0.01,0.02:3}>>) -> tensor<1x2x10x!quant.uniform<u8:f32, 0.04:9>>
  func.return %y : tensor<1x2x10x!quant.uniform<u8:f32, 0.04:9>>
}

// CHECK-LABEL: func.func @unmoved_others(
// CHECK-NOT: onnx.Conv(
// CHECK: func.return
func.func @unmoved_others(%x: tensor<1x2x?x!x>, %v: tensor<2x1x2x!w>, %s: tensor<1x2x5x!s>, %r: tensor<1x2x5x!x>) -> (tensor<1x1x?xf32>, tensor<1x1x10xf32>, tensor<1x2x10xf32>, tensor<1x1x10xf32>, tensor<1x1x10x!z>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x2xi8>>} : () -> tensor<2x1x2x!w>
  // expected-remark@+1 {{[choose-convolution-form: unknown-shape]}}
  %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x2x?x!x>, tensor<2x1x2x!w>) -> tensor<1x1x?xf32>
  // expected-remark@+1 {{[choose-convolution-form: computed-parameter]}}
  %b = onnx.ConvTranspose(%r, %v) {strides = array<i64: 2>} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x1x10xf32>
  // expected-remark@+1 {{[choose-convolution-form: float-result]}}
  %c = onnx.ConvTranspose(%r, %w) {strides = array<i64: 2>, group = 2 : i64} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x2x10xf32>
  // expected-remark@+1 {{[choose-convolution-form: no-costs]}}
  %d = onnx.ConvTranspose(%s, %w) {strides = array<i64: 2>} : (tensor<1x2x5x!s>, tensor<2x1x2x!w>) -> tensor<1x1x10xf32>
  // expected-remark@+1 {{[choose-convolution-form: no-costs]}}
  %e = onnx.ConvTranspose(%r, %w) {strides = array<i64: 2>} : (tensor<1x2x5x!x>, tensor<2x1x2x!w>) -> tensor<1x1x10x!z>
  func.return %a, %b, %c, %d, %e : tensor<1x1x?xf32>, tensor<1x1x10xf32>, tensor<1x2x10xf32>, tensor<1x1x10xf32>, tensor<1x1x10x!z>
}

// CHECK-LABEL: func.func @unmoved_volumes(
// CHECK: onnx.ConvTranspose(
func.func @unmoved_volumes(%x: tensor<1x2x2x2x2x!x>) -> tensor<1x1x2x2x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<2x1x1x1x2xi8>>} : () -> tensor<2x1x1x1x2x!w>
  // expected-remark@+1 {{rewritten only over one or two spatial axes [choose-convolution-form: window-form]}}
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 1, 1, 2>} : (tensor<1x2x2x2x2x!x>, tensor<2x1x1x1x2x!w>) -> tensor<1x1x2x2x4xf32>
  func.return %y : tensor<1x1x2x2x4xf32>
}

// -----

// Slice cannot take bounds of bytes yet, to cut off with; what loses nothing needs none.

builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {
  // CHECK-LABEL: func.func @unmoved_opset(
  // CHECK: onnx.ConvTranspose(
  // CHECK-NOT: onnx.ConvTranspose(
  // CHECK: func.return
  func.func @unmoved_opset(%x: tensor<1x1x5x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<1x1x8xf32>, tensor<1x1x10xf32>) {
    %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x1x2xi8>>} : () -> tensor<1x1x2x!quant.uniform<i8:f32, 0.01>>
    // expected-remark@+1 {{Slice takes computed bounds of bytes from opset 11 on [choose-convolution-form: opset]}}
    %a = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>, pads = array<i64: 1, 1>} : (tensor<1x1x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<1x1x2x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x1x8xf32>
    %b = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2>} : (tensor<1x1x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<1x1x2x!quant.uniform<i8:f32, 0.01>>) -> tensor<1x1x10xf32>
    func.return %a, %b : tensor<1x1x8xf32>, tensor<1x1x10xf32>
  }
}
