// RUN: OPT %s -p 'fix-shapes{batch=4 sizes="w=5","d=1"}' | FILECHECK %s
// RUN: DIAGNOSTICS -p 'fix-shapes{batch=4 sizes="w=5","d=1"}'

// A first size is the batch, another the one of its name; what follows from them is known at once.

// CHECK-LABEL: func.func @sizes(
// CHECK-SAME: %x: tensor<4x3x5xf32>
// CHECK-NEXT: onnx.Transpose(%x) {{.*}} -> tensor<4x5x3xf32>
func.func @sizes(%x: tensor<?x3x?xf32> {onnx.name = "x", onnx.dims = ["n", "", "w"]}) -> tensor<?x?x3xf32> {
  %y = onnx.Transpose(%x) {perm = array<i64: 0, 2, 1>} : (tensor<?x3x?xf32>) -> tensor<?x?x3xf32>
  func.return %y : tensor<?x?x3xf32>
}

// A size that is named is so where it is the first too.

// CHECK-LABEL: func.func @named_first(
// CHECK-SAME: %x: tensor<5x3xf32>
func.func @named_first(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dims = ["w", ""]}) -> tensor<?x3xf32> {
  func.return %x : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @named_one(
// CHECK-SAME: %x: tensor<4x1x3xf32>
func.func @named_one(%x: tensor<?x?x3xf32> {onnx.name = "x", onnx.dims = ["n", "d", ""]}) -> tensor<?x?x3xf32> {
  func.return %x : tensor<?x?x3xf32>
}

// What a branch yields of them is what its If gives.

// CHECK-LABEL: func.func @branches(
// CHECK: onnx.If(%c)
// CHECK: : (tensor<i1>) -> tensor<4x3xf32>
// CHECK-NEXT: %{{.*}} = onnx.Neg(%{{.*}}) : (tensor<4x3xf32>) -> tensor<4x3xf32>
func.func @branches(%x: tensor<?x3xf32> {onnx.name = "x", onnx.dims = ["n", ""]}, %c: tensor<i1> {onnx.name = "c"}) -> tensor<?x3xf32> {
  %y = onnx.If(%c) then_branch {
    %a = onnx.Relu(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    onnx.Yield(%a) : (tensor<?x3xf32>) -> ()
  } else_branch {
    %b = onnx.Tanh(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
    onnx.Yield(%b) : (tensor<?x3xf32>) -> ()
  } : (tensor<i1>) -> tensor<?x3xf32>
  %z = onnx.Neg(%y) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  func.return %z : tensor<?x3xf32>
}

// CHECK-LABEL: func.func @unmoved_open_size(
// CHECK-SAME: %x: tensor<4x?xf32>
// expected-remark@+1 {{a size of an input is not known}}
func.func @unmoved_open_size(%x: tensor<?x?xf32> {onnx.name = "x", onnx.dims = ["n", "h"]}) -> tensor<?x?xf32> {
  func.return %x : tensor<?x?xf32>
}
