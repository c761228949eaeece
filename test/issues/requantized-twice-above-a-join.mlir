// RUN: OPT %s -p 'lower-to-qoperator{target=onnxruntime}' | FILECHECK %s

// There and back: a join reads its operand under any scale, but the rounding to that scale stays.

!t = !quant.uniform<u8:f32, 0.01:107>
!s = !quant.uniform<u8:f32, 0.04:128>
// CHECK-LABEL: func.func @join(
// CHECK: %[[R:.*]] = quant.dcast
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[R]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.04:128>>
// CHECK: onnx_ms.QLinearConcat(
func.func @join(%a: tensor<2x3x!t>, %b: tensor<2x3x!t>) -> tensor<4x3x!t> {
  %0 = quant.dcast %b : tensor<2x3x!t> to tensor<2x3xf32>
  %1 = quant.qcast %0 : tensor<2x3xf32> to tensor<2x3x!s>
  %2 = quant.dcast %1 : tensor<2x3x!s> to tensor<2x3xf32>
  %3 = quant.qcast %2 : tensor<2x3xf32> to tensor<2x3x!t>
  %4 = onnx.Concat(%a, %3) {axis = 0 : i64} : (tensor<2x3x!t>, tensor<2x3x!t>) -> tensor<4x3x!t>
  func.return %4 : tensor<4x3x!t>
}
