// RUN: DIAGNOSTICS

func.func @elements() {
  // expected-error@+1 {{expected a tensor of ONNX elements, got tensor<2xindex>}}
  %0 = onnx.Constant() {value = dense<[1, 2]> : tensor<2xindex>} : () -> tensor<2xi64>
  func.return
}

// -----

func.func @bits() {
  // expected-error@+1 {{MLIR takes such a number for bits; write all of them, dense<"0x...">}}
  %0 = onnx.Constant() {value = dense<[0x7FC00000]> : tensor<1xf32>} : () -> tensor<1xf32>
  func.return
}

// -----

func.func @kind() {
  // expected-error@+1 {{attribute 'value' is TENSOR, got 5.000000e-01 : f32; write #onnx.tensor<[0.5] : tensor<1xf32>> or dense<0.5> : tensor<1xf32>}}
  %0 = onnx.Constant() {value = 0.5 : f32} : () -> tensor<f32>
  func.return
}
