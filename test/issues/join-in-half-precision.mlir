// RUN: OPT %s -p lower-to-qdq,guard-session | FILECHECK %s

// A session makes the integer kernel of a join between casts whatever type their scales are of, and refuses it then:
// the kernel takes scales of float32.

!q = !quant.uniform<u8:f16, 0.25:13>

builtin.module attributes {onnx.opset_import = {ai.onnx = 19 : i64}} {
// CHECK-LABEL: func.func @join(
// CHECK: %[[C:.*]] = onnx.Concat(
// CHECK-NEXT: %[[S:.*]] = onnx.Sum(%[[C]]) : (tensor<4x3xf16>) -> tensor<4x3xf16>
// CHECK-NEXT: onnx.QuantizeLinear(%[[S]]
func.func @join(%x: tensor<1x3xui8>, %y: tensor<3x3xui8>) -> tensor<4x3xui8> {
  %a = quant.scast %x : tensor<1x3xui8> to tensor<1x3x!q>
  %b = quant.scast %y : tensor<3x3xui8> to tensor<3x3x!q>
  %c = onnx.Concat(%a, %b) {axis = 0} : (tensor<1x3x!q>, tensor<3x3x!q>) -> tensor<4x3x!q>
  %r = quant.scast %c : tensor<4x3x!q> to tensor<4x3xui8>
  func.return %r : tensor<4x3xui8>
}
}

// -----

!q = !quant.uniform<u8:f32, 0.25:13>

// CHECK-LABEL: func.func @unmoved_single_precision(
// CHECK: %[[C:.*]] = onnx.Concat(
// CHECK-NEXT: onnx.QuantizeLinear(%[[C]]
func.func @unmoved_single_precision(%x: tensor<1x3xui8>, %y: tensor<3x3xui8>) -> tensor<4x3xui8> {
  %a = quant.scast %x : tensor<1x3xui8> to tensor<1x3x!q>
  %b = quant.scast %y : tensor<3x3xui8> to tensor<3x3x!q>
  %c = onnx.Concat(%a, %b) {axis = 0} : (tensor<1x3x!q>, tensor<3x3x!q>) -> tensor<4x3x!q>
  %r = quant.scast %c : tensor<4x3x!q> to tensor<4x3xui8>
  func.return %r : tensor<4x3xui8>
}
