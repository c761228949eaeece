// RUN: OPT %s -p 'legalize-weights{target=openvino exact=true}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'legalize-weights{target=openvino exact=true}'

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<u8:f32, 0.25:131>

// CHECK-LABEL: func.func @shifted(
// CHECK: #onnx.tensor<[-126, -1, 0, -127] : tensor<2x2xi8>>
func.func @shifted(%x: tensor<3x2x!x>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[5, 130, 131, 4] : tensor<2x2xui8>>} : () -> tensor<2x2x!w>
  %r = onnx.MatMul(%x, %w) : (tensor<3x2x!x>, tensor<2x2x!w>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_summed_twice(
// CHECK: onnx.MatMul(%x, %w)
func.func @unmoved_summed_twice(%x: tensor<3x2x!x>) -> tensor<3x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[0, 130, 131, 4] : tensor<2x2xui8>>} : () -> tensor<2x2x!w>
  // expected-remark@+1 {{a second copy of an input would change the order of the float sums; use --exactness close [legalize-weights: beyond-i8]}}
  %r = onnx.MatMul(%x, %w) : (tensor<3x2x!x>, tensor<2x2x!w>) -> tensor<3x2xf32>
  func.return %r : tensor<3x2xf32>
}
