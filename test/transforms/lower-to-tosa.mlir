// RUN: OPT %s -p lower-to-tosa --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-tosa

!x = !quant.uniform<i8:f32, 0.05:3>
!y = !quant.uniform<i8:f32, 0.07:-9>
!w = !quant.uniform<i8:f32, 0.02>
!v = !quant.uniform<i8:f32, 0.0198>
!e = !quant.uniform<i8:f32, 0.0625:3>
!f = !quant.uniform<i8:f32, 0.125:-9>
!g = !quant.uniform<i8:f32, 0.03125>
!b = !quant.uniform<i32:f32, 0.001>
!u = !quant.uniform<u8:f32, 0.05:131>
!h = !quant.uniform<i16:f32, 0.01:5>

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// A product with a constant matrix is a 1x1 convolution, which adds the bias, and one rescale.

// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi8>) -> tensor<2x2xi8>
// CHECK: %[[P:.*]] = "tosa.reshape"(%[[X]], %{{.*}}) : (tensor<2x3xi8>, !tosa.shape<4>) -> tensor<1x1x2x3xi8>
// CHECK: %[[S:.*]] = "tosa.conv2d"(%[[P]], {{.*}} -> tensor<1x1x2x2xi32>
// CHECK: "tosa.rescale"(%[[S]], {{.*}}per_channel = false{{.*}} -> tensor<1x1x2x2xi8>
func.func @product(%x: tensor<2x3x!x>) -> tensor<2x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[100, -200] : tensor<2xi32>>} : () -> tensor<2x!b>
  %y = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!w>, tensor<2x!b>) -> tensor<2x2x!y>
  func.return %y : tensor<2x2x!y>
}

// The nearest multiplier of the ratio, 1943779456, would have sums on the other side of a tie than float32.

// CHECK-LABEL: func.func @near_tie(
// CHECK: %[[S:.*]] = "tosa.conv2d"
// CHECK: %[[M:.*]] = "tosa.const"() <{values = dense<1943779485> : tensor<1xi32>}>
// CHECK: "tosa.rescale"(%[[S]], %[[M]],
func.func @near_tie(%x: tensor<2x3x!x>) -> tensor<2x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[101, -82, 93, 114, 105, -96] : tensor<3x2xi8>>} : () -> tensor<3x2x!v>
  %y = onnx.MatMul(%x, %w) : (tensor<2x3x!x>, tensor<3x2x!v>) -> tensor<2x2x!y>
  func.return %y : tensor<2x2x!y>
}

// Scales of powers of two: every 32nd sum from 32 on is a tie, and ties go up and down in turn. So sums are rounded
// twice, the first time to small steps: where the second round would give an odd result, it gets one of them less.

// CHECK-LABEL: func.func @ties_to_even(
// CHECK: %[[S:.*]] = "tosa.conv2d"
// CHECK: %[[F:.*]] = "tosa.rescale"(%[[S]], {{.*}} -> tensor<1x1x2x2xi32>
// CHECK: %[[U:.*]] = "tosa.rescale"(%[[F]], {{.*}} -> tensor<1x1x2x2xi8>
// CHECK: %[[O:.*]] = "tosa.table"(%[[U]], {{.*}} -> tensor<1x1x2x2xi8>
// CHECK: %[[W:.*]] = "tosa.rescale"(%[[O]], {{.*}} -> tensor<1x1x2x2xi32>
// CHECK: %[[L:.*]] = "tosa.sub"(%[[F]], %[[W]])
// CHECK: "tosa.rescale"(%[[L]], {{.*}} -> tensor<1x1x2x2xi8>
func.func @ties_to_even(%x: tensor<2x3x!e>) -> tensor<2x2x!f> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!g>
  %y = onnx.MatMul(%x, %w) : (tensor<2x3x!e>, tensor<3x2x!g>) -> tensor<2x2x!f>
  func.return %y : tensor<2x2x!f>
}

// From steps of 0.0625 to such of 0.125, every second byte is a tie: by a table they go to even, as in float32. From
// steps of 0.05 none is.

// CHECK-LABEL: func.func @halves(
// CHECK: %[[A:.*]] = "tosa.table"(%{{.*}}, %{{.*}}) : (tensor<2x3xi8>, tensor<256xi8>) -> tensor<2x3xi8>
// CHECK: %[[B:.*]] = "tosa.rescale"({{.*}} -> tensor<1x3xi8>
// CHECK: "tosa.concat"(%[[A]], %[[B]])
func.func @halves(%x: tensor<2x3x!e>, %z: tensor<1x3x!x>) -> tensor<3x3x!f> {
  %y = onnx.Concat(%x, %z) {axis = 0 : i64} : (tensor<2x3x!e>, tensor<1x3x!x>) -> tensor<3x3x!f>
  func.return %y : tensor<3x3x!f>
}

// The windows leave a column at the end, which is cut off.

// CHECK-LABEL: func.func @convolution(
// CHECK: %[[T:.*]] = "tosa.transpose"
// CHECK: %[[C:.*]] = "tosa.slice"(%[[T]], {{.*}} -> tensor<1x5x5x2xi8>
// CHECK: "tosa.conv2d"(%[[C]], {{.*}} -> tensor<1x3x3x1xi32>
func.func @convolution(%x: tensor<1x2x5x6x!x>) -> tensor<1x1x3x3x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<1x2x1x1xi8>>} : () -> tensor<1x2x1x1x!w>
  %y = onnx.Conv(%x, %w) {strides = array<i64: 2, 2>} : (tensor<1x2x5x6x!x>, tensor<1x2x1x1x!w>) -> tensor<1x1x3x3x!y>
  func.return %y : tensor<1x1x3x3x!y>
}

// Both operands in steps of the result's that are far smaller, then one rescale.

// CHECK-LABEL: func.func @sum(
// CHECK-COUNT-2: "tosa.rescale"{{.*}} -> tensor<{{.*}}xi32>
// CHECK: "tosa.add"{{.*}} -> tensor<2x3xi32>
// CHECK: "tosa.rescale"{{.*}} -> tensor<2x3xi8>
func.func @sum(%x: tensor<2x3x!x>, %z: tensor<1x3x!w>) -> tensor<2x3x!y> {
  %y = onnx.Add(%x, %z) : (tensor<2x3x!x>, tensor<1x3x!w>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// Bytes that come in unsigned are read so by a rescale.

// CHECK-LABEL: func.func @unsigned(
// CHECK: "tosa.rescale"{{.*}}input_unsigned = true
// CHECK: "tosa.clamp"{{.*}}min_val = 3 : i8, max_val = 127 : i8
func.func @unsigned(%q: tensor<2x3xui8>) -> tensor<2x3x!x> {
  %u = quant.scast %q : tensor<2x3xui8> to tensor<2x3x!u>
  %r = quant.dcast %u : tensor<2x3x!u> to tensor<2x3xf32>
  %x = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!x>
  %y = onnx.Relu(%x) : (tensor<2x3x!x>) -> tensor<2x3x!x>
  func.return %y : tensor<2x3x!x>
}

// CHECK-LABEL: func.func @mean(
// CHECK: "tosa.depthwise_conv2d"{{.*}} -> tensor<1x1x1x2xi32>
// CHECK: "tosa.rescale"
func.func @mean(%x: tensor<1x2x3x5x!x>) -> tensor<1x2x1x1x!y> {
  %y = onnx.GlobalAveragePool(%x) : (tensor<1x2x3x5x!x>) -> tensor<1x2x1x1x!y>
  func.return %y : tensor<1x2x1x1x!y>
}

// exp by tables, one over the sum by Newton's steps: no division.

// CHECK-LABEL: func.func @softmax(
// CHECK: "tosa.reduce_max"
// CHECK: "tosa.table"
// CHECK: "tosa.reduce_sum"
// CHECK-NOT: "tosa.intdiv"
// CHECK: func.return
func.func @softmax(%x: tensor<2x5x!x>) -> tensor<2x5x!w> {
  %y = onnx.Softmax(%x) : (tensor<2x5x!x>) -> tensor<2x5x!w>
  func.return %y : tensor<2x5x!w>
}

// CHECK-LABEL: func.func @own_results(
// CHECK-SAME: [[X:%[0-9a-z]+]]: tensor<2x3xi8>
// CHECK: [[A:%[0-9]+]] = "tosa.clamp"([[X]])
// CHECK: [[B:%[0-9]+]] = "tosa.identity"([[X]]) : (tensor<2x3xi8>) -> tensor<2x3xi8>
// CHECK: [[C:%[0-9]+]] = "tosa.identity"([[A]])
// CHECK: func.return [[B]], [[A]], [[C]]
func.func @own_results(%x: tensor<2x3x!x>) -> (tensor<2x3x!x>, tensor<2x3x!x>, tensor<2x3x!x>) {
  %y = onnx.Relu(%x) : (tensor<2x3x!x>) -> tensor<2x3x!x>
  func.return %x, %y, %y : tensor<2x3x!x>, tensor<2x3x!x>, tensor<2x3x!x>
}

// The row of three has a divisor in common: 3 d is exact, its squares are summed, and 1 / sqrt begins with tables.
// CHECK-LABEL: func.func @layer_norm(
// CHECK: [[D:%[0-9]+]] = "tosa.sub"({{.*}} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi32>
// CHECK: "tosa.mul"([[D]], [[D]],
// CHECK: "tosa.reduce_sum"
// CHECK: [[H:%[0-9]+]] = "tosa.arithmetic_right_shift"
// CHECK: "tosa.table"
// CHECK: "tosa.logical_left_shift"([[D]], [[H]])
// CHECK: "tosa.rescale"
// CHECK-NOT: onnx.LayerNormalization
func.func @layer_norm(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %g = onnx.Constant() {value = #onnx.tensor<[1.0, 0.5, -2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  %y = onnx.LayerNormalization(%x, %g) : (tensor<2x3x!x>, tensor<3xf32>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// Between convolutions, which have channels last, a mean over pixels has them last too.

// CHECK-LABEL: func.func @mean_between(
// CHECK: "tosa.depthwise_conv2d"
// CHECK-NOT: "tosa.reshape"
// CHECK-NOT: "tosa.transpose"
// CHECK: "tosa.conv2d"
func.func @mean_between(%x: tensor<1x2x3x4x!x>) -> tensor<1x2x1x1x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!w>
  %a = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>} : () -> tensor<2xi64>
  %c = onnx.Conv(%x, %w) : (tensor<1x2x3x4x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x3x4x!x>
  %m = onnx.ReduceMean(%c, %a) : (tensor<1x2x3x4x!x>, tensor<2xi64>) -> tensor<1x2x1x1x!x>
  %y = onnx.Conv(%m, %w) : (tensor<1x2x1x1x!x>, tensor<2x2x1x1x!w>) -> tensor<1x2x1x1x!y>
  func.return %y : tensor<1x2x1x1x!y>
}

// Nearest pixels, ties down: one op, at the offset that ties need.

// CHECK-LABEL: func.func @nearest(
// CHECK: %[[O:.*]] = "tosa.const_shape"() <{values = dense<[4, -4]> : tensor<2xindex>}>
// CHECK: "tosa.resize"(%{{.*}}, %{{.*}}, %[[O]], %{{.*}}) <{mode = #tosa.resize_mode<NEAREST_NEIGHBOR>}>{{.*}} -> tensor<1x3x7x2xi8>
func.func @nearest(%x: tensor<1x2x8x4x!x>) -> tensor<1x2x3x7x!x> {
  %k = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 7] : tensor<4xi64>>} : () -> tensor<4xi64>
  %y = onnx.Resize(%x, _, _, %k) : (tensor<1x2x8x4x!x>, tensor<4xi64>) -> tensor<1x2x3x7x!x>
  func.return %y : tensor<1x2x3x7x!x>
}

// CHECK-LABEL: func.func @unmoved_float_value(
// CHECK: onnx.Sin
func.func @unmoved_float_value(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{the integer profile has no float tensors; quantize every operand and result [lower-to-tosa: float-operand]}}
  %y = onnx.Add(%x, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{Sin has no form in TOSA's integer profile [lower-to-tosa: no-form]}}
  %s = onnx.Sin(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %s : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_float_inside(
// CHECK: onnx.Sin
func.func @unmoved_float_inside(%x: tensor<2x3x!x>) -> tensor<2x3x!x> {
  // expected-remark@+1 {{this op returns a float, and the integer profile has no floats; quantize what is computed in float between these integers [lower-to-tosa: float-interface]}}
  %r = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  // expected-remark@+1 {{Sin has no form in TOSA's integer profile [lower-to-tosa: no-form]}}
  %s = onnx.Sin(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{this op quantizes a float, and the integer profile has no floats; quantize what is computed in float between these integers [lower-to-tosa: float-interface]}}
  %y = quant.qcast %s : tensor<2x3xf32> to tensor<2x3x!x>
  func.return %y : tensor<2x3x!x>
}

// CHECK-LABEL: func.func @unmoved_float_ends(
// CHECK: quant.qcast
func.func @unmoved_float_ends(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-remark@+1 {{this op quantizes a float, and the integer profile has no floats; --integer-io lets the graph take and give integers [lower-to-tosa: float-interface]}}
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  // expected-remark@+1 {{this op returns a float, and the integer profile has no floats; --integer-io lets the graph take and give integers [lower-to-tosa: float-interface]}}
  %y = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_storage_type(
// CHECK: onnx.Add
func.func @unmoved_storage_type(%x: tensor<2x3x!h>, %z: tensor<2x3x!h>) -> tensor<2x3x!h> {
  // expected-remark@+1 {{the integer profile computes with i8, not with i16 [lower-to-tosa: storage-type]}}
  %y = onnx.Add(%x, %z) : (tensor<2x3x!h>, tensor<2x3x!h>) -> tensor<2x3x!h>
  func.return %y : tensor<2x3x!h>
}

// CHECK-LABEL: func.func @unmoved_other_type(
// CHECK: onnx.Reshape
func.func @unmoved_other_type(%x: tensor<2x3x!x>) -> tensor<6x!y> {
  %s = onnx.Constant() {value = #onnx.tensor<[6] : tensor<1xi64>>} : () -> tensor<1xi64>
  // expected-remark@+1 {{the quantized types of result and operand differ; requantize it [lower-to-tosa: other-type]}}
  %y = onnx.Reshape(%x, %s) : (tensor<2x3x!x>, tensor<1xi64>) -> tensor<6x!y>
  func.return %y : tensor<6x!y>
}

// CHECK-LABEL: func.func @unmoved_indices_used(
// CHECK: onnx.MaxPool
func.func @unmoved_indices_used(%x: tensor<1x2x4x6x!x>) -> (tensor<1x2x2x3x!x>, tensor<1x2x2x3xi64>) {
  // expected-remark@+1 {{MaxPool's indices are read; leave them out of the graph's outputs [lower-to-tosa: equal-elements]}}
  %y, %i = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x6x!x>) -> (tensor<1x2x2x3x!x>, tensor<1x2x2x3xi64>)
  func.return %y, %i : tensor<1x2x2x3x!x>, tensor<1x2x2x3xi64>
}

// CHECK-LABEL: func.func @unmoved_activation_per_axis(
// CHECK: onnx.Relu
func.func @unmoved_activation_per_axis(%x: tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{an activation has a scale for each channel [lower-to-tosa: activation-per-axis]}}
  %y = onnx.Relu(%x) : (tensor<2x3x!quant.uniform<i8:f32:1, {0.5,0.25,0.125}>>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_computed_bound(
// CHECK: onnx.Clip
func.func @unmoved_computed_bound(%x: tensor<2x3x!x>, %l: tensor<f32>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{a bound of Clip is computed; give Clip constant bounds [lower-to-tosa: computed-parameter]}}
  %y = onnx.Clip(%x, %l) : (tensor<2x3x!x>, tensor<f32>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_computed_bias(
// CHECK: onnx.Gemm
func.func @unmoved_computed_bias(%x: tensor<2x3x!x>, %b: tensor<2xf32>) -> tensor<2x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  // expected-remark@+1 {{the bias is computed at run time [lower-to-tosa: computed-parameter]}}
  %y = onnx.Gemm(%x, %w, %b) : (tensor<2x3x!x>, tensor<3x2x!w>, tensor<2xf32>) -> tensor<2x2x!y>
  func.return %y : tensor<2x2x!y>
}

// CHECK-LABEL: func.func @unmoved_gemm_form(
// CHECK: onnx.Gemm
func.func @unmoved_gemm_form(%x: tensor<2x3x!x>) -> tensor<2x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!w>
  // expected-remark@+1 {{Gemm transposes its activation, or scales its product or its bias [lower-to-tosa: product-form]}}
  %y = onnx.Gemm(%x, %w) {alpha = 2.0 : f32} : (tensor<2x3x!x>, tensor<3x2x!w>) -> tensor<2x2x!y>
  func.return %y : tensor<2x2x!y>
}

// CHECK-LABEL: func.func @unmoved_batch_broadcast(
// CHECK: onnx.MatMul
func.func @unmoved_batch_broadcast(%x: tensor<3x5x!x>, %z: tensor<2x5x4x!w>) -> tensor<2x3x4x!y> {
  // expected-remark@+1 {{the batch axes of the operands are broadcast [lower-to-tosa: product-form]}}
  %y = onnx.MatMul(%x, %z) : (tensor<3x5x!x>, tensor<2x5x4x!w>) -> tensor<2x3x4x!y>
  func.return %y : tensor<2x3x4x!y>
}

// CHECK-LABEL: func.func @unmoved_dilated_pool(
// CHECK: onnx.MaxPool
func.func @unmoved_dilated_pool(%x: tensor<1x2x5x6x!x>) -> tensor<1x2x3x4x!x> {
  // expected-remark@+1 {{TOSA has no dilated pools [lower-to-tosa: window-form]}}
  %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 2>} : (tensor<1x2x5x6x!x>) -> tensor<1x2x3x4x!x>
  func.return %y : tensor<1x2x3x4x!x>
}

// CHECK-LABEL: func.func @unmoved_pad_mode(
// CHECK: onnx.Pad
func.func @unmoved_pad_mode(%x: tensor<2x3x!x>) -> tensor<2x3x!x> {
  %p = onnx.Constant() {value = #onnx.tensor<[0, 1, 0, -1] : tensor<4xi64>>} : () -> tensor<4xi64>
  // expected-remark@+1 {{Pad has the mode reflect, or also removes elements [lower-to-tosa: pad-form]}}
  %y = onnx.Pad(%x, %p) {mode = "reflect"} : (tensor<2x3x!x>, tensor<4xi64>) -> tensor<2x3x!x>
  func.return %y : tensor<2x3x!x>
}

// CHECK-LABEL: func.func @unmoved_statistics_used(
// CHECK: onnx.LayerNormalization
func.func @unmoved_statistics_used(%x: tensor<2x3x!x>) -> (tensor<2x3x!y>, tensor<2x1xf32>) {
  %g = onnx.Constant() {value = #onnx.tensor<[1.0, 0.5, -2.0] : tensor<3xf32>>} : () -> tensor<3xf32>
  // expected-remark@+1 {{the mean or the deviation is used [lower-to-tosa: training-mode]}}
  %y, %m = onnx.LayerNormalization(%x, %g) : (tensor<2x3x!x>, tensor<3xf32>) -> (tensor<2x3x!y>, tensor<2x1xf32>)
  func.return %y, %m : tensor<2x3x!y>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_parameter(
// CHECK: onnx.Where
func.func @unmoved_computed_parameter(%c: tensor<2x3xi1>, %x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  // expected-remark@+1 {{the condition is computed at run time [lower-to-tosa: computed-parameter]}}
  %y = onnx.Where(%c, %x, %x) : (tensor<2x3xi1>, tensor<2x3x!x>, tensor<2x3x!x>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_resize_mode(
// CHECK: onnx.Resize
func.func @unmoved_resize_mode(%x: tensor<1x2x3x4x!x>) -> tensor<1x2x6x8x!x> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
  // expected-remark@+1 {{TOSA has no such interpolation, or not for these sizes [lower-to-tosa: interpolates]}}
  %y = onnx.Resize(%x, _, %s) {mode = "cubic"} : (tensor<1x2x3x4x!x>, tensor<4xf32>) -> tensor<1x2x6x8x!x>
  func.return %y : tensor<1x2x6x8x!x>
}

// CHECK-LABEL: func.func @unmoved_dynamic_shape(
// CHECK: onnx.Relu
func.func @unmoved_dynamic_shape(%x: tensor<?x3x!x>) -> tensor<?x3x!x> {
  // expected-remark@+1 {{a size is not known; state it: --batch N, or --sizes NAME=N for others [lower-to-tosa: open-size]}}
  %y = onnx.Relu(%x) : (tensor<?x3x!x>) -> tensor<?x3x!x>
  func.return %y : tensor<?x3x!x>
}
}
