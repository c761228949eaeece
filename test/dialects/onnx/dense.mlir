// RUN: OPT %s | FILECHECK %s
// RUN: OPT %s --print-op-generic | OPT | FILECHECK %s

// MLIR's spelling of constants, in both forms of an op.

// CHECK-LABEL: func.func @constants(
func.func @constants() {
  // CHECK-NEXT: {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %0 = onnx.Constant() {value = dense<5.000000e-01> : tensor<f32>} : () -> tensor<f32>
  // CHECK-NEXT: #onnx.tensor<[1, -2, 3] : tensor<3xi64>>
  %1 = onnx.Constant() {value = dense<[1, -2, 3]> : tensor<3xi64>} : () -> tensor<3xi64>
  // CHECK-NEXT: #onnx.tensor<[7, 7, 7, 7, 7, 7] : tensor<2x3xui8>>
  %2 = onnx.Constant() {value = dense<7> : tensor<2x3xui8>} : () -> tensor<2x3xui8>
  // CHECK-NEXT: #onnx.tensor<[1, 0, 1] : tensor<3xi1>>
  %3 = onnx.Constant() {value = dense<[true, false, true]> : tensor<3xi1>} : () -> tensor<3xi1>
  // CHECK-NEXT: #onnx.tensor<[1.5, -2.0] : tensor<2xf16>>
  %4 = onnx.Constant() {value = dense<[1.5, -2.0]> : tensor<2xf16>} : () -> tensor<2xf16>
  // CHECK-NEXT: #onnx.tensor<[1.5, -2.0] : tensor<2xbf16>>
  %5 = onnx.Constant() {value = dense<[1.5, -2.0]> : tensor<2xbf16>} : () -> tensor<2xbf16>
  // CHECK-NEXT: #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>
  %6 = "onnx.Constant"() <{value = dense<"0x0000803F00000040"> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK-NEXT: #onnx.tensor<[] : tensor<0xf32>>
  %7 = onnx.Constant() {value = dense<> : tensor<0xf32>} : () -> tensor<0xf32>
  // CHECK-NEXT: #onnx.tensor<[1, -2, 7] : tensor<3xi4>>
  %8 = onnx.Constant() {value = dense<[1, -2, 7]> : tensor<3xi4>} : () -> tensor<3xi4>
  func.return
}
