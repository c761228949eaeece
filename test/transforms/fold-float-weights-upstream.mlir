// RUN: OPT %s -p 'fold-float-weights{target=linalg}' | FILECHECK %s
// RUN: OPT %s -p fold-float-weights | FILECHECK %s --check-prefix=RUNTIME

!x = !quant.uniform<i8:f32, 0.02:13>
!w = !quant.uniform<i8:f32:1, {0.01,0.03}>
!y = !quant.uniform<i8:f32, 0.05:-7>

// A transposed convolution keeps the scales of its weight, with kernels and without.

// CHECK-LABEL: func.func @unmoved_no_kernels(
// CHECK: onnx.ConvTranspose(%x, %{{.*}}, _) : (tensor<1x1x2x3x!quant.uniform<i8:f32, 0.02:13>>, {{.*}} -> tensor<1x2x2x3x!quant.uniform<i8:f32, 0.05:-7>>
// RUNTIME-LABEL: func.func @unmoved_no_kernels(
// RUNTIME: onnx.ConvTranspose(%x, %{{.*}}, _) : (tensor<1x1x2x3x!quant.uniform<i8:f32, 0.02:13>>, {{.*}} -> tensor<1x2x2x3x!quant.uniform<i8:f32, 0.05:-7>>
func.func @unmoved_no_kernels(%x: tensor<1x1x2x3x!x>) -> tensor<1x2x2x3x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[50, -34] : tensor<1x2x1x1xi8>>} : () -> tensor<1x2x1x1x!w>
  %y = onnx.ConvTranspose(%x, %w, _) : (tensor<1x1x2x3x!x>, tensor<1x2x1x1x!w>) -> tensor<1x2x2x3x!y>
  func.return %y : tensor<1x2x2x3x!y>
}
