// RUN: OPT %s -p lower-to-tosa | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-tosa

// TOSA has no tensors without elements: what reads or makes one is kept, and the verifier finds none.

// CHECK-LABEL: func.func @returned(
// CHECK-NEXT: func.return %x
func.func @returned(%x: tensor<0x3xi8>) -> tensor<0x3xi8> {
  func.return %x : tensor<0x3xi8>
}

// CHECK-LABEL: func.func @rescaled(
// CHECK: onnx.Identity
func.func @rescaled(%x: tensor<0x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<0x3x!quant.uniform<i8:f32, 0.25>> {
  // expected-remark@+1 {{TOSA has no tensors without elements [lower-to-tosa: empty-tensor]}}
  %y = onnx.Identity(%x) : (tensor<0x3x!quant.uniform<i8:f32, 0.5>>) -> tensor<0x3x!quant.uniform<i8:f32, 0.25>>
  func.return %y : tensor<0x3x!quant.uniform<i8:f32, 0.25>>
}
