// RUN: OPT %s -p raise-qoperator | FILECHECK %s

// The inputs beyond the tenth were left out: their places have two digits.

// CHECK-LABEL: func.func @eleven(
// CHECK: %[[X0:.*]] = quant.dcast %
// CHECK: %[[X1:.*]] = quant.dcast %
// CHECK: %[[X2:.*]] = quant.dcast %
// CHECK: %[[X3:.*]] = quant.dcast %
// CHECK: %[[X4:.*]] = quant.dcast %
// CHECK: %[[X5:.*]] = quant.dcast %
// CHECK: %[[X6:.*]] = quant.dcast %
// CHECK: %[[X7:.*]] = quant.dcast %
// CHECK: %[[X8:.*]] = quant.dcast %
// CHECK: %[[X9:.*]] = quant.dcast %
// CHECK: %[[X10:.*]] = quant.dcast %
// CHECK: onnx.Concat(%[[X0]], %[[X1]], %[[X2]], %[[X3]], %[[X4]], %[[X5]], %[[X6]], %[[X7]], %[[X8]], %[[X9]], %[[X10]])
func.func @eleven(%x: tensor<1x2xui8>) -> tensor<1x22xui8> {
  %s = onnx.Constant() {value = #onnx.tensor<[0.1] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[3] : tensor<ui8>>} : () -> tensor<ui8>
  %y = onnx_ms.QLinearConcat(%s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z, %x, %s, %z) {axis = 1 : i64} : (tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x22xui8>
  func.return %y : tensor<1x22xui8>
}
