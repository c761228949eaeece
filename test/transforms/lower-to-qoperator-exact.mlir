// RUN: OPT %s -p 'lower-to-qoperator{exact=true}' | FILECHECK %s

// What moves runs on integers: not one bit is another.

// CHECK-LABEL: func.func @turn(
// CHECK: %[[S:.*]] = quant.scast %a
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[S]]) : (tensor<4x3xui8>) -> tensor<3x4xui8>
func.func @turn(%a: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x4x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.Transpose(%a) : (tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<3x4x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<3x4x!quant.uniform<u8:f32, 0.02:13>>
}

// What computes stays as it is, for the casts of the QDQ form.

// CHECK-LABEL: func.func @unmoved_sum(
// CHECK-NEXT: %[[T:.*]] = onnx.Add(%a, %a)
// CHECK-NEXT: func.return %[[T]]
func.func @unmoved_sum(%a: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> {
  %t = onnx.Add(%a, %a) : (tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>, tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
  func.return %t : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>
}
