// RUN: OPT %s -p 'lower-to-qdq{target=onnxruntime}' | FILECHECK %s
// RUN: OPT %s -p 'lower-to-qdq{target=generic}' | FILECHECK %s --check-prefix GENERIC

!x = !quant.uniform<u8:f32, 0.02:13>
!w = !quant.uniform<i8:f32, 0.5>
!y = !quant.uniform<u8:f32, 0.04:9>

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// A session computes a convolution in float if a clamp that is not the range of the type stands between it and its casts:
// for such a target it stands behind them.

// CHECK-LABEL: func.func @clamp_behind_casts(
// CHECK: %[[T:.*]] = onnx.Conv(
// CHECK-NEXT: %[[P:.*]] = onnx.QuantizeLinear(%[[T]],
// CHECK-NEXT: %[[O:.*]] = onnx.DequantizeLinear(%[[P]],
// CHECK-NEXT: %[[U:.*]] = onnx.Relu(%[[O]])
// CHECK-NEXT: func.return %[[U]]
func.func @clamp_behind_casts(%x: tensor<1x4x5x5xui8>, %v: tensor<2x4x3x3xi8>) -> tensor<1x2x3x3xf32> {
  %a = quant.scast %x : tensor<1x4x5x5xui8> to tensor<1x4x5x5x!x>
  %w = quant.scast %v : tensor<2x4x3x3xi8> to tensor<2x4x3x3x!w>
  %t = onnx.Conv(%a, %w) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>) -> tensor<1x2x3x3x!y>
  %u = onnx.Relu(%t) : (tensor<1x2x3x3x!y>) -> tensor<1x2x3x3x!y>
  %q = quant.dcast %u : tensor<1x2x3x3x!y> to tensor<1x2x3x3xf32>
  func.return %q : tensor<1x2x3x3xf32>
}

// For another target it stands in front of the casts, as it was.

// CHECK-LABEL: func.func @unmoved_for_other_targets(
// CHECK: onnx.Conv(
// GENERIC-LABEL: func.func @unmoved_for_other_targets(
// GENERIC: %[[T:.*]] = onnx.Conv(
// GENERIC-NEXT: %[[U:.*]] = onnx.Relu(%[[T]])
// GENERIC-NEXT: %[[P:.*]] = onnx.QuantizeLinear(%[[U]],
// GENERIC-NEXT: onnx.DequantizeLinear(%[[P]],
func.func @unmoved_for_other_targets(%x: tensor<1x4x5x5xui8>, %v: tensor<2x4x3x3xi8>) -> tensor<1x2x3x3xf32> {
  %a = quant.scast %x : tensor<1x4x5x5xui8> to tensor<1x4x5x5x!x>
  %w = quant.scast %v : tensor<2x4x3x3xi8> to tensor<2x4x3x3x!w>
  %t = onnx.Conv(%a, %w) : (tensor<1x4x5x5x!x>, tensor<2x4x3x3x!w>) -> tensor<1x2x3x3x!y>
  %u = onnx.Relu(%t) : (tensor<1x2x3x3x!y>) -> tensor<1x2x3x3x!y>
  %q = quant.dcast %u : tensor<1x2x3x3x!y> to tensor<1x2x3x3xf32>
  func.return %q : tensor<1x2x3x3xf32>
}

}
