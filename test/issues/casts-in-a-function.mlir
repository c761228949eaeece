// RUN: OPT %s -p raise-qdq,lower-to-qdq | FILECHECK %s

// A model-local function holds the scales of its own casts: there was no graph to put them in.

// CHECK-LABEL: "onnx.Function"()
// CHECK: %[[S:.*]] = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>}
// CHECK: onnx.DequantizeLinear(%{{.*}}, %[[S]], {{.*}}) : (tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2xf32>
// CHECK: onnx.Yield(
// CHECK-LABEL: func.func @call(
builtin.module attributes {onnx.opset_import = {ai.onnx = 16 : i64, my = 1 : i64}} {
"onnx.Function"() <{domain = "my", op_type = "F", overload = "", inputs = ["x"], outputs = ["y"], attribute_names = [], attribute_defaults = {}, onnx.opset_import = {ai.onnx = 16 : i64}}> ({
^bb0(%x: tensor<*x!onnx.any>):
  %w = onnx.Constant() {value = #onnx.tensor<[7, -3] : tensor<2xi8>>} : () -> tensor<2xi8>
  %s = onnx.Constant() {value = #onnx.tensor<[0.25] : tensor<f32>>} : () -> tensor<f32>
  %z = onnx.Constant() {value = #onnx.tensor<[1] : tensor<i8>>} : () -> tensor<i8>
  %r = onnx.DequantizeLinear(%w, %s, %z) : (tensor<2xi8>, tensor<f32>, tensor<i8>) -> tensor<2xf32>
  %y = onnx.Add(%x, %r) : (tensor<*x!onnx.any>, tensor<2xf32>) -> tensor<*x!onnx.any>
  onnx.Yield(%y) : (tensor<*x!onnx.any>) -> ()
}) : () -> ()
func.func @call(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.Custom(%x) {domain = "my", op_type = "F", attrs = {}} : (tensor<2xf32>) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}
}
