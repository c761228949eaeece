// RUN: OPT %s -p raise-opset | FILECHECK %s
// RUN: DIAGNOSTICS -p raise-opset

// Attributes that became operands; a row that was several axes is flattened, one that was one axis is it.

// CHECK: builtin.module attributes {onnx.ir_version = 7 : i64, onnx.opset_import = {ai.onnx = 13 : i64}}
// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi64>>}
// CHECK-NEXT: %[[U:.*]] = onnx.Unsqueeze(%x, %[[A]]) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1x3xf32>
// CHECK-NEXT: %[[F:.*]] = onnx.Flatten(%[[U]]) {axis = 0 : i64} : (tensor<2x1x3xf32>) -> tensor<1x6xf32>
// CHECK-NEXT: %[[S:.*]] = onnx.Softmax(%[[F]]) {axis = 1 : i64}
// CHECK-NEXT: %[[N:.*]] = onnx.Shape(%[[U]])
// CHECK-NEXT: %[[R:.*]] = onnx.Reshape(%[[S]], %[[N]]) : {{.*}} -> tensor<2x1x3xf32>
// CHECK-NEXT: onnx.Softmax(%[[R]]) {axis = 2 : i64}
builtin.module attributes {onnx.ir_version = 5 : i64, onnx.opset_import = {ai.onnx = 12 : i64}} {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<2x1x3xf32> {
    %u = onnx.Unsqueeze(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %s = onnx.Softmax(%u) {axis = 0 : i64} : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
    %t = onnx.Softmax(%s) : (tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
    func.return %t : tensor<2x1x3xf32>
  }
}

// -----

// Nothing moves: one op has no form in opset 13, so none is changed.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}}
// CHECK-LABEL: func.func @unmoved_other_opset(
// CHECK: onnx.Unsqueeze(%x) {axes = array<i64: 1>}
// CHECK-NEXT: onnx.Scatter
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @unmoved_other_opset(%x: tensor<2x3xf32>, %k: tensor<2x1x3xi64>) -> tensor<2x1x3xf32> {
    %u = onnx.Unsqueeze(%x) {axes = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    // expected-remark@+1 {{onnx.Scatter 'onnx.Scatter': the model stays in opset 9: opset 13 has no Scatter [raise-opset: other-opset]}}
    %y = onnx.Scatter(%u, %k, %u) : (tensor<2x1x3xf32>, tensor<2x1x3xi64>, tensor<2x1x3xf32>) -> tensor<2x1x3xf32>
    func.return %y : tensor<2x1x3xf32>
  }
}

// -----

// CHECK-LABEL: func.func @unmoved_old_resize(
// CHECK: onnx.Resize(%x, %{{.*}}) : (tensor<4xf32>, tensor<1xf32>)
builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {
  func.func @unmoved_old_resize(%x: tensor<4xf32>) -> tensor<2xf32> {
    %k = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf32>>} : () -> tensor<1xf32>
    // expected-remark@+1 {{opset 10 leaves open which pixel a Resize to less of them takes [raise-opset: old-resize]}}
    %y = onnx.Resize(%x, %k) : (tensor<4xf32>, tensor<1xf32>) -> tensor<2xf32>
    func.return %y : tensor<2xf32>
  }
}

// -----

// CHECK-LABEL: func.func @unmoved_dropout_mask(
// CHECK: onnx.Dropout(%x, _, _) {ratio = 
builtin.module attributes {onnx.opset_import = {ai.onnx = 10 : i64}} {
  func.func @unmoved_dropout_mask(%x: tensor<4xf32>) -> tensor<4xi1> {
    // expected-remark@+1 {{[raise-opset: dropout-mask]}}
    %y, %m = onnx.Dropout(%x) {ratio = 0.25 : f32} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
    func.return %m : tensor<4xi1>
  }
}

// -----

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.Softmax(%x) {axis = 1 : i64} : (tensor<*xf32>)
builtin.module attributes {onnx.opset_import = {ai.onnx = 11 : i64}} {
  func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
    // expected-remark@+1 {{[raise-opset: unknown-rank]}}
    %y = onnx.Softmax(%x) {axis = 1 : i64} : (tensor<*xf32>) -> tensor<*xf32>
    func.return %y : tensor<*xf32>
  }
}

// -----

// CHECK-LABEL: func.func @unmoved_model_functions(
// CHECK: onnx.ReduceSum(%x, _) {axes = array<i64: 0>}
builtin.module attributes {onnx.opset_import = {ai.onnx = 12 : i64}} {
  func.func @unmoved_model_functions(%x: tensor<4xf32>) -> tensor<1xf32> {
    %y = onnx.ReduceSum(%x) {axes = array<i64: 0>} : (tensor<4xf32>) -> tensor<1xf32>
    func.return %y : tensor<1xf32>
  }
  // expected-remark@+1 {{the model has functions of its own, which keep their opset [raise-opset: model-functions]}}
  "onnx.Function"() <{domain = "d", function_name = "f", onnx.opset_import = {ai.onnx = 12 : i64}}> ({
  ^bb0(%a: tensor<*x!onnx.any>):
    "onnx.Yield"(%a) : (tensor<*x!onnx.any>) -> ()
  }) : () -> ()
}

// -----

// Nothing to do: the opset is newer.

// CHECK: builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}}
// CHECK-LABEL: func.func @unchanged(
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = onnx.Softmax(%x) {axis = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
    func.return %y : tensor<4xf32>
  }
}

// -----

// An op of the first opsets, which onnxruntime runs and ONNX has no more: 2 at the left, 1 at the top, 0, 3 at the end.

// CHECK-LABEL: func.func @crop(
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>}
// CHECK: %[[E:.*]] = onnx.Constant() {value = #onnx.tensor<[-3, 9223372036854775807] : tensor<2xi64>>}
// CHECK: %[[A:.*]] = onnx.Constant() {value = #onnx.tensor<[2, 3] : tensor<2xi64>>}
// CHECK: onnx.Slice(%x, %[[B]], %[[E]], %[[A]], _) : {{.*}} -> tensor<1x2x5x5xf32>
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @crop(%x: tensor<1x2x9x7xf32>) -> tensor<1x2x5x5xf32> {
    %a = onnx.Custom(%x) {domain = "", op_type = "Crop", attrs = {border = array<i64: 2, 1, 0, 3>}} : (tensor<1x2x9x7xf32>) -> tensor<1x2x5x5xf32>
    func.return %a : tensor<1x2x5x5xf32>
  }
}

// -----

// CHECK-LABEL: func.func @upsample(
// CHECK: %[[R:.*]] = onnx.Constant() {value = #onnx.tensor<[] : tensor<0xf32>>}
// CHECK-NEXT: onnx.Resize(%x, %[[R]], %s, _) {mode = "linear", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"}
builtin.module attributes {onnx.opset_import = {ai.onnx = 9 : i64}} {
  func.func @upsample(%x: tensor<1x2x3x4xf32>) -> tensor<1x2x6x4xf32> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 1.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %a = onnx.Upsample(%x, %s) {mode = "linear"} : (tensor<1x2x3x4xf32>, tensor<4xf32>) -> tensor<1x2x6x4xf32>
    func.return %a : tensor<1x2x6x4xf32>
  }
}
