// RUN: OPT %s -p unroll | FILECHECK %s
// RUN: OPT %s -p 'unroll{steps=1}' | FILECHECK %s --check-prefix=FEW
// RUN: DIAGNOSTICS -p unroll

// FEW-LABEL: func.func @two_steps(
// FEW: onnx.Scan
// CHECK-LABEL: func.func @two_steps(
// CHECK-NEXT: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i64>>} : () -> tensor<i64>
// CHECK-NEXT: %[[V1:.*]] = onnx.Gather(%x, %[[V0]]) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: %sum = onnx.Add(%s, %[[V1]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.Gather(%x, %[[V2]]) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: %sum_1 = onnx.Add(%sum, %[[V3]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V4:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.Unsqueeze(%[[V1]], %[[V4]]) : (tensor<3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
// CHECK-NEXT: %[[V6:.*]] = onnx.Unsqueeze(%[[V3]], %[[V4]]) : (tensor<3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
// CHECK-NEXT: %all = onnx.Concat(%[[V5]], %[[V6]]) {axis = 0 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %sum_1, %all : tensor<3xf32>, tensor<2x3xf32>
func.func @two_steps(%s: tensor<3xf32>, %x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %last, %all = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} body {
  ^bb0(%state: tensor<3xf32>, %one: tensor<3xf32>):
    %sum = onnx.Add(%state, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%sum, %one) : (tensor<3xf32>, tensor<3xf32>) -> ()
  } : (tensor<3xf32>, tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  func.return %last, %all : tensor<3xf32>, tensor<2x3xf32>
}

// The last slice is the first step, and the first of what the steps make.
// CHECK-LABEL: func.func @backwards(
// CHECK-NEXT: %[[V0:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i64>>} : () -> tensor<i64>
// CHECK-NEXT: %[[V1:.*]] = onnx.Gather(%x, %[[V0]]) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: %sum = onnx.Sub(%s, %[[V1]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V2:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i64>>} : () -> tensor<i64>
// CHECK-NEXT: %[[V3:.*]] = onnx.Gather(%x, %[[V2]]) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<i64>) -> tensor<3xf32>
// CHECK-NEXT: %sum_1 = onnx.Sub(%sum, %[[V3]]) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V4:.*]] = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
// CHECK-NEXT: %[[V5:.*]] = onnx.Unsqueeze(%sum_1, %[[V4]]) : (tensor<3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
// CHECK-NEXT: %[[V6:.*]] = onnx.Unsqueeze(%sum, %[[V4]]) : (tensor<3xf32>, tensor<1xi64>) -> tensor<1x3xf32>
// CHECK-NEXT: %all = onnx.Concat(%[[V5]], %[[V6]]) {axis = 0 : i64} : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %sum_1, %all : tensor<3xf32>, tensor<2x3xf32>
func.func @backwards(%s: tensor<3xf32>, %x: tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>) {
  %last, %all = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64, scan_input_directions = array<i64: 1>, scan_output_directions = array<i64: 1>} body {
  ^bb0(%state: tensor<3xf32>, %one: tensor<3xf32>):
    %sum = onnx.Sub(%state, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%sum, %sum) : (tensor<3xf32>, tensor<3xf32>) -> ()
  } : (tensor<3xf32>, tensor<2x3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  func.return %last, %all : tensor<3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_steps(
// CHECK: %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} body {
func.func @unmoved_unknown_steps(%s: tensor<3xf32>, %x: tensor<?x3xf32>) -> tensor<3xf32> {
  // expected-remark@+1 {{the number of steps is not known [unroll: unknown-shape]}}
  %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} body {
  ^bb0(%state: tensor<3xf32>, %one: tensor<3xf32>):
    %sum = onnx.Add(%state, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%sum) : (tensor<3xf32>) -> ()
  } : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<3xf32>
  func.return %last : tensor<3xf32>
}

// CHECK-LABEL: func.func @unmoved_many_steps(
// CHECK: %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} body {
func.func @unmoved_many_steps(%s: tensor<3xf32>, %x: tensor<33x3xf32>) -> tensor<3xf32> {
  // expected-remark@+1 {{33 steps of 2 operations are too many [unroll: too-large]}}
  %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64} body {
  ^bb0(%state: tensor<3xf32>, %one: tensor<3xf32>):
    %sum = onnx.Add(%state, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%sum) : (tensor<3xf32>) -> ()
  } : (tensor<3xf32>, tensor<33x3xf32>) -> tensor<3xf32>
  func.return %last : tensor<3xf32>
}

// CHECK-LABEL: func.func @unmoved_other_axis(
// CHECK: %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>} body {
func.func @unmoved_other_axis(%s: tensor<3xf32>, %x: tensor<3x2xf32>) -> tensor<3xf32> {
  // expected-remark@+1 {{the steps are not along the first axis [unroll: weight-axis]}}
  %last = onnx.Scan(%s, %x) {num_scan_inputs = 1 : i64, scan_input_axes = array<i64: 1>} body {
  ^bb0(%state: tensor<3xf32>, %one: tensor<3xf32>):
    %sum = onnx.Add(%state, %one) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%sum) : (tensor<3xf32>) -> ()
  } : (tensor<3xf32>, tensor<3x2xf32>) -> tensor<3xf32>
  func.return %last : tensor<3xf32>
}

// CHECK-LABEL: func.func @unmoved_computed_steps(
// CHECK: onnx.Loop
func.func @unmoved_computed_steps(%n: tensor<i64>, %go: tensor<i1>, %s: tensor<3xf32>) -> tensor<3xf32> {
  // expected-remark@+1 {{the number of steps is computed at run time [unroll: computed-parameter]}}
  %last = onnx.Loop(%n, %go, %s) body {
  ^bb0(%k: tensor<i64>, %again: tensor<i1>, %state: tensor<3xf32>):
    %sum = onnx.Add(%state, %state) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    onnx.Yield(%again, %sum) : (tensor<i1>, tensor<3xf32>) -> ()
  } : (tensor<i64>, tensor<i1>, tensor<3xf32>) -> tensor<3xf32>
  func.return %last : tensor<3xf32>
}
