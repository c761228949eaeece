// RUN: OPT %s -p 'lower-to-qoperator{target=onnxruntime}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'lower-to-qoperator{target=onnxruntime}'

// onnxruntime refused the kernel when it ran: a ratio of 2^8 and more is "out of computation range".

!x = !quant.uniform<u8:f32, 1.0>

// CHECK-LABEL: func.func @moves(
// CHECK: onnx_ms.QLinearGlobalAveragePool(
func.func @moves(%x: tensor<1x2x3x3x!x>) -> tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0009>> {
  %y = onnx.GlobalAveragePool(%x) : (tensor<1x2x3x3x!x>) -> tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0009>>
  func.return %y : tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0009>>
}

// CHECK-LABEL: func.func @unmoved_scale_ratio(
// CHECK: onnx.GlobalAveragePool(
func.func @unmoved_scale_ratio(%x: tensor<1x2x3x3x!x>) -> tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0004>> {
  // expected-remark@+1 {{[lower-to-qoperator: mixed-scales]}}
  %y = onnx.GlobalAveragePool(%x) : (tensor<1x2x3x3x!x>) -> tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0004>>
  func.return %y : tensor<1x2x1x1x!quant.uniform<u8:f32, 0.0004>>
}
