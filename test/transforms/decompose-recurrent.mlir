// RUN: OPT %s -p 'decompose{ops=LSTM,GRU,RNN}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'decompose{ops=LSTM,GRU,RNN}'

// 5 steps of 3 sequences with 4 inputs, 2 hidden: the input of all steps in one product, the state's in the loop.

// CHECK-LABEL: func.func @lstm(
// CHECK: %[[W:.*]] = onnx.Transpose(%{{.*}}) {perm = array<i64: 1, 0>} : (tensor<8x4xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%x, %[[W]]) : (tensor<5x3x4xf32>, tensor<4x8xf32>) -> tensor<5x3x8xf32>
// CHECK: %[[X:.*]] = onnx.Add(%[[P]], %{{.*}}) : (tensor<5x3x8xf32>, tensor<8xf32>) -> tensor<5x3x8xf32>
// CHECK: %[[R:.*]] = onnx.Transpose(%{{.*}}) {perm = array<i64: 1, 0>} : (tensor<8x2xf32>) -> tensor<2x8xf32>
// CHECK: %[[H0:.*]] = onnx.Constant()
// CHECK-NEXT: %{{.*}}, %{{.*}}, %[[Y:.*]] = onnx.Scan(%[[H0]], %[[H0]], %[[X]]) {num_scan_inputs = 1 : i64} body {
// CHECK-NEXT: ^bb0(%[[H:.*]]: tensor<3x2xf32>, %[[C:.*]]: tensor<3x2xf32>, %[[XT:.*]]: tensor<3x8xf32>):
// CHECK-NEXT: %[[HR:.*]] = onnx.MatMul(%[[H]], %[[R]]) : (tensor<3x2xf32>, tensor<2x8xf32>) -> tensor<3x8xf32>
// CHECK-NEXT: %[[G:.*]] = onnx.Add(%[[XT]], %[[HR]])
// CHECK-NEXT: %[[I:.*]], %[[O:.*]], %[[F:.*]], %[[N:.*]] = onnx.Split(%[[G]], _) {axis = 1 : i64}
// CHECK-NEXT: %[[SI:.*]] = onnx.Sigmoid(%[[I]])
// CHECK-NEXT: %[[SF:.*]] = onnx.Sigmoid(%[[F]])
// CHECK-NEXT: %[[TN:.*]] = onnx.Tanh(%[[N]])
// CHECK-NEXT: %[[KEPT:.*]] = onnx.Mul(%[[SF]], %[[C]])
// CHECK-NEXT: %[[NEW:.*]] = onnx.Mul(%[[SI]], %[[TN]])
// CHECK-NEXT: %[[C1:.*]] = onnx.Add(%[[KEPT]], %[[NEW]])
// CHECK-NEXT: %[[TC:.*]] = onnx.Tanh(%[[C1]])
// CHECK-NEXT: %[[SO:.*]] = onnx.Sigmoid(%[[O]])
// CHECK-NEXT: %[[H1:.*]] = onnx.Mul(%[[SO]], %[[TC]])
// CHECK-NEXT: onnx.Yield(%[[H1]], %[[C1]], %[[H1]])
// CHECK: onnx.Unsqueeze(%[[Y]], %{{.*}}) : (tensor<5x3x2xf32>, tensor<1xi64>) -> tensor<5x1x3x2xf32>
func.func @lstm(%x: tensor<5x3x4xf32>, %w: tensor<1x8x4xf32>, %r: tensor<1x8x2xf32>, %b: tensor<1x16xf32>) -> tensor<5x1x3x2xf32> {
  %y = onnx.LSTM(%x, %w, %r, %b) {hidden_size = 2 : i64} : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>, tensor<1x16xf32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// Of an unknown number of sequences, the state begins as zeros of sizes that are computed.

// CHECK-LABEL: func.func @open_batch(
// CHECK: %[[S:.*]] = onnx.Concat(%{{.*}}) {axis = 0 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
// CHECK: onnx.ConstantOfShape(%[[S]]) : (tensor<2xi64>) -> tensor<?x2xf32>
func.func @open_batch(%x: tensor<5x?x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<5x1x?x2xf32> {
  %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x?x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> tensor<5x1x?x2xf32>
  func.return %y : tensor<5x1x?x2xf32>
}

// A reset gate in front of the product: r * h is an operand of its own. Two directions share a loop.

// CHECK-LABEL: func.func @gru(
// CHECK: onnx.MatMul(%x, %{{.*}}) : (tensor<5x3x4xf32>, tensor<4x12xf32>) -> tensor<5x3x12xf32>
// CHECK: onnx.Scan({{.*}}) {num_scan_inputs = 2 : i64, scan_input_directions = array<i64: 0, 1>, scan_output_directions = array<i64: 0, 1>}
// CHECK: onnx.MatMul({{.*}}) : (tensor<3x2xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>
// CHECK: %[[RH:.*]] = onnx.Mul(
// CHECK-NEXT: onnx.MatMul(%[[RH]], %{{.*}}) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
// CHECK: onnx.Yield(
func.func @gru(%x: tensor<5x3x4xf32>, %w: tensor<2x6x4xf32>, %r: tensor<2x6x2xf32>) -> tensor<5x2x3x2xf32> {
  %y = onnx.GRU(%x, %w, %r) {hidden_size = 2 : i64, direction = "bidirectional"} : (tensor<5x3x4xf32>, tensor<2x6x4xf32>, tensor<2x6x2xf32>) -> tensor<5x2x3x2xf32>
  func.return %y : tensor<5x2x3x2xf32>
}

// Sequences of several lengths: states stand still behind the end, what is read backwards is turned around before.

// CHECK-LABEL: func.func @lengths(
// CHECK: %[[X:.*]] = onnx.ReverseSequence({{.*}}) {time_axis = 0 : i64, batch_axis = 1 : i64}
// CHECK: %[[L:.*]] = onnx.Less(
// CHECK: %[[M:.*]] = onnx.Unsqueeze(%[[L]], %{{.*}}) : (tensor<5x3xi1>, tensor<1xi64>) -> tensor<5x3x1xi1>
// CHECK: onnx.Scan(%{{.*}}, %[[X]], %[[M]]) {num_scan_inputs = 2 : i64}
// CHECK: onnx.Where(
// CHECK: onnx.Where(
// CHECK: onnx.Yield(
func.func @lengths(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>, %n: tensor<3xi32>) -> tensor<5x1x3x2xf32> {
  %y = onnx.RNN(%x, %w, %r, _, %n) {hidden_size = 2 : i64, direction = "reverse"} : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, tensor<3xi32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_peepholes(
// CHECK: onnx.LSTM(
func.func @unmoved_peepholes(%x: tensor<5x3x4xf32>, %w: tensor<1x8x4xf32>, %r: tensor<1x8x2xf32>, %p: tensor<1x6xf32>) -> tensor<5x1x3x2xf32> {
  // expected-remark@+1 {{the LSTM has peephole weights; export without peepholes [decompose: recurrent-form]}}
  %y = onnx.LSTM(%x, %w, %r, _, _, _, _, %p) {hidden_size = 2 : i64} : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>, tensor<1x6xf32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_element_type(
// CHECK: onnx.RNN(
func.func @unmoved_element_type(%x: tensor<5x3x4xf16>, %w: tensor<1x2x4xf16>, %r: tensor<1x2x2xf16>) -> tensor<5x1x3x2xf16> {
  // expected-remark@+1 {{only RNN in f32 is decomposed [decompose: expressed-type]}}
  %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x3x4xf16>, tensor<1x2x4xf16>, tensor<1x2x2xf16>) -> tensor<5x1x3x2xf16>
  func.return %y : tensor<5x1x3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.RNN(
func.func @unmoved_unknown_rank(%x: tensor<*xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<*xf32> {
  // expected-remark@+1 {{[decompose: unknown-shape]}}
  %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<*xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_sizes(
// CHECK: onnx.RNN(
func.func @unmoved_unknown_sizes(%x: tensor<5x3x4xf32>, %w: tensor<1x?x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32> {
  // expected-remark@+1 {{the sizes of the weights are not known [decompose: unknown-shape]}}
  %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x3x4xf32>, tensor<1x?x4xf32>, tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_weight_shape(
// CHECK: onnx.GRU(
func.func @unmoved_weight_shape(%x: tensor<5x3x4xf32>, %w: tensor<1x8x4xf32>, %r: tensor<1x8x2xf32>) -> tensor<5x1x3x2xf32> {
  // expected-remark@+1 {{a recurrent weight of (1, 8, 2) does not have one part for each gate; check the model [decompose: invalid-op]}}
  %y = onnx.GRU(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_activations(
// CHECK: onnx.RNN(
func.func @unmoved_activations(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32> {
  // expected-remark@+1 {{'Mish' is not an activation function of ONNX; check the model [decompose: recurrent-form]}}
  %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64, activations = ["Mish"]} : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32>
  func.return %y : tensor<5x1x3x2xf32>
}

// -----

builtin.module attributes {onnx.opset_import = {ai.onnx = 8 : i64}} {
// CHECK-LABEL: func.func @unmoved_opset(
// CHECK: onnx.RNN(
  func.func @unmoved_opset(%x: tensor<5x3x4xf32>, %w: tensor<1x2x4xf32>, %r: tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32> {
    // expected-remark@+1 {{Scan over steps needs opset 9; raise the model's opset [decompose: opset]}}
    %y = onnx.RNN(%x, %w, %r) {hidden_size = 2 : i64} : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) -> tensor<5x1x3x2xf32>
    func.return %y : tensor<5x1x3x2xf32>
  }
}
