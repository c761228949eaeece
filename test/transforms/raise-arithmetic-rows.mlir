// RUN: OPT %s -p raise-arithmetic | FILECHECK %s
// RUN: OPT %s -p 'raise-arithmetic{exact=true}' | FILECHECK %s --check-prefix EXACT

// A scale of each row, computed at run time, multiplies the sums in place of the integers.
// CHECK-LABEL: func.func @scale_of_rows
// CHECK: %[[Q:.*]] = quant.dcast %{{.*}} : tensor<4x3x!quant.uniform<i8:f32, 1.0>> to tensor<4x3xf32>
// CHECK: %[[Y:.*]] = onnx.MatMul(%[[Q]], %{{.*}})
// CHECK-NEXT: onnx.Mul(%[[Y]], %s)
// EXACT-LABEL: func.func @scale_of_rows
// EXACT: %[[X:.*]] = onnx.Mul(%{{.*}}, %s)
// EXACT-NEXT: onnx.MatMul(%[[X]], %{{.*}})
func.func @scale_of_rows(%q : tensor<4x3xi8>, %s : tensor<4x1xf32>, %w : tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) -> tensor<4x2xf32> {
  %d = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32:1, {0.5,0.25}>> to tensor<3x2xf32>
  %f = onnx.Cast(%q) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %x = onnx.Mul(%f, %s) : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %y = onnx.MatMul(%x, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// A scale of each column differs between the products of a sum.
// CHECK-LABEL: func.func @unmoved_scale_of_columns
// CHECK: %[[X:.*]] = onnx.Mul(%{{.*}}, %s)
// CHECK-NEXT: onnx.MatMul(%[[X]], %{{.*}})
func.func @unmoved_scale_of_columns(%q : tensor<4x3xi8>, %s : tensor<1x3xf32>, %w : tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x2xf32> {
  %d = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.5>> to tensor<3x2xf32>
  %f = onnx.Cast(%q) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %x = onnx.Mul(%f, %s) : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32>
  %y = onnx.MatMul(%x, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}

// Another reader takes the scaled numbers.
// CHECK-LABEL: func.func @unmoved_second_reader
// CHECK: %[[X:.*]] = onnx.Mul(%{{.*}}, %s)
// CHECK-NEXT: onnx.MatMul(%[[X]], %{{.*}})
func.func @unmoved_second_reader(%q : tensor<4x3xi8>, %s : tensor<4x1xf32>, %w : tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> (tensor<4x2xf32>, tensor<4x3xf32>) {
  %d = quant.dcast %w : tensor<3x2x!quant.uniform<i8:f32, 0.5>> to tensor<3x2xf32>
  %f = onnx.Cast(%q) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %x = onnx.Mul(%f, %s) : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %y = onnx.MatMul(%x, %d) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y, %x : tensor<4x2xf32>, tensor<4x3xf32>
}

// A float weight has no kernel of integers.
// CHECK-LABEL: func.func @unmoved_float_weight
// CHECK: %[[X:.*]] = onnx.Mul(%{{.*}}, %s)
// CHECK-NEXT: onnx.MatMul(%[[X]], %w)
func.func @unmoved_float_weight(%q : tensor<4x3xi8>, %s : tensor<4x1xf32>, %w : tensor<3x2xf32>) -> tensor<4x2xf32> {
  %f = onnx.Cast(%q) {to = 1 : i64} : (tensor<4x3xi8>) -> tensor<4x3xf32>
  %x = onnx.Mul(%f, %s) : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  %y = onnx.MatMul(%x, %w) : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  func.return %y : tensor<4x2xf32>
}
