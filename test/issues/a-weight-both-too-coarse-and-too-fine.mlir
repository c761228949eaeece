// RUN: OPT %s -p 'rescale-bias{quantize=false}' | FILECHECK %s

// Half a step of the result is less than any step of the sums: a scale as fine as that needed a wider one for the
// bias to fit in int32, and the wider one a finer one, without end. As the bias fits here, the weight stays.

!x = !quant.uniform<u8:f32, 1.0e-08>
!w = !quant.uniform<i8:f32:1, {0.01,0.02}>
!y = !quant.uniform<u8:f32, 1.0e-40>

// CHECK-LABEL: func.func @fits(
// CHECK: onnx.Gemm(%x, %w, %b)
func.func @fits(%x: tensor<2x2x!x>) -> tensor<2x2x!y> {
  %w = onnx.Constant() {value = #onnx.tensor<[3, 0, -5, 0] : tensor<2x2xi8>>} : () -> tensor<2x2x!w>
  %b = onnx.Constant() {value = #onnx.tensor<[0.1, 0.1] : tensor<2xf32>>} : () -> tensor<2xf32>
  %t = onnx.Gemm(%x, %w, %b) : (tensor<2x2x!x>, tensor<2x2x!w>, tensor<2xf32>) -> tensor<2x2x!y>
  func.return %t : tensor<2x2x!y>
}
