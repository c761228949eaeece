// RUN: OPT %s | FILECHECK %s
// RUN: OPT %s | OPT | FILECHECK %s
// RUN: ROUNDTRIP

// Long quantized types print once, on top, in the order of their first use; short ones stay where they are.

// CHECK:       !q0 = !quant.uniform<i8:f32:0, {0.5:1,0.25:2,0.125:3,0.0625:4,0.03125:5}>
// CHECK-NEXT:  !q1 = !quant.uniform<u8:f32:1, {1.5:7,2.25:8,3.125:9,4.0625:10,5.03125:11}>
// CHECK-NOT:   !q2
// CHECK:       func.func
// CHECK-SAME:    @main(%[[A:.*]]: tensor<5x2x!q0>, %[[B:.*]]: tensor<3x5x!q1>) -> tensor<5x2x!q0>
// CHECK-NEXT:    "test.op"(%[[B]]) : (tensor<3x5x!q1>) -> tensor<3x!quant.uniform<i8:f32, 0.02:3>>
// CHECK-NEXT:    func.return %[[A]] : tensor<5x2x!q0>
!rows = !quant.uniform<i8:f32:0, {0.5:1,0.25:2,0.125:3,0.0625:4,0.03125:5}>
func.func @main(%a: tensor<5x2x!rows>, %b: tensor<3x5x!quant.uniform<u8:f32:1, {1.5:7,2.25:8,3.125:9,4.0625:10,5.03125:11}>>) -> tensor<5x2x!rows> {
  %c = "test.op"(%b) : (tensor<3x5x!quant.uniform<u8:f32:1, {1.5:7,2.25:8,3.125:9,4.0625:10,5.03125:11}>>) -> tensor<3x!quant.uniform<i8:f32, 0.02:3>>
  func.return %a : tensor<5x2x!rows>
}
