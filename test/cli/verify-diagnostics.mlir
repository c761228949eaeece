// RUN: DIAGNOSTICS
// RUN: not OPT %s --verify-diagnostics -p unknown

// An error of the verifier, at its op.

func.func @wrong_input_count(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'onnx.Relu' op: expected 1 inputs, got 2}}
  %y = onnx.Relu(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

// An error of the parser, on the line above the comment.

func.func @unknown_op() {
  onnx.NoSuchOp() : () -> ()
  // expected-error@-1 {{operation 'onnx.NoSuchOp' is not known}}
  func.return
}

// -----

// A pattern; comments in a row speak of one line.

// expected-error-re@below {{scale {{.*}} out of expressed type range}}
func.func @bad_scale(%x: tensor<2x!quant.uniform<i8:f32, 0.0:3>>) {
  func.return
}

// -----

// An error on the line of the comment itself.

func.func @unknown_attribute(%x: tensor<2x3xf32>) {
  %y = onnx.Relu(%x) {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32> // expected-error {{axis}}
  func.return
}

// -----

// Nothing is expected, nothing happens.

func.func @valid(%x: tensor<2x3xf32>) {
  func.return
}
