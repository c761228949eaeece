// RUN: OPT %s -p fold-requantize | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-requantize

!a = !quant.uniform<u8:f32, 0.02:3>
!s = !quant.uniform<u8:f32, 0.025:7>
!t = !quant.uniform<u8:f32, 0.05:9>

// The product makes the join's integers, between what its own would have been: (0 - 7) / 2 + 9 and (255 - 7) / 2 + 9. The
// other operand, quantized from floats and then moved, likewise.

// CHECK-LABEL: func.func @product(
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%x, %w) : (tensor<128x4x!{{.*}}>, tensor<4x200x!{{.*}}>) -> tensor<128x200x!quant.uniform<u8:f32, 0.05:9>>
// CHECK: %[[C:.*]] = onnx.Clip(%[[P]],
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!quant.uniform<u8:f32, 0.05:9>>
// CHECK-NEXT: %[[M:.*]] = onnx.Transpose(%[[Q]])
// CHECK: %[[D:.*]] = onnx.Clip(%[[M]],
// CHECK-NEXT: %[[J:.*]] = onnx.Concat(%[[C]], %[[D]])
// CHECK-NEXT: func.return %[[J]]
func.func @product(%x: tensor<128x4x!a>, %w: tensor<4x200x!quant.uniform<i8:f32, 0.5>>, %y: tensor<200x128xf32>) -> tensor<128x400x!t> {
  %p = onnx.MatMul(%x, %w) : (tensor<128x4x!a>, tensor<4x200x!quant.uniform<i8:f32, 0.5>>) -> tensor<128x200x!s>
  %r = quant.dcast %p : tensor<128x200x!s> to tensor<128x200xf32>
  %q = quant.qcast %r : tensor<128x200xf32> to tensor<128x200x!t>
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!s>
  %v = onnx.Transpose(%u) {perm = array<i64: 1, 0>} : (tensor<200x128x!s>) -> tensor<128x200x!s>
  %d = quant.dcast %v : tensor<128x200x!s> to tensor<128x200xf32>
  %e = quant.qcast %d : tensor<128x200xf32> to tensor<128x200x!t>
  %j = onnx.Concat(%q, %e) {axis = 1 : i64} : (tensor<128x200x!t>, tensor<128x200x!t>) -> tensor<128x400x!t>
  func.return %j : tensor<128x400x!t>
}

// The ends of both types are the same numbers: there is nothing to clamp.

// CHECK-LABEL: func.func @same_ends(
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!quant.uniform<u8:f32, 0.02501:7>>
// CHECK-NEXT: %[[J:.*]] = onnx.Concat(%[[Q]], %b)
func.func @same_ends(%y: tensor<200x128xf32>, %b: tensor<1x128x!quant.uniform<u8:f32, 0.02501:7>>) -> tensor<201x128x!quant.uniform<u8:f32, 0.02501:7>> {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!s>
  %d = quant.dcast %u : tensor<200x128x!s> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!quant.uniform<u8:f32, 0.02501:7>>
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!quant.uniform<u8:f32, 0.02501:7>>, tensor<1x128x!quant.uniform<u8:f32, 0.02501:7>>) -> tensor<201x128x!quant.uniform<u8:f32, 0.02501:7>>
  func.return %j : tensor<201x128x!quant.uniform<u8:f32, 0.02501:7>>
}

// CHECK-LABEL: func.func @unmoved_finer_scale(
// CHECK: quant.dcast
func.func @unmoved_finer_scale(%y: tensor<200x128xf32>, %b: tensor<1x128x!s>) -> tensor<201x128x!s> {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!t>
  %d = quant.dcast %u : tensor<200x128x!t> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!s>
  // expected-remark@+1 {{the last scale is smaller, so removing the first rounding would change elements by more than one step [fold-requantize: other-parameters]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!s>, tensor<1x128x!s>) -> tensor<201x128x!s>
  func.return %j : tensor<201x128x!s>
}

// CHECK-LABEL: func.func @unmoved_few_elements(
// CHECK: quant.dcast
func.func @unmoved_few_elements(%y: tensor<20x128xf32>, %b: tensor<1x128x!t>) -> tensor<21x128x!t> {
  %u = quant.qcast %y : tensor<20x128xf32> to tensor<20x128x!s>
  %d = quant.dcast %u : tensor<20x128x!s> to tensor<20x128xf32>
  %e = quant.qcast %d : tensor<20x128xf32> to tensor<20x128x!t>
  // expected-remark@+1 {{the tensor is so small that removing the second quantize saves nothing [fold-requantize: does-not-pay]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<20x128x!t>, tensor<1x128x!t>) -> tensor<21x128x!t>
  func.return %j : tensor<21x128x!t>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: quant.dcast
func.func @unmoved_second_consumer(%y: tensor<200x128xf32>, %b: tensor<1x128x!t>) -> (tensor<201x128x!t>, tensor<200x128xf32>) {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!s>
  %d = quant.dcast %u : tensor<200x128x!s> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!t>
  // expected-remark@+1 {{the value in between has a second consumer [fold-requantize: second-consumer]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!t>, tensor<1x128x!t>) -> tensor<201x128x!t>
  func.return %j, %d : tensor<201x128x!t>, tensor<200x128xf32>
}

// CHECK-LABEL: func.func @unmoved_integers_read(
// CHECK: quant.dcast
func.func @unmoved_integers_read(%y: tensor<200x128xf32>, %b: tensor<1x128x!t>) -> (tensor<201x128x!t>, tensor<200x128x!s>) {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!s>
  %v = onnx.Transpose(%u) {perm = array<i64: 0, 1>} : (tensor<200x128x!s>) -> tensor<200x128x!s>
  %d = quant.dcast %v : tensor<200x128x!s> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!t>
  // expected-remark@+1 {{the value in between has a second consumer [fold-requantize: second-consumer]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!t>, tensor<1x128x!t>) -> tensor<201x128x!t>
  func.return %j, %u : tensor<201x128x!t>, tensor<200x128x!s>
}

// CHECK-LABEL: func.func @unmoved_not_computed(
// CHECK: quant.dcast
func.func @unmoved_not_computed(%u: tensor<200x128x!s>, %b: tensor<1x128x!t>) -> tensor<201x128x!t> {
  %d = quant.dcast %u : tensor<200x128x!s> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!t>
  // expected-remark@+1 {{the integers are a graph input, a result of a subgraph, or a constant [fold-requantize: integers-used]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!t>, tensor<1x128x!t>) -> tensor<201x128x!t>
  func.return %j : tensor<201x128x!t>
}

// CHECK-LABEL: func.func @unmoved_several_parts(
// CHECK: quant.dcast
func.func @unmoved_several_parts(%y: tensor<200x128xf32>, %b: tensor<1x128x!t>) -> tensor<401x128x!t> {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!s>
  %v = onnx.Concat(%u, %u) {axis = 0 : i64} : (tensor<200x128x!s>, tensor<200x128x!s>) -> tensor<400x128x!s>
  %d = quant.dcast %v : tensor<400x128x!s> to tensor<400x128xf32>
  %e = quant.qcast %d : tensor<400x128xf32> to tensor<400x128x!t>
  // expected-remark@+1 {{the value is joined from several operands, or is clamped in between [fold-requantize: other-parameters]}}
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<400x128x!t>, tensor<1x128x!t>) -> tensor<401x128x!t>
  func.return %j : tensor<401x128x!t>
}

// Of 16 bits no kernel joins mixed scales.

// CHECK-LABEL: func.func @unchanged_wide(
// CHECK: quant.dcast
func.func @unchanged_wide(%y: tensor<200x128xf32>, %b: tensor<1x128x!quant.uniform<u16:f32, 0.5:9>>) -> tensor<201x128x!quant.uniform<u16:f32, 0.5:9>> {
  %u = quant.qcast %y : tensor<200x128xf32> to tensor<200x128x!quant.uniform<u16:f32, 0.25:7>>
  %d = quant.dcast %u : tensor<200x128x!quant.uniform<u16:f32, 0.25:7>> to tensor<200x128xf32>
  %e = quant.qcast %d : tensor<200x128xf32> to tensor<200x128x!quant.uniform<u16:f32, 0.5:9>>
  %j = onnx.Concat(%e, %b) {axis = 0 : i64} : (tensor<200x128x!quant.uniform<u16:f32, 0.5:9>>, tensor<1x128x!quant.uniform<u16:f32, 0.5:9>>) -> tensor<201x128x!quant.uniform<u16:f32, 0.5:9>>
  func.return %j : tensor<201x128x!quant.uniform<u16:f32, 0.5:9>>
}

// -----

// The integers leave a branch besides.

// CHECK-LABEL: func.func @unmoved_yielded(
// CHECK: quant.qcast
!s = !quant.uniform<u8:f32, 0.02:3>
!t = !quant.uniform<u8:f32, 0.04:9>
func.func @unmoved_yielded(%c: tensor<i1>, %x: tensor<2x128x128xf32>) -> tensor<2x128x128x!s> {
  %q = quant.qcast %x : tensor<2x128x128xf32> to tensor<2x128x128x!s>
  %y = onnx.If(%c) then_branch {
    onnx.Yield(%q) : (tensor<2x128x128x!s>) -> ()
  } else_branch {
    %r = quant.dcast %q : tensor<2x128x128x!s> to tensor<2x128x128xf32>
    %p = quant.qcast %r : tensor<2x128x128xf32> to tensor<2x128x128x!t>
    // expected-remark@+1 {{second consumer}}
    %j = onnx.Concat(%p, %p) {axis = 0 : i64} : (tensor<2x128x128x!t>, tensor<2x128x128x!t>) -> tensor<4x128x128x!t>
    %d = quant.dcast %j : tensor<4x128x128x!t> to tensor<4x128x128xf32>
    %k = onnx.Constant() {value = #onnx.tensor<[2, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
    %a, %b = onnx.Split(%d, %k) {axis = 0 : i64} : (tensor<4x128x128xf32>, tensor<2xi64>) -> (tensor<2x128x128xf32>, tensor<2x128x128xf32>)
    %e = quant.qcast %a : tensor<2x128x128xf32> to tensor<2x128x128x!s>
    onnx.Yield(%e) : (tensor<2x128x128x!s>) -> ()
  } : (tensor<i1>) -> tensor<2x128x128x!s>
  func.return %y : tensor<2x128x128x!s>
}

// A constant operand is computed once: (10 - 3) / 2 + 9 and (200 - 3) / 2 + 9, half to even.

// CHECK-LABEL: func.func @constant(
// CHECK-NEXT: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[13, 107] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.04:9>>
// CHECK-NEXT: func.return %[[C]]
func.func @constant() -> tensor<2x!t> {
  %c = onnx.Constant() {value = #onnx.tensor<[10, 200] : tensor<2xui8>>} : () -> tensor<2x!s>
  %r = quant.dcast %c : tensor<2x!s> to tensor<2xf32>
  %q = quant.qcast %r : tensor<2xf32> to tensor<2x!t>
  func.return %q : tensor<2x!t>
}
