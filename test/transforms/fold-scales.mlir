// RUN: OPT %s -p fold-scales | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-scales

// The first weight's scales and the bias are divided by 0.5 and 2, the second's multiplied, two outputs for each channel;
// stored integers stay.
// CHECK-LABEL: func.func @equal_zero_points(
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -5] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {1.0,0.125}>>
// CHECK-NEXT: %[[RW:.*]] = quant.dcast %[[W]]
// CHECK-NEXT: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[2.0, -1.0] : tensor<2xf32>>}
// CHECK-NEXT: %[[C:.*]] = onnx.Conv(%x, %[[RW]], %[[B]])
// CHECK-NEXT: %[[L:.*]] = onnx.LeakyRelu(%[[C]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[L]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 1.0:7>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4x1x1x1xi8>>} : () -> tensor<4x1x1x1x!quant.uniform<i8:f32:0, {0.0625,0.0625,0.25,0.25}>>
// CHECK-NEXT: %[[RV:.*]] = quant.dcast %[[V]]
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%[[D]], %[[RV]], _) {group = 2 : i64}
// CHECK-NEXT: func.return %[[Y]]
func.func @equal_zero_points(%x: tensor<1x1x5x3xf32>) -> tensor<1x4x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3, -5] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4] : tensor<4x1x1x1xi8>>} : () -> tensor<4x1x1x1x!quant.uniform<i8:f32, 0.125>>
  %rw = quant.dcast %w : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>> to tensor<2x1x1x1xf32>
  %rv = quant.dcast %v : tensor<4x1x1x1x!quant.uniform<i8:f32, 0.125>> to tensor<4x1x1x1xf32>
  %c = onnx.Conv(%x, %rw, %b) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x5x3xf32>
  %l = onnx.LeakyRelu(%c) {alpha = 0.25 : f32} : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %l : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.5:7,2.0:7}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.5:7,2.0:7}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %rv) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<4x1x1x1xf32>) -> tensor<1x4x5x3xf32>
  func.return %y : tensor<1x4x5x3xf32>
}

// Channel 1 had 122 steps above its zero: with the lowest integer as zero, the Min keeps them. Its bound is a row.
// CHECK-LABEL: func.func @ceiling(
// CHECK: %[[C:.*]] = onnx.Conv(%x,
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[C]])
// CHECK-NEXT: %[[M:.*]] = onnx.Constant() {value = #onnx.tensor<[255.0, 255.0, 255.0, 122.0, 122.0, 122.0] : tensor<1x2x1x3xf32>>}
// CHECK-NEXT: %[[L:.*]] = onnx.Min(%[[R]], %[[M]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[L]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32, 1.0:-128>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5, 4.0] : tensor<2x1x1x1xf32>>}
// CHECK-NEXT: %[[Y:.*]] = onnx.Conv(%[[D]], %[[V]], _) {group = 2 : i64}
// CHECK-NEXT: func.return %[[Y]]
func.func @ceiling(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3, -5] : tensor<2x1x1x1xi8>>} : () -> tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>>
  %v = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %rw = quant.dcast %w : tensor<2x1x1x1x!quant.uniform<i8:f32:0, {0.5,0.25}>> to tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %rw) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %r = onnx.Relu(%c) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %r : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %v) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_zero_points(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_zero_points(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the channels have different zero points, and may be below zero [fold-scales: zero-point]}}
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:-128,2.0:5}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_not_depthwise(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_not_depthwise(%x: tensor<1x1x5x3xf32>) -> tensor<1x1x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<1x2x1x1xf32>>} : () -> tensor<1x2x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the consumer sums over channels [fold-scales: unfoldable-factor]}}
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %v) : (tensor<1x2x5x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x1x5x3xf32>
  func.return %y : tensor<1x1x5x3xf32>
}

// A transposed convolution has its weight's channels elsewhere.

// CHECK-LABEL: func.func @unmoved_spread(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_spread(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{[fold-scales: unfoldable-factor]}}
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>> to tensor<1x2x5x3xf32>
  %y = onnx.ConvTranspose(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_second_consumer(%x: tensor<1x1x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-scales: second-consumer]}}
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y, %c : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_not_homogeneous(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_not_homogeneous(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %t = onnx.Tanh(%c) : (tensor<1x2x5x3xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{Tanh does not commute with a factor for each channel [fold-scales: unfoldable-factor]}}
  %q = quant.qcast %t : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %w) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y : tensor<1x2x5x3xf32>
}

// Integers of other scales would be other integers.

// CHECK-LABEL: func.func @unmoved_integers_used(
// CHECK: quant.qcast %{{.*}} to tensor<1x2x5x3x!quant.uniform<i8:f32:1,
func.func @unmoved_integers_used(%x: tensor<1x1x5x3xf32>) -> tensor<1x2x5x3xi8> {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the integers themselves are used [fold-scales: integers-used]}}
  %q = quant.qcast %c : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>>
  %y = quant.scast %q : tensor<1x2x5x3x!quant.uniform<i8:f32:1, {0.5:9,2.0:9}>> to tensor<1x2x5x3xi8>
  func.return %y : tensor<1x2x5x3xi8>
}

// No channel goes beyond 6: the clamp is a Relu, through which factors go. A range that is beyond both bounds of every
// channel is no clamp at all.
// CHECK-LABEL: func.func @implied_bound(
// CHECK: %[[C:.*]] = onnx.Conv(%x,
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[C]])
// CHECK-NEXT: quant.qcast %[[R]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 1.0:9>>
// CHECK: %[[E:.*]] = onnx.Conv(%x,
// CHECK-NEXT: quant.qcast %[[E]] : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32, 1.0:9>>
func.func @implied_bound(%x: tensor<1x1x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[3.0, -5.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %v = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2x1x1x1xf32>>} : () -> tensor<2x1x1x1xf32>
  %least = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %below = onnx.Constant() {value = #onnx.tensor<[-1.0] : tensor<f32>>} : () -> tensor<f32>
  %largest = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %k = onnx.Clip(%c, %least, %largest) : (tensor<1x2x5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  %q = quant.qcast %k : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>> to tensor<1x2x5x3xf32>
  %y = onnx.Conv(%d, %v) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %e = onnx.Conv(%x, %w) : (tensor<1x1x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  %l = onnx.Clip(%e, %below, %largest) : (tensor<1x2x5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  %p = quant.qcast %l : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>>
  %f = quant.dcast %p : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>> to tensor<1x2x5x3xf32>
  %z = onnx.Conv(%f, %v) {group = 2 : i64} : (tensor<1x2x5x3xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x5x3xf32>
  func.return %y, %z : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_bound_within(
// CHECK: onnx.Clip(
// CHECK: onnx.Clip(
func.func @unmoved_bound_within(%x: tensor<1x2x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %least = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %below = onnx.Constant() {value = #onnx.tensor<[-0.125] : tensor<f32>>} : () -> tensor<f32>
  %largest = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %k = onnx.Clip(%x, %least, %largest) : (tensor<1x2x5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{a channel exceeds the upper bound 6 of the clamp [fold-scales: value-rounds]}}
  %q = quant.qcast %k : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.5:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.5:9}>> to tensor<1x2x5x3xf32>
  %l = onnx.Clip(%x, %below, %largest) : (tensor<1x2x5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{a channel goes below the lower bound -0.125 of the clamp [fold-scales: value-rounds]}}
  %p = quant.qcast %l : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>>
  %e = quant.dcast %p : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>> to tensor<1x2x5x3xf32>
  func.return %d, %e : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}

// CHECK-LABEL: func.func @unmoved_other_shape(
// CHECK: onnx.Clip(
func.func @unmoved_other_shape(%x: tensor<?x3xf32>) -> tensor<2x3xf32> {
  %below = onnx.Constant() {value = #onnx.tensor<[-1.0] : tensor<f32>>} : () -> tensor<f32>
  %largest = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %k = onnx.Clip(%x, %below, %largest) : (tensor<?x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  // expected-remark@+1 {{the result of the clamp has known sizes that its operand does not have [fold-scales: invalid-op]}}
  %q = quant.qcast %k : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32:0, {0.02:9,0.01:9}>>
  %d = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32:0, {0.02:9,0.01:9}>> to tensor<2x3xf32>
  func.return %d : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_clamp_read(
// CHECK: onnx.Clip(
func.func @unmoved_clamp_read(%x: tensor<1x2x5x3xf32>) -> (tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>) {
  %least = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %largest = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %k = onnx.Clip(%x, %least, %largest) : (tensor<1x2x5x3xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x5x3xf32>
  // expected-remark@+1 {{the value in between has a second consumer [fold-scales: second-consumer]}}
  %q = quant.qcast %k : tensor<1x2x5x3xf32> to tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>>
  %d = quant.dcast %q : tensor<1x2x5x3x!quant.uniform<u8:f32:1, {0.02:9,0.01:9}>> to tensor<1x2x5x3xf32>
  func.return %d, %k : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>
}
