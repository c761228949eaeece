// RUN: OPT %s -p fold-scales{below=true} | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-scales{below=true}

// Tanh takes no factors: its result is divided by the scales, the weight's scales are multiplied by them.
// CHECK-LABEL: func.func @below(
// CHECK: %[[T:.*]] = onnx.Tanh(%x)
// CHECK-NEXT: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 2.0] : tensor<2x1x1xf32>>}
// CHECK-NEXT: %[[D:.*]] = onnx.Div(%[[T]], %[[S]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[D]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 1.0:7>>
// CHECK: quant.scast %{{.*}} : tensor<1x2x5x3xi8> to tensor<1x2x5x3x!quant.uniform<i8:f32, 1.0:7>>
// CHECK: #onnx.tensor<[1, 2, 3, 4] : tensor<4x1x1x1xi8>>} : () -> tensor<4x1x1x1x!quant.uniform<i8:f32:0, {0.0625,0.0625,0.25,0.25}>>
// CHECK: onnx.Conv({{.*}}) {group = 2 : i64}
func.func @below(%x: tensor<1x2x5x3xf32>) -> tensor<1x4x5x3x!quant.uniform<i8:f32, 0.25>> {
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4x1x1x1xi8>>} : () -> tensor<4x1x1x1x!quant.uniform<i8:f32, 0.125>>
  %rv = quant.dcast %v : tensor<4x1x1x1x!quant.uniform<i8:f32, 0.125>> to tensor<4x1x1x1xf32>
  %t = onnx.Tanh(%x) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %t : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:7,2.0:7}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:7,2.0:7}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %rv) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x5x3xf32>
  %r = quant.qcast %y : tensor<1x4x5x3xf32> to tensor<1x4x5x3x!quant.uniform<i8:f32, 0.25>>
  func.return %r : tensor<1x4x5x3x!quant.uniform<i8:f32, 0.25>>
}

// Parts of the channels have their own scales; one quantize is divided for both.
// CHECK-LABEL: func.func @parts(
// CHECK-COUNT-1: onnx.Div(
// CHECK: onnx.Split(
// CHECK: {value = #onnx.tensor<[3.0] : tensor<1x1x1x1xf32>>}
// CHECK: onnx.Conv(
// CHECK: {value = #onnx.tensor<[12.0] : tensor<1x1x1x1xf32>>}
// CHECK: onnx.Conv(
func.func @parts(%x: tensor<1x2x5x3xf32>) -> (tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>, tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>) {
  %w = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<1x1x1x1xf32>>} : () -> tensor<1x1x1x1xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[1, 1] : tensor<2xi64>>} : () -> tensor<2xi64>
  %q = quant.qcast %x : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>
  %a, %b = onnx.Split(%q, %k) {axis = 1 : i64} : (tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>, tensor<2xi64>) -> (tensor<1x1x5x3x!quant.uniform<i8:f32:1, {0.5}>>, tensor<1x1x5x3x!quant.uniform<i8:f32:1, {2.0}>>)
  %da = quant.dcast %a : tensor<1x1x5x3x!quant.uniform<i8:f32:1, {0.5}>> to tensor<1x1x5x3xf32>
  %db = quant.dcast %b : tensor<1x1x5x3x!quant.uniform<i8:f32:1, {2.0}>> to tensor<1x1x5x3xf32>
  %ya = onnx.Conv(%da, %w) : (tensor<1x1x5x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x3xf32>
  %yb = onnx.Conv(%db, %w) : (tensor<1x1x5x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x5x3xf32>
  %ra = quant.qcast %ya : tensor<1x1x5x3xf32> to tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>
  %rb = quant.qcast %yb : tensor<1x1x5x3xf32> to tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>
  func.return %ra, %rb : tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>, tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>
}

// A product of integers would be folded with the division when the result is compiled again: the scales stay.
// CHECK-LABEL: func.func @affine_of_integers(
// CHECK-NOT: onnx.Div(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
// CHECK: quant.scast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32, 1.0>>
// CHECK: onnx.Conv(
func.func @affine_of_integers(%x: tensor<1x2x5x3x!quant.uniform<u8:f32, 0.1>>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %k = onnx.Constant() {value = #onnx.tensor<[3.0, 0.5] : tensor<2x1x1xf32>>} : () -> tensor<2x1x1xf32>
  %r = quant.dcast %x : tensor<1x2x5x3x!quant.uniform<u8:f32, 0.1>> to tensor<1x2x5x3xf32>
  %m = onnx.Mul(%r, %k) : (tensor<1x2x5x3xf32>, tensor<2x1x1xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %m : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %s = quant.qcast %y : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>>
  func.return %s : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>>
}

// Likewise of a product that is only moved: the division would become part of the weight.
// CHECK-LABEL: func.func @moved_product(
// CHECK-NOT: onnx.Div(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x2x3x!quant.uniform<i8:f32:1,
// CHECK: onnx.Conv(
func.func @moved_product(%x: tensor<1x2x3x1xf32>) -> tensor<1x2x2x3x!quant.uniform<i8:f32, 0.25>> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[3.0, 0.5] : tensor<1x2xf32>>} : () -> tensor<1x2xf32>
  %m = onnx.MatMul(%x, %v) : (tensor<1x2x3x1xf32>, tensor<1x2xf32>) -> tensor<1x2x3x2xf32>
  %t = onnx.Transpose(%m) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x3x2xf32>) -> tensor<1x2x2x3xf32>
  %q = quant.qcast %t : tensor<1x2x2x3xf32> to tensor<1x2x2x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>
  %d = quant.dcast %q : tensor<1x2x2x3x!quant.uniform<i8:f32:1, {0.5,2.0}>> to tensor<1x2x2x3xf32>
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x2x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x2x3xf32>
  %s = quant.qcast %y : tensor<1x2x2x3xf32> to tensor<1x2x2x3x!quant.uniform<i8:f32, 0.25>>
  func.return %s : tensor<1x2x2x3x!quant.uniform<i8:f32, 0.25>>
}

// CHECK-LABEL: func.func @unmoved_zero_points(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_zero_points(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %q = quant.qcast %x : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:3,2.0:5}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:3,2.0:5}>> to tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the channels have different zero points, and kernels take one [fold-scales: zero-point]}}
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %r = quant.qcast %y : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>>
  func.return %r : tensor<1x2x5x3x!quant.uniform<i8:f32, 0.25>>
}

// The convolution stays in float: nothing is gained.
// CHECK-LABEL: func.func @unmoved_not_quantized(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_not_quantized(%x: tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %q = quant.qcast %x : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>> to tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-scales: not-quantized]}}
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// A sum over channels takes no integers of different steps.
// CHECK-LABEL: func.func @unmoved_not_depthwise(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_not_depthwise(%x: tensor<1x2x5x3xf32>) -> tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<1x2x1x1xf32>>} : () -> tensor<1x2x1x1xf32>
  %q = quant.qcast %x : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5,2.0}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %w) : (tensor<1x2x5x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x5x3xf32>
  %r = quant.qcast %y : tensor<1x1x5x3xf32> to tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>
  func.return %r : tensor<1x1x5x3x!quant.uniform<i8:f32, 0.25>>
}
