// RUN: qdialect-opt %s -p fold-mirrors --remarks 2>&1 | filecheck %s

// CHECK: remark: onnx.Custom '{{.*}}': the two mirrors reverse different axes, or one that is not known [fold-mirrors: another-axis]

// CHECK-LABEL: func.func @there_and_back(
// CHECK-NEXT: func.return %x
func.func @there_and_back(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Custom(%x) {domain = "example.images", op_type = "Mirror", attrs = {axis = -1 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Custom(%a) {domain = "example.images", op_type = "Mirror", attrs = {axis = 1 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @unmoved_another_axis(
// CHECK-COUNT-2: onnx.Custom
func.func @unmoved_another_axis(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = onnx.Custom(%x) {domain = "example.images", op_type = "Mirror", attrs = {axis = 0 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = onnx.Custom(%a) {domain = "example.images", op_type = "Mirror", attrs = {axis = 1 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}
