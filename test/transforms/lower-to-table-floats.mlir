// RUN: OPT %s -p lower-to-table | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-table
// RUN: OPT %s -p lower-to-table{target=openvino} | FILECHECK %s --check-prefix=OTHER

// Chains of float ops that are one op with a kernel.

builtin.module attributes {onnx.opset_import = {"ai.onnx" = 18 : i64}} {
// x * (0.5 * (1 + erf(x / sqrt(2)))): onnxruntime fuses x * 0.5 * (1 + ...) and x * (1 + ...) * 0.5, not this order.

// CHECK-LABEL: func.func @gelu(
// CHECK: %[[A:.*]] = onnx.Add(%x, %b)
// CHECK-NEXT: %[[G:.*]] = onnx_ms.Gelu(%[[A]]) : (tensor<?x3xf32>) -> tensor<?x3xf32>
// CHECK-NEXT: func.return %[[G]]
// OTHER-LABEL: func.func @gelu(
// OTHER: onnx.Erf
func.func @gelu(%x: tensor<?x3xf32>, %b: tensor<3xf32>) -> tensor<?x3xf32> {
  %s = onnx.Constant() {value = #onnx.tensor<[1.4142135] : tensor<f32>>} : () -> tensor<f32>
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %r = onnx.Add(%x, %b) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %d = onnx.Div(%r, %s) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %e = onnx.Erf(%d) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %a = onnx.Add(%e, %o) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  %m = onnx.Mul(%h, %a) : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %y = onnx.Mul(%r, %m) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %y : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @hard_swish(
// CHECK: onnx.HardSwish(%x)
// CHECK-NEXT: func.return
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %t = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %a = onnx.Add(%x, %t) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = onnx.Clip(%a, %z, %s) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Div(%m, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// By tanh: another function, by 5e-4.

// CHECK-LABEL: func.func @unmoved_by_tanh(
// CHECK-NOT: Gelu
// CHECK: func.return
func.func @unmoved_by_tanh(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %p = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %k = onnx.Constant() {value = #onnx.tensor<[0.044715] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.7978846] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Pow(%x, %p) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = onnx.Mul(%c, %k) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = onnx.Add(%x, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %f = onnx.Mul(%e, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %t = onnx.Tanh(%f) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = onnx.Add(%t, %o) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%x, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%m, %h) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// A part that something else reads is computed anyway.

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK-NOT: Gelu
// CHECK: func.return
func.func @unmoved_second_consumer(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %s = onnx.Constant() {value = #onnx.tensor<[1.4142135] : tensor<f32>>} : () -> tensor<f32>
  %o = onnx.Constant() {value = #onnx.tensor<[1.0] : tensor<f32>>} : () -> tensor<f32>
  %h = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %d = onnx.Div(%x, %s) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = onnx.Erf(%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = onnx.Add(%e, %o) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%x, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%m, %h) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %y, %e : tensor<2x3xf32>, tensor<2x3xf32>
}

// x * sigmoid(x): a session makes one kernel of both, but not behind a dequantize, which it has one of for each.

// CHECK-LABEL: func.func @quick_gelu(
// CHECK: %[[R:.*]] = quant.dcast %x
// CHECK-NEXT: %[[G:.*]] = onnx_ms.QuickGelu(%[[R]]) {alpha = 1.000000e+00 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[G]]
// OTHER-LABEL: func.func @quick_gelu(
// OTHER: onnx.Sigmoid
func.func @quick_gelu(%x: tensor<2x3x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<2x3xf32> {
  %r = quant.dcast %x : tensor<2x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<2x3xf32>
  %s = onnx.Sigmoid(%r) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_fused_by_the_session(
// CHECK: onnx.Sigmoid(%x)
func.func @unmoved_fused_by_the_session(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%x, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Another factor than 1.

// CHECK-LABEL: func.func @unmoved_another_factor(
// CHECK: onnx.Sigmoid
func.func @unmoved_another_factor(%x: tensor<2x3x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<2x3xf32> {
  %a = onnx.Constant() {value = #onnx.tensor<[1.702] : tensor<f32>>} : () -> tensor<f32>
  %r = quant.dcast %x : tensor<2x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<2x3xf32>
  %m = onnx.Mul(%r, %a) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %s = onnx.Sigmoid(%m) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
}
