// RUN: OPT %s -p dce,cse | FILECHECK %s
// RUN: OPT %s --pass-pipeline 'builtin.module(dce, cse)' | FILECHECK %s
// RUN: OPT %s --pass-pipeline 'builtin.module(dce,builtin.module(cse))' | FILECHECK %s
// RUN: OPT %s -p dce,cse --print-ir-after-all 2>&1 | FILECHECK %s --check-prefix=AFTER
// RUN: OPT %s -p dce,cse --time-passes 2>&1 | FILECHECK %s --check-prefix=TIME

// The passes run in their order, whichever way they are written.

// CHECK-LABEL: func.func @two_of_one_used
// CHECK-NEXT:    %[[Y:.*]] = onnx.Relu
// CHECK-NEXT:    func.return %[[Y]], %[[Y]]

// AFTER:       // ----- IR after dce
// AFTER:         onnx.Relu
// AFTER-NEXT:    onnx.Relu
// AFTER-NEXT:    func.return
// AFTER:       // ----- IR after cse
// AFTER:         onnx.Relu
// AFTER-NEXT:    func.return

// TIME: 1 dce {{.*}} s
// TIME: 2 cse {{.*}} s
// TIME: total {{.*}} s {{.*}} %
func.func @two_of_one_used(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %y = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %unused = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %z : tensor<2x3xf32>, tensor<2x3xf32>
}
