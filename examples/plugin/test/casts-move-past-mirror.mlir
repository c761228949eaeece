// RUN: qdialect-opt %s -p sink-dequantize | filecheck %s

!q = !quant.uniform<u8:f32:1, {0.5:13, 0.25:7, 2.0:200}>

// Scales along the reversed axis are reversed.
// CHECK-LABEL: func.func @along_the_axis(
// CHECK-NEXT: %[[M:.*]] = onnx.Custom(%q) {{.*}} -> tensor<2x3x!quant.uniform<u8:f32:1, {2.0:200,0.25:7,0.5:13}>>
// CHECK-NEXT: quant.dcast %[[M]]
func.func @along_the_axis(%q: tensor<2x3x!q>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!q> to tensor<2x3xf32>
  %m = onnx.Custom(%r) {domain = "example.images", op_type = "Mirror", attrs = {axis = 1 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %m : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @along_another_axis(
// CHECK-NEXT: onnx.Custom(%q) {{.*}} -> tensor<2x3x!quant.uniform<u8:f32:1, {0.5:13,0.25:7,2.0:200}>>
func.func @along_another_axis(%q: tensor<2x3x!q>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!q> to tensor<2x3xf32>
  %m = onnx.Custom(%r) {domain = "example.images", op_type = "Mirror", attrs = {axis = 0 : i64}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %m : tensor<2x3xf32>
}

// What nobody promises for stays where it is.
// CHECK-LABEL: func.func @unmoved_unknown(
// CHECK-NEXT: quant.dcast
func.func @unmoved_unknown(%q: tensor<2x3x!q>) -> tensor<2x3xf32> {
  %r = quant.dcast %q : tensor<2x3x!q> to tensor<2x3xf32>
  %m = onnx.Custom(%r) {domain = "example.images", op_type = "Blur", attrs = {}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %m : tensor<2x3xf32>
}
