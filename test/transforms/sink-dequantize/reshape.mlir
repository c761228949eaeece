// Reshapes that split or merge the axis along which there are scales: each element keeps its own.
// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Each scale is repeated for the elements behind it.

// CHECK-LABEL: func.func @merged_in_front(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<6x!quant.uniform<i8:f32:0, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @merged_in_front(%q: tensor<3x2x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0}>>) -> tensor<6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[6] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<3x2x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0}>> to tensor<3x2xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<3x2xf32>, tensor<1xi64>) -> tensor<6xf32>
  func.return %y : tensor<6xf32>
}

// The scales are repeated as often as the axes in front have elements.

// CHECK-LABEL: func.func @merged_behind(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<6x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,1.0,2.0:3,4.0}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @merged_behind(%q: tensor<2x3x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>) -> tensor<6x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[6, 4] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x3x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>> to tensor<2x3x4xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  func.return %y : tensor<6x4xf32>
}

// Both.

// CHECK-LABEL: func.func @merged_between(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<5x8x!quant.uniform<i8:f32:1, {1.0,1.0,4.0,4.0,1.0,1.0,4.0,4.0}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @merged_between(%q: tensor<5x2x2x2x!quant.uniform<i8:f32:2, {1.0,4.0}>>) -> tensor<5x8xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[5, 8] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<5x2x2x2x!quant.uniform<i8:f32:2, {1.0,4.0}>> to tensor<5x2x2x2xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<5x2x2x2xf32>, tensor<2xi64>) -> tensor<5x8xf32>
  func.return %y : tensor<5x8xf32>
}

// What is equal along the new axis behind runs along the one in front.

// CHECK-LABEL: func.func @split_in_groups(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<?x3x2x4x!quant.uniform<i8:f32:1, {1.0,2.0:3,4.0}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @split_in_groups(%q: tensor<?x6x4x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>>) -> tensor<?x3x2x4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[0, 3, 2, 4] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<?x6x4x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3,4.0,4.0}>> to tensor<?x6x4xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<?x6x4xf32>, tensor<4xi64>) -> tensor<?x3x2x4xf32>
  func.return %y : tensor<?x3x2x4xf32>
}

// What is equal along the new axis in front runs along the one behind.

// CHECK-LABEL: func.func @split_in_periods(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<3x2x!quant.uniform<i8:f32:1, {1.0,2.0:3}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @split_in_periods(%q: tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3,1.0,2.0:3}>>) -> tensor<3x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3,1.0,2.0:3}>> to tensor<6xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<6xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Groups of channels: the axis is split, and the groups are merged with the batch.

// CHECK-LABEL: func.func @split_and_merged(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<4x6x!quant.uniform<i8:f32:0, {1.0,2.0:3,1.0,2.0:3}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @split_and_merged(%q: tensor<2x4x3x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3}>>) -> tensor<4x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[4, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<2x4x3x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3}>> to tensor<2x4x3xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<2x4x3xf32>, tensor<2xi64>) -> tensor<4x6xf32>
  func.return %y : tensor<4x6xf32>
}

// The sizes in front say how an axis is split, if those behind are unknown.

// CHECK-LABEL: func.func @unknown_behind(
// CHECK: %[[M:.*]] = onnx.Reshape(%q, %{{.*}}) {{.*}}-> tensor<2x2x2x?x!quant.uniform<i8:f32:1, {1.0,2.0:3}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @unknown_behind(%q: tensor<2x4x?x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3}>>) -> tensor<2x2x2x?xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2, 2, -1] : tensor<4xi64>>} : () -> tensor<4xi64>
  %r = quant.dcast %q : tensor<2x4x?x!quant.uniform<i8:f32:1, {1.0,1.0,2.0:3,2.0:3}>> to tensor<2x4x?xf32>
  %y = onnx.Reshape(%r, %c) : (tensor<2x4x?xf32>, tensor<4xi64>) -> tensor<2x2x2x?xf32>
  func.return %y : tensor<2x2x2x?xf32>
}

// No one axis has the scales.

// CHECK-LABEL: func.func @unmoved_scales_along_axis(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: onnx.Reshape(%[[R]]
func.func @unmoved_scales_along_axis(%q: tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,4.0,2.0:3,1.0}>>) -> tensor<3x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<6x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0,4.0,2.0:3,1.0}>> to tensor<6xf32>
  // expected-remark@+1 {{the scales run along an axis that this op changes [sink-dequantize: scales-along-axis]}}
  %y = onnx.Reshape(%r, %c) : (tensor<6xf32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A row of the result begins within a row of the operand.

// CHECK-LABEL: func.func @unmoved_not_whole(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: onnx.Reshape(%[[R]]
func.func @unmoved_not_whole(%q: tensor<3x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0}>>) -> tensor<2x6xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 6] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<3x4x!quant.uniform<i8:f32:0, {1.0,2.0:3,4.0}>> to tensor<3x4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Reshape(%r, %c) : (tensor<3x4xf32>, tensor<2xi64>) -> tensor<2x6xf32>
  func.return %y : tensor<2x6xf32>
}

// The zero points differ where the scales do not.

// CHECK-LABEL: func.func @unmoved_zero_point(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: onnx.Reshape(%[[R]]
func.func @unmoved_zero_point(%q: tensor<4x!quant.uniform<i8:f32:0, {0.5:3,0.5:4,0.25,0.25}>>) -> tensor<2x2xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %r = quant.dcast %q : tensor<4x!quant.uniform<i8:f32:0, {0.5:3,0.5:4,0.25,0.25}>> to tensor<4xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y = onnx.Reshape(%r, %c) : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x2xf32>
  func.return %y : tensor<2x2xf32>
}

// Nobody knows how often they would be repeated.

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: onnx.Reshape(%[[R]]
func.func @unmoved_unknown_rank(%q: tensor<2x?x!quant.uniform<i8:f32:0, {1.0,2.0:3}>>) -> tensor<?xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[-1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x?x!quant.uniform<i8:f32:0, {1.0,2.0:3}>> to tensor<2x?xf32>
  // expected-remark@+1 {{[sink-dequantize: unknown-shape]}}
  %y = onnx.Reshape(%r, %c) : (tensor<2x?xf32>, tensor<1xi64>) -> tensor<?xf32>
  func.return %y : tensor<?xf32>
}

// More scales than a file should hold.

// CHECK-LABEL: func.func @unmoved_repeated_scales(
// CHECK: %[[R:.*]] = quant.dcast %q
// CHECK: onnx.Reshape(%[[R]]
func.func @unmoved_repeated_scales(%q: tensor<2x4096x!quant.uniform<i8:f32:0, {1.0,2.0:3}>>) -> tensor<8192xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[8192] : tensor<1xi64>>} : () -> tensor<1xi64>
  %r = quant.dcast %q : tensor<2x4096x!quant.uniform<i8:f32:0, {1.0,2.0:3}>> to tensor<2x4096xf32>
  // expected-remark@+1 {{the merged axis would need more than 4096 scales, most of them repeated [sink-dequantize: too-large]}}
  %y = onnx.Reshape(%r, %c) : (tensor<2x4096xf32>, tensor<1xi64>) -> tensor<8192xf32>
  func.return %y : tensor<8192xf32>
}
