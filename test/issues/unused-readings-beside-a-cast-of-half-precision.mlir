// RUN: OPT %s -p lower-to-qdq | FILECHECK %s

// An unused storage cast took the one in front of it along when it was erased, which was then erased again: the pass
// ended with "Cannot detach a toplevel operation".

builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
// CHECK-LABEL: func.func @main(
// CHECK: onnx.QuantizeLinear(
// CHECK-NEXT: onnx.DequantizeLinear(
// CHECK-NEXT: onnx.Cast(
// CHECK-NEXT: func.return
func.func @main(%x: tensor<2xf16>, %u: tensor<2xi8>) -> tensor<2xf16> {
  %a = quant.scast %u : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.5>>
  %b = quant.scast %a : tensor<2x!quant.uniform<i8:f32, 0.5>> to tensor<2xi8>
  %q = quant.qcast %x : tensor<2xf16> to tensor<2x!quant.uniform<u8:f16, 0.02:3>>
  %y = quant.dcast %q : tensor<2x!quant.uniform<u8:f16, 0.02:3>> to tensor<2xf16>
  func.return %y : tensor<2xf16>
}
}
