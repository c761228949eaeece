// RUN: DIAGNOSTICS

// Ids: docs/spec.md. A module without opset imports is read by the newest version of each operator.

// O1
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @too_old(%x: tensor<2xf32>, %s: tensor<f32>) {
    // expected-error@+1 {{'onnx.QuantizeLinear' op: opset 9 has no QuantizeLinear; it came with 10}}
    %q = onnx.QuantizeLinear(%x, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xui8>
    func.return
  }
}

// -----

// O2
func.func @too_few(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected 2 inputs, got 1}}
  %y = onnx.Add(%x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// O2
func.func @too_many(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected 1 to 3 inputs, got 4}}
  %y = onnx.Clip(%x, _, _, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// O2
func.func @too_many_results(%x: tensor<2xf32>) {
  // expected-error@+1 {{expected 1 outputs, got 2}}
  %y, %z = onnx.Relu(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  func.return
}

// -----

// O2: an input in opset 13 that was an attribute before
builtin.module attributes {onnx.opset_import = {ai.onnx = 12 : i64}} {
  func.func @axes_as_input(%x: tensor<1x2xf32>, %a: tensor<1xi64>) {
    // expected-error@+1 {{expected 1 inputs, got 2}}
    %y = onnx.Squeeze(%x, %a) : (tensor<1x2xf32>, tensor<1xi64>) -> tensor<2xf32>
    func.return
  }
}

// -----

// O3: the attribute of opset 12 is an input in 13
builtin.module attributes {onnx.opset_import = {ai.onnx = 13 : i64}} {
  func.func @axes_as_attribute(%x: tensor<1x2xf32>) {
    // expected-error@+1 {{opset has no attribute 'axes' for Squeeze-13}}
    %y = onnx.Squeeze(%x) {axes = array<i64: 0>} : (tensor<1x2xf32>) -> tensor<2xf32>
    func.return
  }
}

// -----

// O4
func.func @kind(%x: tensor<2xf32>) {
  // expected-error@+1 {{attribute 'axis' is INT, got 1.000000e+00 : f32}}
  %y = onnx.Softmax(%x) {axis = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// O5
func.func @required_attribute(%x: tensor<2xf32>) {
  // expected-error@+1 {{attribute 'to' is required}}
  %y = onnx.Cast(%x) : (tensor<2xf32>) -> tensor<2xi64>
  func.return
}

// -----

// O6
func.func @required_input(%x: tensor<2xf32>) {
  // expected-error@+1 {{input 'A' is required}}
  %y = onnx.Add(_, %x) : (tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

// O7
func.func @type(%x: tensor<2xi64>) {
  // expected-error@+1 {{input 'X' cannot be tensor(int64)}}
  %y = onnx.Sigmoid(%x) : (tensor<2xi64>) -> tensor<2xi64>
  func.return
}

// -----

// O7: a version later, the type is allowed
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @type_of_opset(%x: tensor<1x1x4x4xui8>) {
    // expected-error@+1 {{input 'X' cannot be tensor(uint8)}}
    %y = onnx.MaxPool(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xui8>) -> tensor<1x1x3x3xui8>
    func.return
  }
}

// -----

// O7: a quantized element counts as the float that it expresses
func.func @type_of_quantized(%x: tensor<2x!quant.uniform<u8:f32, 0.02:13>>) {
  // expected-error@+1 {{input 'X' cannot be tensor(float)}}
  %y = onnx.Not(%x) : (tensor<2x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2xi1>
  func.return
}

// -----

// O8
func.func @two_types(%x: tensor<2xf32>, %y: tensor<2xf16>) {
  // expected-error@+1 {{input 'B' is f16, but another of type T is f32}}
  %z = onnx.Add(%x, %y) : (tensor<2xf32>, tensor<2xf16>) -> tensor<2xf32>
  func.return
}

// -----

// O8
func.func @result_type(%x: tensor<2xf32>) {
  // expected-error@+1 {{output 'Y' is f16, but another of type T is f32}}
  %z = onnx.Relu(%x) : (tensor<2xf32>) -> tensor<2xf16>
  func.return
}

// -----

// O9
func.func @constant() {
  // expected-error@+1 {{a value of tensor<2xi8> cannot be stored as tensor<3xi8>}}
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi8>>} : () -> tensor<3xi8>
  func.return
}

// -----

// O9
func.func @quantized_constant() {
  // expected-error@+1 {{a value of tensor<2xi8> cannot be stored as tensor<2x!quant.uniform<u8:f32, 0.02:13>>}}
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi8>>} : () -> tensor<2x!quant.uniform<u8:f32, 0.02:13>>
  func.return
}

// -----

// O10
func.func @weight_axis(%x: tensor<4x2xf32>, %w: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25}>>) {
  // expected-error@+1 {{the weight's scales do not run along its output channels}}
  %y = onnx.Gemm(%x, %w) : (tensor<4x2xf32>, tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25}>>) -> tensor<4x3xf32>
  func.return
}

// -----

// O11
func.func @bias_alone(%x: tensor<4x2xf32>, %w: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<3x!quant.uniform<i32:f32, 0.01>>) {
  // expected-error@+1 {{the bias is quantized but its operands are not, per tensor and per channel}}
  %y = onnx.Gemm(%x, %w, %b) : (tensor<4x2xf32>, tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x!quant.uniform<i32:f32, 0.01>>) -> tensor<4x3xf32>
  func.return
}

// -----

// O12
func.func @bias_scale(%x: tensor<4x2x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<3x!quant.uniform<i32:f32, 0.02>>) {
  // expected-error@+1 {{the bias is not in steps of x_scale * w_scale}}
  %y = onnx.Gemm(%x, %w, %b) : (tensor<4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x!quant.uniform<i32:f32, 0.02>>) -> tensor<4x3xf32>
  func.return
}

// -----

// O12: a zero point
func.func @bias_zero_point(%x: tensor<4x2x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<3x!quant.uniform<i32:f32, 0.01:1>>) {
  // expected-error@+1 {{the bias is not in steps of x_scale * w_scale}}
  %y = onnx.Gemm(%x, %w, %b) : (tensor<4x2x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x3x!quant.uniform<i8:f32, 0.5:3>>, tensor<3x!quant.uniform<i32:f32, 0.01:1>>) -> tensor<4x3xf32>
  func.return
}

// -----

// O12: a group's scales, each channel's biases
func.func @grouped_bias(%x: tensor<1x4x5x5x!quant.uniform<u8:f32, 0.02:13>>, %w: tensor<4x2x3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>, %b: tensor<4x!quant.uniform<i32:f32:0, {0.01,0.005,0.01,0.005}>>) {
  // expected-error@+1 {{the bias is not in steps of x_scale * w_scale}}
  %y = onnx.ConvTranspose(%x, %w, %b) {group = 2 : i64} : (tensor<1x4x5x5x!quant.uniform<u8:f32, 0.02:13>>, tensor<4x2x3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25}>>, tensor<4x!quant.uniform<i32:f32:0, {0.01,0.005,0.01,0.005}>>) -> tensor<1x4x7x7xf32>
  func.return
}

// -----

// C18 holds for every op that takes a quantized tensor
func.func @scale_count(%x: tensor<3x2x!quant.uniform<u8:f32:0, {0.5:3,0.25}>>) {
  // expected-error@+1 {{quantized dimension size does not match number of scales: axis 0 has size 3, 2 scales}}
  %y = onnx.Relu(%x) : (tensor<3x2x!quant.uniform<u8:f32:0, {0.5:3,0.25}>>) -> tensor<3x2xf32>
  func.return
}

// -----

// Text: a constant that was left out
// expected-error@+1 {{elided}}
%c = onnx.Constant() {value = #onnx.tensor<elided : tensor<100xi8>>} : () -> tensor<100xi8>

// -----

// Text: another number of values
// expected-error@+1 {{3 values for tensor<2xi8>}}
%c = onnx.Constant() {value = #onnx.tensor<[1, 2, 3] : tensor<2xi8>>} : () -> tensor<2xi8>

// -----

// Text: another number of bytes
// expected-error@+1 {{3 bytes for tensor<2xi8>, which takes 2}}
%c = onnx.Constant() {value = #onnx.tensor<"0x010203" : tensor<2xi8>>} : () -> tensor<2xi8>

// -----

// Text: sizes that are not known
// expected-error@+1 {{a constant's sizes are known, got tensor<?xi8>}}
%c = onnx.Constant() {value = #onnx.tensor<"0x01" : tensor<?xi8>>} : () -> tensor<?xi8>

// -----

// Text: elements that ONNX has not
// expected-error@+1 {{expected a tensor of ONNX elements, got tensor<1xindex>}}
%c = onnx.Constant() {value = #onnx.tensor<"0x01" : tensor<1xindex>>} : () -> tensor<1xindex>

// -----

// Text: strings that end too early
// expected-error@+1 {{expected 2 strings}}
%c = onnx.Constant() {value = #onnx.tensor<"0x0100000068" : tensor<2x!onnx.string>>} : () -> tensor<2x!onnx.string>

// -----

// Text: letters that are no hex digits
// expected-error@+1 {{expected hex digits}}
%c = onnx.Constant() {value = #onnx.tensor<"0xZZ" : tensor<1xi8>>} : () -> tensor<1xi8>

// -----

// Text: a number that the type does not hold
// expected-error@+1 {{300 is no value of type int8}}
%c = onnx.Constant() {value = #onnx.tensor<[300] : tensor<1xi8>>} : () -> tensor<1xi8>

// -----

// Text: a fraction
// expected-error@+1 {{1.5 is no value of type uint8}}
%c = onnx.Constant() {value = #onnx.tensor<[1.5] : tensor<1xui8>>} : () -> tensor<1xui8>

// -----

// Text: a weights file without a folder that it could be in
// expected-error@+1 {{no-such.weights}}
%c = onnx.Constant() {value = #onnx.tensor<"no-such.weights"[0, 100] : tensor<100xi8>>} : () -> tensor<100xi8>

// -----

// Text: an operator that ONNX has not
// expected-error@+1 {{operation 'onnx.Convolve' is not known; did you mean 'Conv'?}}
%c = onnx.Convolve() : () -> tensor<1xi8>

// -----

// O13
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // expected-error@+1 {{'onnx.Transpose' op: perm [0, 0] is no permutation of 2 axes}}
  %y = onnx.Transpose(%x) {perm = array<i64: 0, 0>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  func.return %y : tensor<4x5xf32>
}

// -----

// O13: of a tensor of unknown rank
func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error@+1 {{perm [1, 2] is no permutation}}
  %y = onnx.Transpose(%x) {perm = array<i64: 1, 2>} : (tensor<*xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// -----

// O14
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'onnx.Relu' op: takes a value that is not there yet where it stands}}
  %y = onnx.Relu(%y) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

// O14: made behind
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'onnx.Add' op: takes a value that is not there yet where it stands}}
  %y = onnx.Add(%x, %z) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %z = onnx.Neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
