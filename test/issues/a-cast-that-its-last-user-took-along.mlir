// RUN: OPT %s -p 'lower-to-qdq{target=tensorrt}' | FILECHECK %s

// A residual edge gets a pair of its own, and the dequantize that it read has no other user: it is erased once.

// CHECK-LABEL: func.func @residual(
// CHECK: onnx.Add(
!x = !quant.uniform<i8:f32, 0.02>
func.func @residual(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!x>
  %r = quant.dcast %q : tensor<2x3x!x> to tensor<2x3xf32>
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!x>
  %s = quant.dcast %p : tensor<2x3x!x> to tensor<2x3xf32>
  %e = onnx.Exp(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %t = quant.dcast %p : tensor<2x3x!x> to tensor<2x3xf32>
  %a = onnx.Add(%r, %t) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %a, %e : tensor<2x3xf32>, tensor<2x3xf32>
}
