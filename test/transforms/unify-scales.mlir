// RUN: OPT %s -p unify-scales | FILECHECK %s
// RUN: DIAGNOSTICS -p unify-scales

!s = !quant.uniform<u8:f32, 0.05:7>
!t = !quant.uniform<u8:f32, 0.02:13>

// Only the operand that has another scale is requantized.

// CHECK-LABEL: func.func @max(
// CHECK-NEXT: %[[R:.*]] = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.05:7>> to tensor<2x3xf32>
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[M:.*]] = onnx.Max(%[[Q]], %b)
// CHECK-NEXT: func.return %[[M]]
func.func @max(%a: tensor<2x3x!s>, %b: tensor<2x3x!t>) -> tensor<2x3x!t> {
  %y = onnx.Max(%a, %b) : (tensor<2x3x!s>, tensor<2x3x!t>) -> tensor<2x3x!t>
  func.return %y : tensor<2x3x!t>
}

// Along the joined axis each part gets its part of the scales.

// CHECK-LABEL: func.func @concat(
// CHECK: %[[A:.*]] = quant.qcast %{{.*}} to tensor<2x1x!quant.uniform<i8:f32, 0.5:3>>
// CHECK: %[[B:.*]] = quant.qcast %{{.*}} to tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>
// CHECK-NEXT: onnx.Concat(%[[A]], %[[B]])
func.func @concat(%a: tensor<2x1x!s>, %b: tensor<2x2x!s>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  %y = onnx.Concat(%a, %b) {axis = 1 : i64} : (tensor<2x1x!s>, tensor<2x2x!s>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}

// Nothing to unify: one scale already.

// CHECK-LABEL: func.func @unmoved_one_scale(
// CHECK-NEXT: onnx.Min(%a, %b)
func.func @unmoved_one_scale(%a: tensor<2x3x!t>, %b: tensor<2x3x!t>) -> tensor<2x3x!t> {
  %y = onnx.Min(%a, %b) : (tensor<2x3x!t>, tensor<2x3x!t>) -> tensor<2x3x!t>
  func.return %y : tensor<2x3x!t>
}

// Max broadcasts, so scales along an axis of the result say nothing of the operands.

// CHECK-LABEL: func.func @unmoved_scales_along_an_axis(
// CHECK-NEXT: onnx.Max(%a, %b)
func.func @unmoved_scales_along_an_axis(%a: tensor<2x3x!s>, %b: tensor<2x3x!t>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> {
  // expected-remark@+1 {{[unify-scales: scales-along-axis]}}
  %y = onnx.Max(%a, %b) : (tensor<2x3x!s>, tensor<2x3x!t>) -> tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
  func.return %y : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
}
