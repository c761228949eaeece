// RUN: not DIAGNOSTICS 2>&1 | FILECHECK %s

// What is expected must occur, and what occurs must be expected; all of it is told, at its line, and no IR is printed.

// CHECK-NOT: func.func
// CHECK:     unmet-diagnostics.mlir:11: error: expected error "something else" was not produced
// CHECK-NEXT: unmet-diagnostics.mlir:19:3: error: unexpected error: 'onnx.Relu' op: expected 1 inputs, got 2
// CHECK-NEXT: unmet-diagnostics.mlir:26: error: expected error "got 2" was not produced
// CHECK-NOT: {{.}}
func.func @never() {
  // expected-error@+1 {{something else}}
  func.return
}

// -----

// It occurs and nobody expects it.
func.func @unexpected(%x: tensor<2x3xf32>) {
  %y = onnx.Relu(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @once(%x: tensor<2x3xf32>) {
  // expected-error@+1 2 {{got 2}}
  %y = onnx.Relu(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}
