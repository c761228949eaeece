// RUN: OPT %s -p 'quantize-branches{target=tensorrt}' | FILECHECK %s
// RUN: OPT %s -p 'quantize-branches{target=generic}' | FILECHECK %s --check-prefix=GENERIC

!x = !quant.uniform<i8:f32, 0.02>

// A float branch that is quantized elsewhere is quantized alike here; targets that do not want it get none.

// CHECK-LABEL: func.func @quantized_elsewhere(
// CHECK: %[[N:.*]] = onnx.Neg(%x)
// CHECK-NEXT: quant.qcast %[[N]]
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[N]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: onnx.Add(%{{.*}}, %[[R]])
// GENERIC-LABEL: func.func @quantized_elsewhere(
// GENERIC: %[[N:.*]] = onnx.Neg(%x)
// GENERIC: onnx.Add(%{{.*}}, %[[N]])
func.func @quantized_elsewhere(%a: tensor<2x3xf32>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>) {
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
  %y = onnx.Add(%a, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %p : tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
}

// A branch of known range beside a quantized one: symmetric for i8, 1 / 127.

// CHECK-LABEL: func.func @known_range(
// CHECK: %[[S:.*]] = onnx.Sigmoid(
// CHECK: %[[Q:.*]] = quant.qcast %[[S]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.007874016>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: onnx.Mul(%{{.*}}, %[[R]])
func.func @known_range(%q: tensor<2x3x!x>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%a, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nothing is quantized: nobody knows the range; no branch is quantized.

// CHECK-LABEL: func.func @unmoved_unknown_range(
// CHECK: %[[N:.*]] = onnx.Neg(
// CHECK-NEXT: onnx.Mul(%{{.*}}, %[[N]])
func.func @unmoved_unknown_range(%q: tensor<2x3x!x>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%a, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_float(
// CHECK: %[[S:.*]] = onnx.Sigmoid(
// CHECK-NEXT: onnx.Mul(%x, %[[S]])
func.func @unmoved_float(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%x, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}
