// RUN: OPT %s -p lower-to-qdq | FILECHECK %s

// Integers from outside are moved, then quantized to another type: that rounds, whatever reads them next.

!a = !quant.uniform<u8:f32, 0.05:128>
!b = !quant.uniform<u8:f32, 0.03:133>
!c = !quant.uniform<u8:f32, 0.02:99>
// CHECK-LABEL: func.func @computes(
// CHECK: %[[M:.*]] = onnx.DepthToSpace(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]],
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: onnx.Sigmoid(%[[R]])
func.func @computes(%x: tensor<1x8x3x5xui8>) -> tensor<1x2x6x10xui8> {
  %0 = quant.scast %x : tensor<1x8x3x5xui8> to tensor<1x8x3x5x!a>
  %1 = onnx.DepthToSpace(%0) {blocksize = 2 : i64} : (tensor<1x8x3x5x!a>) -> tensor<1x2x6x10x!a>
  %2 = quant.dcast %1 : tensor<1x2x6x10x!a> to tensor<1x2x6x10xf32>
  %3 = quant.qcast %2 : tensor<1x2x6x10xf32> to tensor<1x2x6x10x!b>
  %4 = onnx.Sigmoid(%3) : (tensor<1x2x6x10x!b>) -> tensor<1x2x6x10x!c>
  %5 = quant.scast %4 : tensor<1x2x6x10x!c> to tensor<1x2x6x10xui8>
  func.return %5 : tensor<1x2x6x10xui8>
}

// CHECK-LABEL: func.func @moves(
// CHECK: %[[M:.*]] = onnx.DepthToSpace(
// CHECK: %[[Q:.*]] = onnx.QuantizeLinear(%[[M]],
// CHECK: %[[R:.*]] = onnx.DequantizeLinear(%[[Q]],
// CHECK: %[[T:.*]] = onnx.Transpose(%[[R]])
// CHECK: onnx.Sigmoid(
func.func @moves(%x: tensor<1x8x3x5xui8>) -> (tensor<1x2x6x10xui8>, tensor<1x2x6x10xf32>) {
  %0 = quant.scast %x : tensor<1x8x3x5xui8> to tensor<1x8x3x5x!a>
  %1 = onnx.DepthToSpace(%0) {blocksize = 2 : i64} : (tensor<1x8x3x5x!a>) -> tensor<1x2x6x10x!a>
  %2 = quant.dcast %1 : tensor<1x2x6x10x!a> to tensor<1x2x6x10xf32>
  %3 = quant.qcast %2 : tensor<1x2x6x10xf32> to tensor<1x2x6x10x!b>
  %4 = onnx.Transpose(%3) {perm = array<i64: 0, 1, 2, 3>} : (tensor<1x2x6x10x!b>) -> tensor<1x2x6x10x!b>
  %5 = onnx.Sigmoid(%4) : (tensor<1x2x6x10x!b>) -> tensor<1x2x6x10x!c>
  %6 = quant.scast %5 : tensor<1x2x6x10x!c> to tensor<1x2x6x10xui8>
  %7 = quant.dcast %3 : tensor<1x2x6x10x!b> to tensor<1x2x6x10xf32>
  func.return %6, %7 : tensor<1x2x6x10xui8>, tensor<1x2x6x10xf32>
}
