// RUN: OPT %s -p fold-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p fold-constants

// The branch that runs stands alone; what only the other took goes.

// CHECK-LABEL: func.func @chosen(
// CHECK-NEXT: %[[A:.*]] = onnx.Neg(%x)
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%[[A]])
// CHECK-NEXT: func.return %[[Y]], %[[A]]
func.func @chosen(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[0] : tensor<i1>>} : () -> tensor<i1>
  %a = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Exp(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y, %z = onnx.If(%c) then_branch {
    %r = onnx.Abs(%b) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%r, %b) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  } else_branch {
    %r = onnx.Relu(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%r, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  } : (tensor<i1>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  func.return %y, %z : tensor<2x3xf32>, tensor<2x3xf32>
}

// One in another; its shape is the branch's.

// CHECK-LABEL: func.func @nested(
// CHECK-NEXT: %[[Y:.*]] = onnx.Relu(%x)
// CHECK-NEXT: func.return %[[Y]] : tensor<2x3xf32>
func.func @nested(%x: tensor<2x3xf32>) -> tensor<*xf32> {
  %c = onnx.Constant() {value = #onnx.tensor<[1] : tensor<1xi1>>} : () -> tensor<1xi1>
  %y = onnx.If(%c) then_branch {
    %r = onnx.If(%c) then_branch {
      %s = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      onnx.Yield(%s) : (tensor<2x3xf32>) -> ()
    } else_branch {
      %s = onnx.Abs(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
      onnx.Yield(%s) : (tensor<2x3xf32>) -> ()
    } : (tensor<1xi1>) -> tensor<*xf32>
    onnx.Yield(%r) : (tensor<*xf32>) -> ()
  } else_branch {
    onnx.Yield(%x) : (tensor<2x3xf32>) -> ()
  } : (tensor<1xi1>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}

// CHECK-LABEL: func.func @unmoved_computed(
// CHECK: onnx.If(%c)
func.func @unmoved_computed(%x: tensor<2x3xf32>, %c: tensor<i1>) -> tensor<2x3xf32> {
  %y = onnx.If(%c) then_branch {
    onnx.Yield(%x) : (tensor<2x3xf32>) -> ()
  } else_branch {
    %s = onnx.Abs(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    onnx.Yield(%s) : (tensor<2x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

// The copy by which a branch yields a constant from outside is no constant of its own; what is computed in a branch is one.

// CHECK-LABEL: func.func @constant_from_outside(
// CHECK: %[[K:.*]] = onnx.Constant()
// CHECK: onnx.If(%c)
// CHECK-NEXT: %[[A:.*]] = onnx.Identity(%[[K]])
// CHECK-NEXT: onnx.Yield(%[[A]])
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[-1.0, -2.0] : tensor<2xf32>>}
// CHECK-NEXT: onnx.Yield(%[[B]])
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
func.func @constant_from_outside(%c: tensor<i1>) -> tensor<2xf32> {
  %k = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0] : tensor<2xf32>>} : () -> tensor<2xf32>
  %y = onnx.If(%c) then_branch {
    %a = onnx.Identity(%k) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%a) : (tensor<2xf32>) -> ()
  } else_branch {
    %n = onnx.Neg(%k) : (tensor<2xf32>) -> tensor<2xf32>
    %b = onnx.Identity(%n) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.Yield(%b) : (tensor<2xf32>) -> ()
  } : (tensor<i1>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
}
