// RUN: OPT %s -p lower-to-qdq | FILECHECK %s

// What moves in front of a quantize does so wherever the float readers of its operand stand: their order was the
// difference between the first compilation and the second.

!x = !quant.uniform<u8:f32, 0.05:128>

// CHECK-LABEL: func.func @reader_behind(
// CHECK: %[[M:.*]] = onnx.ReduceMax(
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[M]])
// CHECK-NEXT: func.return %[[R]], %[[M]]
func.func @reader_behind(%x: tensor<3x7xui8>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %0 = quant.scast %x : tensor<3x7xui8> to tensor<3x7x!x>
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %1 = onnx.ReduceMax(%0, %k) : (tensor<3x7x!x>, tensor<1xi64>) -> tensor<3x1x!x>
  %2 = onnx.Relu(%1) : (tensor<3x1x!x>) -> tensor<3x1x!x>
  %3 = quant.dcast %2 : tensor<3x1x!x> to tensor<3x1xf32>
  %4 = quant.dcast %1 : tensor<3x1x!x> to tensor<3x1xf32>
  func.return %3, %4 : tensor<3x1xf32>, tensor<3x1xf32>
}

// CHECK-LABEL: func.func @reader_in_front(
// CHECK: %[[M:.*]] = onnx.ReduceMax(
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[M]])
// CHECK-NEXT: func.return %[[R]], %[[M]]
func.func @reader_in_front(%x: tensor<3x7xui8>) -> (tensor<3x1xf32>, tensor<3x1xf32>) {
  %0 = quant.scast %x : tensor<3x7xui8> to tensor<3x7x!x>
  %k = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>} : () -> tensor<1xi64>
  %1 = onnx.ReduceMax(%0, %k) : (tensor<3x7x!x>, tensor<1xi64>) -> tensor<3x1x!x>
  %4 = quant.dcast %1 : tensor<3x1x!x> to tensor<3x1xf32>
  %2 = onnx.Relu(%1) : (tensor<3x1x!x>) -> tensor<3x1x!x>
  %3 = quant.dcast %2 : tensor<3x1x!x> to tensor<3x1xf32>
  func.return %3, %4 : tensor<3x1xf32>, tensor<3x1xf32>
}
