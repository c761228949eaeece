// RUN: OPT %s -p choose-convolution-form --print-constants | FILECHECK %s
// RUN: OPT %s -p choose-convolution-form --verify-diagnostics

// What costs least on the default target; the forms one by one are in choose-convolution-form-*.mlir.

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// Two outputs for each of two channels: the two groups become one, and then pixels of a row become channels. Groups alone
// would not be enough.

// CHECK-LABEL: func.func @groups_and_width(
// CHECK: onnx.Reshape(
// CHECK: onnx.Conv({{.*}}) {kernel_shape = array<i64: 1, 5>, strides = array<i64: 1, 4>} : (tensor<4x4x64x33x!quant.uniform<u8:f32, 0.02:13>>, tensor<32x4x1x5x!quant.uniform<i8:f32, 0.01>>) -> tensor<4x32x64x8x!quant.uniform<u8:f32, 0.02:13>>
// CHECK: onnx.Reshape(
func.func @groups_and_width(%x: tensor<4x2x64x66x!x>) -> tensor<4x4x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : tensor<4x1x1x3xi8>>} : () -> tensor<4x1x1x3x!w>
  %y = onnx.Conv(%x, %w) {group = 2 : i64} : (tensor<4x2x64x66x!x>, tensor<4x1x1x3x!w>) -> tensor<4x4x64x64x!x>
  func.return %y : tensor<4x4x64x64x!x>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// One channel for each output has a kernel that is made for it.

// CHECK-LABEL: func.func @unmoved_depthwise(
// CHECK: onnx.Conv(%x, %w, _) {group = 64 : i64}
func.func @unmoved_depthwise(%x: tensor<1x64x28x27x!x>, %w: tensor<64x1x3x1x!w>) -> tensor<1x64x26x27x!x> {
  %y = onnx.Conv(%x, %w) {group = 64 : i64} : (tensor<1x64x28x27x!x>, tensor<64x1x3x1x!w>) -> tensor<1x64x26x27x!x>
  func.return %y : tensor<1x64x26x27x!x>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// A row of 31 is packed in no way; its slices are joined. One of 32 is packed first: there is less to join.

// CHECK-LABEL: func.func @depth(
// CHECK: onnx.Concat
// CHECK: func.return
func.func @depth(%x: tensor<1x1x6x32x31x!x>) -> tensor<1x1x5x31x31x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2x1xi8>>} : () -> tensor<1x1x2x2x1x!w>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x6x32x31x!x>, tensor<1x1x2x2x1x!w>) -> tensor<1x1x5x31x31x!x>
  func.return %y : tensor<1x1x5x31x31x!x>
}

// CHECK-LABEL: func.func @width_then_depth(
// CHECK: onnx.Transpose({{.*}}) -> tensor<1x16x6x32x2x
// CHECK: onnx.Concat({{.*}}) -> tensor<1x5x32x2x32x
// CHECK: onnx.Conv({{.*}}) {kernel_shape = array<i64: 2, 1>} : (tensor<5x32x32x2x
// CHECK: func.return
func.func @width_then_depth(%x: tensor<1x1x6x32x32x!x>) -> tensor<1x1x5x31x32x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2x1xi8>>} : () -> tensor<1x1x2x2x1x!w>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x6x32x32x!x>, tensor<1x1x2x2x1x!w>) -> tensor<1x1x5x31x32x!x>
  func.return %y : tensor<1x1x5x31x32x!x>
}

// A few pixels: whatever is saved, moving them takes longer.

// CHECK-LABEL: func.func @unmoved_few_pixels(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_few_pixels(%s: tensor<1x1x3x2x1x!x>) -> tensor<1x1x2x1x1x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2x1xi8>>} : () -> tensor<1x1x2x2x1x!w>
  %b = onnx.Conv(%s, %w) : (tensor<1x1x3x2x1x!x>, tensor<1x1x2x2x1x!w>) -> tensor<1x1x2x1x1x!x>
  func.return %b : tensor<1x1x2x1x1x!x>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// CHECK-LABEL: func.func @width(
// CHECK: onnx.Reshape
// CHECK: onnx.Conv
func.func @width(%x: tensor<1x1x64x64x!x>) -> tensor<1x1x64x64x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  %y = onnx.Conv(%x, %w) : (tensor<1x1x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %y : tensor<1x1x64x64x!x>
}

// Were it worth its while, the weight would stand in the way: there is no remark.

// CHECK-LABEL: func.func @unmoved_many_channels(
// CHECK-NOT: onnx.Reshape
// CHECK: return
func.func @unmoved_many_channels(%x: tensor<1x256x8x7x!x>, %w: tensor<256x256x1x1x!w>) -> tensor<1x256x8x7x!x> {
  %y = onnx.Conv(%x, %w) : (tensor<1x256x8x7x!x>, tensor<256x256x1x1x!w>) -> tensor<1x256x8x7x!x>
  func.return %y : tensor<1x256x8x7x!x>
}

// A float result would be moved twice, to channels last and back; one of integers costs that a quarter.

// CHECK-LABEL: func.func @unmoved_float_result(
// CHECK: onnx.Reshape
// CHECK: onnx.Conv({{.*}} -> tensor<1x4x4000xf32>
// CHECK-NOT: onnx.Reshape
// CHECK: return
func.func @unmoved_float_result(%x: tensor<1x1x4002x!x>) -> (tensor<1x4x4000xf32>, tensor<1x4x4000x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] : tensor<4x1x3xi8>>} : () -> tensor<4x1x3x!w>
  %z = onnx.Conv(%x, %w) : (tensor<1x1x4002x!x>, tensor<4x1x3x!w>) -> tensor<1x4x4000x!x>
  // expected-remark@+1 {{with this number of channels the convolution is as fast in float [choose-convolution-form: float-faster]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x1x4002x!x>, tensor<4x1x3x!w>) -> tensor<1x4x4000xf32>
  func.return %y, %z : tensor<1x4x4000xf32>, tensor<1x4x4000x!x>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// Four results from each pixel as channels, and then 13 pixels of the result as one. Short runs are spread by Slices.

// CHECK-LABEL: func.func @phases(
// CHECK-NOT: onnx.ConvTranspose
// CHECK: onnx.Conv({{.*}} {kernel_shape = array<i64: 2, 14>, strides = array<i64: 1, 13>, pads = array<i64: 1, 1, 1, 1>} {{.*}} -> tensor<1x208x65x5x
// CHECK: %[[A:.*]] = onnx.Slice({{.*}} -> tensor<1x65x65x8x
// CHECK: %[[B:.*]] = onnx.Slice({{.*}} -> tensor<1x65x65x8x
// CHECK: onnx.Concat(%[[A]], %[[B]]) {axis = 2 : i64} : {{.*}} -> tensor<1x65x130x8x
// CHECK: func.return
func.func @phases(%x: tensor<1x1x64x64x!x>) -> tensor<1x4x128x128x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64] : tensor<1x4x4x4xi8>>} : () -> tensor<1x4x4x4x!w>
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} : (tensor<1x1x64x64x!x>, tensor<1x4x4x4x!w>) -> tensor<1x4x128x128x!x>
  func.return %y : tensor<1x4x128x128x!x>
}

// CHECK-LABEL: func.func @unmoved_transposed(
// CHECK: onnx.ConvTranspose(
// CHECK: func.return
func.func @unmoved_transposed(%x: tensor<1x1x4x3x!x>) -> tensor<1x1x8x6xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<1x1x2x2xi8>>} : () -> tensor<1x1x2x2x!w>
  // expected-remark@+1 {{[choose-convolution-form: float-faster]}}
  %y = onnx.ConvTranspose(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x1x4x3x!x>, tensor<1x1x2x2x!w>) -> tensor<1x1x8x6xf32>
  func.return %y : tensor<1x1x8x6xf32>
}

// -----

// One output of eight inputs over many pixels: ConvInteger reads integers, and has little to write in float. The
// factor is 0.02 * 0.5; `legalize-sums` gives the weight the signedness that the kernel is the fastest on.
// CHECK-LABEL: func.func @float_result_sum(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, -1, -2, -3, 127, -128] : tensor<1x8x1x1xi8>>}
// CHECK-DAG: %[[X:.*]] = quant.scast %a
// CHECK: %[[S:.*]] = onnx.ConvInteger(%[[X]], %[[W]], %{{.*}}, %{{.*}}) : (tensor<1x8x99x50xui8>, tensor<1x8x1x1xi8>, tensor<ui8>, tensor<i8>) -> tensor<1x1x99x50xi32>
// CHECK-NEXT: %[[F:.*]] = onnx.Cast(%[[S]])
// CHECK-NEXT: %[[M:.*]] = onnx.Constant() {value = #onnx.tensor<[0.01] : tensor<f32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[F]], %[[M]])
// CHECK-NEXT: func.return %[[Y]]
func.func @float_result_sum(%a: tensor<1x8x99x50x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x1x99x50xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, -1, -2, -3, 127, -128] : tensor<1x8x1x1xi8>>} : () -> tensor<1x8x1x1x!quant.uniform<i8:f32, 0.5>>
  %y = onnx.Conv(%a, %w) : (tensor<1x8x99x50x!quant.uniform<u8:f32, 0.02:13>>, tensor<1x8x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x1x99x50xf32>
  func.return %y : tensor<1x1x99x50xf32>
}

// The same between convolutions that run channels last, one beside it and one behind the sum: ConvInteger would be between
// Transposes, the product is not.
// CHECK-LABEL: func.func @float_result_channels_last(
// CHECK-NOT: onnx.ConvInteger
// CHECK: onnx_ms.MatMulIntegerToFloat(
// CHECK-NOT: onnx.ConvInteger
// CHECK: func.return
func.func @float_result_channels_last(%a: tensor<1x8x50x98x!quant.uniform<u8:f32, 0.02:13>>, %r: tensor<1x8x25x49xf32>) -> (tensor<1x8x50x98x!quant.uniform<u8:f32, 0.04>>, tensor<1x8x25x49x!quant.uniform<u8:f32, 0.04>>) {
  %w = onnx.Constant() {value = #onnx.tensor<"0x00010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600" : tensor<8x8x1x1xi8>>} : () -> tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>
  %b = onnx.Conv(%a, %w) : (tensor<1x8x50x98x!quant.uniform<u8:f32, 0.02:13>>, tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x50x98x!quant.uniform<u8:f32, 0.04>>
  %y = onnx.Conv(%a, %w) {strides = array<i64: 2, 2>} : (tensor<1x8x50x98x!quant.uniform<u8:f32, 0.02:13>>, tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x25x49xf32>
  %s = onnx.Add(%y, %r) : (tensor<1x8x25x49xf32>, tensor<1x8x25x49xf32>) -> tensor<1x8x25x49xf32>
  %q = quant.qcast %s : tensor<1x8x25x49xf32> to tensor<1x8x25x49x!quant.uniform<u8:f32, 0.04>>
  %z = onnx.Conv(%q, %w) : (tensor<1x8x25x49x!quant.uniform<u8:f32, 0.04>>, tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x25x49x!quant.uniform<u8:f32, 0.04>>
  func.return %b, %z : tensor<1x8x50x98x!quant.uniform<u8:f32, 0.04>>, tensor<1x8x25x49x!quant.uniform<u8:f32, 0.04>>
}

// In front of one that is not, as of the first.
// CHECK-LABEL: func.func @float_result_channels_first(
// CHECK: onnx.ConvInteger
// CHECK: func.return
func.func @float_result_channels_first(%a: tensor<1x8x50x98x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x8x25x49xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x00010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600" : tensor<8x8x1x1xi8>>} : () -> tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>
  %y = onnx.Conv(%a, %w) {strides = array<i64: 2, 2>} : (tensor<1x8x50x98x!quant.uniform<u8:f32, 0.02:13>>, tensor<8x8x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x8x25x49xf32>
  func.return %y : tensor<1x8x25x49xf32>
}

// Many channels: a matrix product. The weight is turned, its scale is every column's.
// CHECK-LABEL: func.func @float_result_product(
// CHECK: %[[X:.*]] = quant.scast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 0, 2, 3, 1>} : (tensor<1x32x9x8xui8>) -> tensor<1x9x8x32xui8>
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<"0x00040105{{.*}} : tensor<32x32xi8>>}
// CHECK-NEXT: %[[P:.*]] = onnx_ms.MatMulIntegerToFloat(%[[T]], %[[W]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, _) {{.*}} -> tensor<1x9x8x32xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[P]]) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x9x8x32xf32>) -> tensor<1x32x9x8xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @float_result_product(%a: tensor<1x32x9x8x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x32x9x8xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x00010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001020304050600010203040506000102030405060001" : tensor<32x32x1x1xi8>>} : () -> tensor<32x32x1x1x!quant.uniform<i8:f32, 0.5>>
  %y = onnx.Conv(%a, %w) : (tensor<1x32x9x8x!quant.uniform<u8:f32, 0.02:13>>, tensor<32x32x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x32x9x8xf32>
  func.return %y : tensor<1x32x9x8xf32>
}

// CHECK-LABEL: func.func @unmoved_float_is_faster(
// CHECK: onnx.Conv(%a
func.func @unmoved_float_is_faster(%a: tensor<1x1x9x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x7x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3, -4, -5, -6, -7, -8, -9] : tensor<2x1x3x3xi8>>} : () -> tensor<2x1x3x3x!quant.uniform<i8:f32, 0.5>>
  // expected-remark@+1 {{with this number of channels the convolution is as fast in float [choose-convolution-form: float-faster]}}
  %y = onnx.Conv(%a, %w) : (tensor<1x1x9x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x1x3x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x7x3xf32>
  func.return %y : tensor<1x2x7x3xf32>
}

// CHECK-LABEL: func.func @unmoved_grouped(
// CHECK: onnx.Conv(%a
func.func @unmoved_grouped(%a: tensor<1x2x9x5x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<1x2x9x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32, 0.5>>
  // expected-remark@+1 {{no integer kernel with a float result is faster on groups of channels [choose-convolution-form: float-result]}}
  %y = onnx.Conv(%a, %w) {group = 2 : i64} : (tensor<1x2x9x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x1x1x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<1x2x9x5xf32>
  func.return %y : tensor<1x2x9x5xf32>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// Faster by less than the costs are exact.

// CHECK-LABEL: func.func @unmoved_does_not_pay(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_does_not_pay(%x: tensor<1x8x16x16x!x>, %w: tensor<12x8x1x1x!w>) -> tensor<1x12x16x16x!x> {
  // expected-remark@+1 {{[choose-convolution-form: does-not-pay]}}
  %y = onnx.Conv(%x, %w) : (tensor<1x8x16x16x!x>, tensor<12x8x1x1x!w>) -> tensor<1x12x16x16x!x>
  func.return %y : tensor<1x12x16x16x!x>
}

// What is known of the sizes contradicts the weight, or is not enough.

// CHECK-LABEL: func.func @unmoved_shapes(
// CHECK-NOT: onnx.Reshape
// CHECK: func.return
func.func @unmoved_shapes(%x: tensor<1x1x64x64x!x>, %r: tensor<*x!x>, %l: tensor<1x1x64x!x>, %v: tensor<1x1x?x1x!w>, %e: tensor<1x0x64x64x!x>, %n: tensor<1x0x1x1x!w>) -> (tensor<1x1x60x60x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  // expected-remark@+1 {{the stated shape of the result is not the one that the op computes [choose-convolution-form: invalid-op]}}
  %1 = onnx.Conv(%x, %w) : (tensor<1x1x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x60x60x!x>
  // expected-remark@+1 {{[choose-convolution-form: unknown-shape]}}
  %2 = onnx.Conv(%r, %w) : (tensor<*x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  // expected-remark@+1 {{[choose-convolution-form: invalid-op]}}
  %3 = onnx.Conv(%x, %v) : (tensor<1x1x64x64x!x>, tensor<1x1x?x1x!w>) -> tensor<1x1x64x64x!x>
  // expected-remark@+1 {{[choose-convolution-form: invalid-op]}}
  %4 = onnx.Conv(%x, %w) {strides = array<i64: 1>} : (tensor<1x1x64x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  // expected-remark@+1 {{[choose-convolution-form: invalid-op]}}
  %5 = onnx.Conv(%l, %w) : (tensor<1x1x64x!x>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  // expected-remark@+1 {{[choose-convolution-form: invalid-op]}}
  %6 = onnx.Conv(%e, %n) : (tensor<1x0x64x64x!x>, tensor<1x0x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %1, %2, %3, %4, %5, %6 : tensor<1x1x60x60x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>, tensor<1x1x64x64x!x>
}

// CHECK-LABEL: func.func @unmoved_scales(
// CHECK: onnx.Conv(%x, %w, _) :
func.func @unmoved_scales(%x: tensor<1x2x64x64x!quant.uniform<u8:f32:1, {0.02,0.03}>>, %w: tensor<1x2x1x1x!w>) -> tensor<1x1x64x64x!x> {
  // expected-remark@+1 {{an activation has a scale for each channel [choose-convolution-form: activation-per-axis]}}
  %1 = onnx.Conv(%x, %w) : (tensor<1x2x64x64x!quant.uniform<u8:f32:1, {0.02,0.03}>>, tensor<1x2x1x1x!w>) -> tensor<1x1x64x64x!x>
  func.return %1 : tensor<1x1x64x64x!x>
}

// CHECK-LABEL: func.func @unmoved_types(
// CHECK: onnx.Conv(%x, %w, _) :
// CHECK: onnx.Conv(%h, %v, _) :
func.func @unmoved_types(%x: tensor<1x1x64x64x!quant.uniform<i8:f32, 0.02:13>>, %h: tensor<1x1x64x64x!quant.uniform<u8:f16, 0.02:13>>) -> (tensor<1x1x64x64x!x>, tensor<1x1x64x64xf16>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!w>
  %v = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1x1x1x1xi8>>} : () -> tensor<1x1x1x1x!quant.uniform<i8:f16, 0.01>>
  // expected-remark@+1 {{[choose-convolution-form: no-costs]}}
  %1 = onnx.Conv(%x, %w) : (tensor<1x1x64x64x!quant.uniform<i8:f32, 0.02:13>>, tensor<1x1x1x1x!w>) -> tensor<1x1x64x64x!x>
  // expected-remark@+1 {{[choose-convolution-form: expressed-type]}}
  %2 = onnx.Conv(%h, %v) : (tensor<1x1x64x64x!quant.uniform<u8:f16, 0.02:13>>, tensor<1x1x1x1x!quant.uniform<i8:f16, 0.01>>) -> tensor<1x1x64x64xf16>
  func.return %1, %2 : tensor<1x1x64x64x!x>, tensor<1x1x64x64xf16>
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.01>

// Of a product, the zeros beside each row are put around it in front of packing: 30 pixels and 2 zeros are 16 pairs, of
// which two outputs see 2. Of a quantized result they stay the kernel's own. A float kernel could not have its weight as a
// constant here, in front of a quantize, and takes longer.

// CHECK-LABEL: func.func @zeros_with_pixels(
// CHECK: %[[P:.*]] = onnx.Constant() {value = #onnx.tensor<[0, 0, 1, 0, 0, 0, 1, 0] : tensor<8xi64>>}
// CHECK-NEXT: onnx.Pad(%{{.*}}, %[[P]], _, _) : {{.*}} -> tensor<4x32x32x8x
// CHECK: onnx.Reshape({{.*}} -> tensor<4x32x16x16x
// CHECK: onnx_ms.MatMulIntegerToFloat({{.*}} (tensor<4x31x15x64xui8>, tensor<64x8xi8>,
// CHECK: func.return
func.func @zeros_with_pixels(%x: tensor<4x8x32x30x!x>) -> (tensor<4x4x31x30xf32>, tensor<4x4x31x30x!x>) {
  %w = onnx.Constant() {value = #onnx.tensor<[-3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0] : tensor<4x8x2x3xi8>>} : () -> tensor<4x8x2x3x!w>
  %y = onnx.Conv(%x, %w) {pads = array<i64: 0, 1, 0, 1>} : (tensor<4x8x32x30x!x>, tensor<4x8x2x3x!w>) -> tensor<4x4x31x30xf32>
  %z = quant.qcast %y : tensor<4x4x31x30xf32> to tensor<4x4x31x30x!x>
  func.return %y, %z : tensor<4x4x31x30xf32>, tensor<4x4x31x30x!x>
}

// CHECK-LABEL: func.func @zeros_of_the_kernel(
// CHECK-NOT: onnx.Pad
// CHECK: func.return
func.func @zeros_of_the_kernel(%x: tensor<4x8x32x30x!x>) -> tensor<4x4x31x30x!x> {
  %w = onnx.Constant() {value = #onnx.tensor<[-3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0, -2, 3, 1, -1, -3, 2, 0] : tensor<4x8x2x3xi8>>} : () -> tensor<4x8x2x3x!w>
  %y = onnx.Conv(%x, %w) {pads = array<i64: 0, 1, 0, 1>} : (tensor<4x8x32x30x!x>, tensor<4x8x2x3x!w>) -> tensor<4x4x31x30x!x>
  func.return %y : tensor<4x4x31x30x!x>
}
