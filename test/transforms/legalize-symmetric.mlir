// RUN: OPT %s -p 'legalize{target=tensorrt}' | FILECHECK %s
// RUN: OPT %s -p 'legalize{target=generic}' | FILECHECK %s --check-prefix=GENERIC
// RUN: DIAGNOSTICS -p 'legalize{target=tensorrt}'

!x = !quant.uniform<u8:f32, 0.02:128>
!i = !quant.uniform<i8:f32, 0.02>
!z = !quant.uniform<u8:f32, 0.04:9>
!b = !quant.uniform<i32:f32, 0.005>

// Zero point 128 becomes 0, of activations, of weights and of what passes through; the bias becomes float.

// CHECK-LABEL: func.func @conv(
// CHECK-DAG: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[-128, -127, 0, 127] : tensor<2x2x1x1xi8>>} : () -> tensor<2x2x1x1x!quant.uniform<i8:f32, 0.25>>
// CHECK-DAG: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[0.035, -0.015] : tensor<2xf32>>} : () -> tensor<2xf32>
// CHECK: %[[A:.*]] = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!quant.uniform<i8:f32, 0.02>>
// CHECK-NEXT: %[[M:.*]] = onnx.MaxPool(%[[A]]) {{.*}} : (tensor<1x2x5x4x!quant.uniform<i8:f32, 0.02>>) -> tensor<1x2x4x3x!quant.uniform<i8:f32, 0.02>>
// CHECK-NEXT: %[[T:.*]] = onnx.Conv(%[[M]], %[[W]], %[[B]])
// CHECK-NEXT: quant.dcast %[[T]] : tensor<1x2x4x3x!quant.uniform<i8:f32, 0.02>> to tensor<1x2x4x3xf32>
// GENERIC-LABEL: func.func @conv(
// GENERIC: quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!quant.uniform<u8:f32, 0.02:128>>
// GENERIC: onnx.Conv({{.*}}tensor<2x!quant.uniform<i32:f32, 0.005>>)
func.func @conv(%x: tensor<1x2x5x4xf32>) -> tensor<1x2x4x3xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 1, 128, 255] : tensor<2x2x1x1xui8>>} : () -> tensor<2x2x1x1x!quant.uniform<u8:f32, 0.25:128>>
  %b = onnx.Constant() {value = #onnx.tensor<[7, -3] : tensor<2xi32>>} : () -> tensor<2x!b>
  %a = quant.qcast %x : tensor<1x2x5x4xf32> to tensor<1x2x5x4x!x>
  %m = onnx.MaxPool(%a) {kernel_shape = array<i64: 2, 2>} : (tensor<1x2x5x4x!x>) -> tensor<1x2x4x3x!x>
  %t = onnx.Conv(%m, %w, %b) : (tensor<1x2x4x3x!x>, tensor<2x2x1x1x!quant.uniform<u8:f32, 0.25:128>>, tensor<2x!b>) -> tensor<1x2x4x3x!x>
  %r = quant.dcast %t : tensor<1x2x4x3x!x> to tensor<1x2x4x3xf32>
  func.return %r : tensor<1x2x4x3xf32>
}

// Per axis, and storage bounds; a constant that is only dequantized.

// CHECK-LABEL: func.func @per_axis(
// CHECK: onnx.Constant() {value = #onnx.tensor<[-127, 127] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8<-127:127>:f32, 0.02>>
// CHECK: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {0.5,0.25}>>
func.func @per_axis(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 255] : tensor<2xui8>>} : () -> tensor<2x!quant.uniform<u8<1:255>:f32, 0.02:128>>
  %q = quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8<1:255>:f32:1, {0.5:128,0.25:128}>>
  %r = quant.dcast %q : tensor<2x2x!quant.uniform<u8<1:255>:f32:1, {0.5:128,0.25:128}>> to tensor<2x2xf32>
  %d = quant.dcast %c : tensor<2x!quant.uniform<u8<1:255>:f32, 0.02:128>> to tensor<2xf32>
  func.return %r, %d : tensor<2x2xf32>, tensor<2xf32>
}

// Integers that come in and go out as u8 do so still: a pair stands at each boundary.

// CHECK-LABEL: func.func @boundary(
// CHECK-NEXT: %[[A:.*]] = quant.scast %x : tensor<2x4xui8> to tensor<2x4x!quant.uniform<u8:f32, 0.02:128>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[A]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]] : tensor<2x4xf32> to tensor<2x4x!quant.uniform<i8:f32, 0.02>>
// CHECK-NEXT: %[[M:.*]] = onnx.Sigmoid(%[[Q]])
// CHECK-NEXT: %[[S:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[P:.*]] = quant.qcast %[[S]] : tensor<2x4xf32> to tensor<2x4x!quant.uniform<u8:f32, 0.02:128>>
// CHECK-NEXT: quant.scast %[[P]] : tensor<2x4x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x4xui8>
func.func @boundary(%x: tensor<2x4xui8>) -> tensor<2x4xui8> {
  %a = quant.scast %x : tensor<2x4xui8> to tensor<2x4x!x>
  %s = onnx.Sigmoid(%a) : (tensor<2x4x!x>) -> tensor<2x4x!x>
  %q = quant.scast %s : tensor<2x4x!x> to tensor<2x4xui8>
  func.return %q : tensor<2x4xui8>
}

// Any other zero point stays, of u8 and of i8, and a channel's among several.

// CHECK-LABEL: func.func @unmoved_zero_points(
// CHECK-NEXT: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32, 0.04:9>>
// CHECK: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32, 0.04:-9>>
// CHECK{LITERAL}: quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32:0, {0.5:128,0.25:127}>>
func.func @unmoved_zero_points(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  // expected-remark@+1 {{the zero point is not 128, so as i8 it would not be 0; quantize the model symmetrically [legalize: zero-point]}}
  %a = quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!z>
  %p = quant.dcast %a : tensor<2x2x!z> to tensor<2x2xf32>
  %b = quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<i8:f32, 0.04:-9>>
  %q = quant.dcast %b : tensor<2x2x!quant.uniform<i8:f32, 0.04:-9>> to tensor<2x2xf32>
  // expected-remark@+1 {{the zero point is not 128, so as i8 it would not be 0; quantize the model symmetrically [legalize: zero-point]}}
  %c = quant.qcast %x : tensor<2x2xf32> to tensor<2x2x!quant.uniform<u8:f32:0, {0.5:128,0.25:127}>>
  %r = quant.dcast %c : tensor<2x2x!quant.uniform<u8:f32:0, {0.5:128,0.25:127}>> to tensor<2x2xf32>
  func.return %p, %q, %r : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// A bias in other steps than the sums is dequantized in any QDQ form: onnxruntime would not look at its scale.

// CHECK-LABEL: func.func @foreign_bias(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.75, -0.75] : tensor<2xf32>>}
// CHECK: onnx.Gemm(%x, %w, %[[B]])
// GENERIC-LABEL: func.func @foreign_bias(
// GENERIC: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.75, -0.75] : tensor<2xf32>>}
// GENERIC: onnx.Gemm(%x, %w, %[[B]])
func.func @foreign_bias(%x: tensor<3x2x!i>, %w: tensor<2x2x!i>) -> tensor<3x2xf32> {
  %b = onnx.Constant() {value = #onnx.tensor<[7, -3] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<i8:f32, 0.25>>
  %c = quant.dcast %b : tensor<2x!quant.uniform<i8:f32, 0.25>> to tensor<2xf32>
  %y = onnx.Gemm(%x, %w, %c) : (tensor<3x2x!i>, tensor<2x2x!i>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Integers of 32 bits that are joined are no bias: no cast would make such integers of floats.

// CHECK-LABEL: func.func @unmoved_among_joined_integers(
// CHECK: onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.005>>
func.func @unmoved_among_joined_integers(%x: tensor<2xi32>) -> tensor<4xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi32>>} : () -> tensor<2x!b>
  %q = quant.scast %x : tensor<2xi32> to tensor<2x!b>
  %j = onnx.Concat(%q, %c) {axis = 0 : i64} : (tensor<2x!b>, tensor<2x!b>) -> tensor<4x!b>
  %r = quant.dcast %j : tensor<4x!b> to tensor<4xf32>
  func.return %r : tensor<4xf32>
}
