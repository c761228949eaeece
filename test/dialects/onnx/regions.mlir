// RUN: ROUNDTRIP

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {

// Branches see the values around them.

// CHECK-LABEL: func.func @if(
// CHECK: %[[Y:.*]] = onnx.If(%p) then_branch {
// CHECK-NEXT: %[[A:.*]] = onnx.Neg(%x)
// CHECK-NEXT: onnx.Yield(%[[A]]) : (tensor<2xf32>) -> ()
// CHECK-NEXT: } else_branch {
// CHECK-NEXT: onnx.Yield(%x) : (tensor<2xf32>) -> ()
// CHECK-NEXT: } : (tensor<i1>) -> tensor<2xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @if(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.If(%p) then_branch {
    %a = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  } else_branch {
    onnx.Yield(%x) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// A loop in a branch: arguments of its own, values of two graphs around it, an attribute besides.

// CHECK-LABEL: func.func @nested(
// CHECK: onnx.If(%p) then_branch {
// CHECK: %[[N:.*]] = onnx.Neg(%x)
// CHECK: %[[Y:.*]], %[[S:.*]] = onnx.Loop(%n, _, %[[N]]) body {
// CHECK-NEXT: ^{{.*}}(%[[I:.*]]: tensor<i64>, %[[K:.*]]: tensor<i1>, %[[V:.*]]: tensor<2xf32>):
// CHECK-NEXT: %[[A:.*]] = onnx.Sum(%[[V]], %x, %[[N]])
// CHECK-NEXT: onnx.Yield(%[[K]], %[[A]], %[[A]])
// CHECK-NEXT: } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
// CHECK: onnx.Scan(%[[S]]) {num_scan_inputs = 1 : i64} body {
func.func @nested(%p: tensor<i1>, %n: tensor<i64>, %x: tensor<2xf32>) -> tensor<?x2xf32> {
  %r = onnx.If(%p) then_branch {
    %m = onnx.Neg(%x) : (tensor<2xf32>) -> tensor<2xf32>
    %y, %s = onnx.Loop(%n, _, %m) body {
    ^bb0(%i: tensor<i64>, %k: tensor<i1>, %v: tensor<2xf32>):
      %a = onnx.Sum(%v, %x, %m) : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield(%k, %a, %a) : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> ()
    } : (tensor<i64>, tensor<2xf32>) -> (tensor<2xf32>, tensor<?x2xf32>)
    %t = onnx.Scan(%s) {num_scan_inputs = 1 : i64} body {
    ^bb0(%e: tensor<2xf32>):
      %f = onnx.Exp(%e) : (tensor<2xf32>) -> tensor<2xf32>
      onnx.Yield(%f) : (tensor<2xf32>) -> ()
    } : (tensor<?x2xf32>) -> tensor<?x2xf32>
    onnx.Yield(%t) : (tensor<?x2xf32>) -> ()
  } else_branch {
    %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<1xi64>>} : () -> tensor<1xi64>
    %u = onnx.Unsqueeze(%x, %c) : (tensor<2xf32>, tensor<1xi64>) -> tensor<?x2xf32>
    onnx.Yield(%u) : (tensor<?x2xf32>) -> ()
  } : (tensor<i1>) -> tensor<?x2xf32>
  func.return %r : tensor<?x2xf32>
}

// A model-local function, in generic form: no types, its own opsets, a body that refers to its attributes.

// CHECK: "onnx.Function"() <{domain = "my", sym_name = "Leak", overload = "", inputs = ["x"], outputs = ["y"], attribute_names = ["a"], attribute_defaults = {b = 2 : i64}, onnx.opset_import = {ai.onnx = 16 : i64}}> ({
// CHECK-NEXT: ^{{.*}}(%[[X:.*]]: tensor<*x!onnx.any>):
// CHECK-NEXT: %[[Y:.*]] = onnx.LeakyRelu(%[[X]]) {alpha = #onnx.reference<"a", #builtin.int<1>>}
// CHECK-NEXT: onnx.Yield(%[[Y]])
// CHECK: func.func @call(
// CHECK: onnx.Custom(%x) {domain = "my", op_type = "Leak", attrs = {a = 5.000000e-01 : f32}}
"onnx.Function"() <{domain = "my", sym_name = "Leak", overload = "", inputs = ["x"], outputs = ["y"], attribute_names = ["a"], attribute_defaults = {b = 2 : i64}, onnx.opset_import = {ai.onnx = 16 : i64}}> ({
^bb0(%x: tensor<*x!onnx.any>):
  %y = onnx.LeakyRelu(%x) {alpha = #onnx.reference<"a", #builtin.int<1>>} : (tensor<*x!onnx.any>) -> tensor<*x!onnx.any>
  onnx.Yield(%y) : (tensor<*x!onnx.any>) -> ()
}) : () -> ()
func.func @call(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.Custom(%x) {domain = "my", op_type = "Leak", attrs = {a = 0.5 : f32}} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

}
