// RUN: OPT %s -p lower-to-table --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-table

!x = !quant.uniform<u8:f32, 0.05:128>
!s = !quant.uniform<i8:f32, 0.05:3>
!y = !quant.uniform<u8:f32, 0.03>
!f = !quant.uniform<u8:f32, 0.015:30>

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// softplus(-6.4) = 0.0017 is stored as 0, softplus(-6.35) too.

// CHECK-LABEL: func.func @typed(
// CHECK: %[[X:.*]] = quant.scast %x
// CHECK-NEXT: %[[T:.*]] = onnx.Constant() {value = #onnx.tensor<"0x0000000000{{.*}}"{{.*}} -> tensor<256x!quant.uniform<u8:f32, 0.03>>
// CHECK-NEXT: %[[I:.*]] = onnx.Cast(%[[X]]) {to = 6 : i64} : (tensor<2x3xui8>) -> tensor<2x3xi32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Gather(%[[T]], %[[I]])
// CHECK-NEXT: func.return %[[Y]]
func.func @typed(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %y = onnx.Softplus(%x) : (tensor<2x3x!x>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// A quantized constant in the chain counts as the number that it stands for.

// CHECK-LABEL: func.func @quantized_constant(
// CHECK-NOT: onnx.Mul
// CHECK: onnx.Gather
// CHECK-NEXT: func.return
func.func @quantized_constant(%x: tensor<2x3x!s>) -> tensor<2x3x!y> {
  %k = onnx.Constant() {value = #onnx.tensor<[23] : tensor<1xi8>>} : () -> tensor<1x!s>
  %a = onnx.Softplus(%x) : (tensor<2x3x!s>) -> tensor<2x3x!y>
  %c = onnx.Mul(%a, %k) : (tensor<2x3x!y>, tensor<1x!s>) -> tensor<2x3x!y>
  func.return %c : tensor<2x3x!y>
}

// x * tanh(softplus(x)) in one table: the source is one tensor, on two ways.

// CHECK-LABEL: func.func @two_ways(
// CHECK-NOT: onnx.Tanh
// CHECK: onnx.Gather
// CHECK-NEXT: func.return
func.func @two_ways(%x: tensor<2x3x!s>) -> tensor<2x3x!f> {
  %r = quant.dcast %x : tensor<2x3x!s> to tensor<2x3xf32>
  %a = onnx.Softplus(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Tanh(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Mul(%r, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %c : tensor<2x3xf32> to tensor<2x3x!f>
  func.return %y : tensor<2x3x!f>
}

// What the 8 bits are rounded from is a sum of two tensors: the table is of what comes behind them.

// CHECK-LABEL: func.func @behind_a_sum(
// CHECK: %[[A:.*]] = onnx.Add(%x, %b)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[A]]
// CHECK-NEXT: %[[S:.*]] = quant.scast %[[Q]]
// CHECK-NOT: onnx.Tanh
// CHECK: %[[I:.*]] = onnx.Cast(%[[S]])
// CHECK-NEXT: onnx.Gather(%{{.*}}, %[[I]])
func.func @behind_a_sum(%x: tensor<2x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3x!f> {
  %a = onnx.Add(%x, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %a : tensor<2x3xf32> to tensor<2x3x!x>
  %r = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Softplus(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = onnx.Tanh(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %t : tensor<2x3xf32> to tensor<2x3x!f>
  func.return %y : tensor<2x3x!f>
}

// A scalar that is dequantized, in 16 bits here, is as constant as a float, of another shape too: 300 steps of 0.001.

// CHECK-LABEL: func.func @dequantized_scalar(
// CHECK: %[[I:.*]] = onnx.Cast(%{{.*}})
// CHECK-NEXT: onnx.Gather(%{{.*}}, %[[I]])
// CHECK-NOT: onnx.Sinh
// CHECK: func.return
func.func @dequantized_scalar(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %k = onnx.Constant() {value = #onnx.tensor<[300] : tensor<1xi16>>} : () -> tensor<1x!quant.uniform<i16:f32, 0.001>>
  %h = quant.dcast %k : tensor<1x!quant.uniform<i16:f32, 0.001>> to tensor<1xf32>
  %r = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %a = onnx.Sinh(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Tanh(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.Mul(%b, %h) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %c : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// What is stored in between is rounded in the table too.

// CHECK-LABEL: func.func @through_eight_bits(
// CHECK: onnx.Gather
// CHECK-NOT: onnx.Sinh
// CHECK-NOT: onnx.Gather
// CHECK: func.return
func.func @through_eight_bits(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Sinh(%x) : (tensor<2x3x!x>) -> tensor<2x3x!s>
  %b = onnx.Mul(%a, %h) : (tensor<2x3x!s>, tensor<f32>) -> tensor<2x3x!x>
  %y = onnx.Softplus(%b) : (tensor<2x3x!x>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}
}

// -----

!x = !quant.uniform<u8:f32, 0.05:128>
!y = !quant.uniform<u8:f32, 0.03>
!c = !quant.uniform<u8:f32:1, {0.03,0.04,0.05}>
!h = !quant.uniform<u16:f32, 0.03>

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// CHECK-LABEL: func.func @unmoved_cheap(
// CHECK: onnx.Tanh(%x)
func.func @unmoved_cheap(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %y = onnx.Tanh(%x) : (tensor<2x3x!x>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_two_sources(
// CHECK-NOT: onnx.Gather
// CHECK: func.return
func.func @unmoved_two_sources(%x: tensor<2x3x!x>, %z: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %a = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %b = quant.dcast %z : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Sinh(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%s, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %m : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_other_types(
// CHECK-NOT: onnx.Gather
// CHECK: func.return
func.func @unmoved_other_types(%x: tensor<2x3x!c>, %z: tensor<2x3x!h>, %r: tensor<2x3xf32>) -> (tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!y>) {
  %a = onnx.Sinh(%x) : (tensor<2x3x!c>) -> tensor<2x3x!y>
  %b = onnx.Sinh(%z) : (tensor<2x3x!h>) -> tensor<2x3x!y>
  %s = onnx.Sinh(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = quant.qcast %s : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %a, %b, %c : tensor<2x3x!y>, tensor<2x3x!y>, tensor<2x3x!y>
}

// The slow op stays for the graph's sake: nothing is saved.

// CHECK-LABEL: func.func @unmoved_used_elsewhere(
// CHECK-NOT: onnx.Gather
// CHECK: func.return
func.func @unmoved_used_elsewhere(%x: tensor<2x3x!x>) -> (tensor<2x3xf32>, tensor<2x3x!y>) {
  %a = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Sinh(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %s : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %s, %y : tensor<2x3xf32>, tensor<2x3x!y>
}

// CHECK-LABEL: func.func @unmoved_other_shape(
// CHECK-NOT: onnx.Gather
// CHECK: func.return
func.func @unmoved_other_shape(%x: tensor<3x!x>) -> tensor<1x3x!y> {
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1x1xf32>>} : () -> tensor<1x1xf32>
  %a = onnx.Sinh(%x) : (tensor<3x!x>) -> tensor<3x!x>
  // expected-remark@+1 {{the result is not known to have the shape of the operand [lower-to-table: invalid-op]}}
  %y = onnx.Mul(%a, %h) : (tensor<3x!x>, tensor<1x1xf32>) -> tensor<1x3x!y>
  func.return %y : tensor<1x3x!y>
}
}

// -----

// No opset is stated, which onnxruntime does not take.

!x = !quant.uniform<u8:f32, 0.05:128>

// CHECK-LABEL: func.func @unmoved_not_computable(
// CHECK: onnx.Softplus
func.func @unmoved_not_computable(%x: tensor<2x3x!x>) -> tensor<2x3x!x> {
  // expected-remark@+1 {{[lower-to-table: not-computable]}}
  %y = onnx.Softplus(%x) : (tensor<2x3x!x>) -> tensor<2x3x!x>
  func.return %y : tensor<2x3x!x>
}
