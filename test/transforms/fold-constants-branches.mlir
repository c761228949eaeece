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
