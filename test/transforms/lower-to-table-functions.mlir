// RUN: OPT %s -p lower-to-table | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-table

!x = !quant.uniform<u8:f32, 0.03:128>
!e = !quant.uniform<u8:f32, 0.008:127>
!p = !quant.uniform<u8:f32, 0.0081>
!m = !quant.uniform<u8:f32, 0.0315:11>
!y = !quant.uniform<u8:f32, 0.016:11>

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 13 : i64}} {
// 0.5 * x * (1 + erf(x / sqrt(2))), each part rounded: on all 256 values within a step of Gelu.

// CHECK-LABEL: func.func @gelu(
// CHECK: %[[R:.*]] = quant.dcast %x
// CHECK: %[[G:.*]] = onnx_ms.Gelu(%[[R]])
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[G]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.016:11>>
// CHECK-NEXT: func.return %[[Q]]
func.func @gelu(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.4142135] : tensor<f32>>} : () -> tensor<f32>
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %d = onnx.Div(%r, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = onnx.Erf(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %e : tensor<2x3xf32> to tensor<2x3x!e>
  %a = onnx.Add(%q, %o) : (tensor<2x3x!e>, tensor<f32>) -> tensor<2x3x!p>
  %m = onnx.Mul(%x, %a) : (tensor<2x3x!x>, tensor<2x3x!p>) -> tensor<2x3x!m>
  %y = onnx.Mul(%m, %h) : (tensor<2x3x!m>, tensor<f32>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// A third instead of a half: another function, by many steps.

// CHECK-LABEL: func.func @unmoved_other_function(
// CHECK-NOT: onnx_ms.Gelu
// CHECK: func.return
func.func @unmoved_other_function(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.4142135] : tensor<f32>>} : () -> tensor<f32>
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.33] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %d = onnx.Div(%r, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = onnx.Erf(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %e : tensor<2x3xf32> to tensor<2x3x!e>
  %a = onnx.Add(%q, %o) : (tensor<2x3x!e>, tensor<f32>) -> tensor<2x3x!p>
  %m = onnx.Mul(%x, %a) : (tensor<2x3x!x>, tensor<2x3x!p>) -> tensor<2x3x!m>
  %y = onnx.Mul(%m, %h) : (tensor<2x3x!m>, tensor<f32>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// x * sigmoid(x) of bytes: the session would dequantize for either op.

// CHECK-LABEL: func.func @quick_gelu(
// CHECK: %[[R:.*]] = quant.dcast %x
// CHECK-NEXT: %[[G:.*]] = onnx_ms.QuickGelu(%[[R]]) {alpha = 1.000000e+00 : f32}
// CHECK-NEXT: quant.qcast %[[G]]
func.func @quick_gelu(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %r = quant.dcast %x : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Sigmoid(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = quant.qcast %m : tensor<2x3xf32> to tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}

// Kernels of bytes take less time than Gelu.

// CHECK-LABEL: func.func @unmoved_cheap(
// CHECK: onnx.Sigmoid(%x)
func.func @unmoved_cheap(%x: tensor<2x3x!x>) -> tensor<2x3x!y> {
  %s = onnx.Sigmoid(%x) : (tensor<2x3x!x>) -> tensor<2x3x!p>
  %y = onnx.Mul(%x, %s) : (tensor<2x3x!x>, tensor<2x3x!p>) -> tensor<2x3x!y>
  func.return %y : tensor<2x3x!y>
}
}
