// RUN: OPT %s -p raise-arithmetic{half=true} | FILECHECK %s

builtin.module attributes {onnx.opset_import = {ai.onnx = 21 : i64}} {
// CHECK-LABEL: func.func @half_behind(
// CHECK: quant.dcast %{{.*}} : tensor<2x!quant.uniform<u8:f16, 0.5:3>> to tensor<2xf16>
// CHECK-NOT: onnx.Cast
func.func @half_behind(%q: tensor<2xui8>) -> tensor<2xf16> {
  %z = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Cast(%q) {to = 1 : i64} : (tensor<2xui8>) -> tensor<2xf32>
  %d = onnx.Sub(%c, %z) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = onnx.Mul(%d, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = onnx.Cast(%m) {to = 10 : i64} : (tensor<2xf32>) -> tensor<2xf16>
  func.return %y : tensor<2xf16>
}

// CHECK-LABEL: func.func @unmoved_double(
// CHECK: onnx.Cast(%{{.*}}) {to = 11 : i64}
func.func @unmoved_double(%q: tensor<2xui8>) -> tensor<2xf64> {
  %z = onnx.Constant() {value = #onnx.tensor<[3.0] : tensor<f32>>} : () -> tensor<f32>
  %s = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %c = onnx.Cast(%q) {to = 1 : i64} : (tensor<2xui8>) -> tensor<2xf32>
  %d = onnx.Sub(%c, %z) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %m = onnx.Mul(%d, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = onnx.Cast(%m) {to = 11 : i64} : (tensor<2xf32>) -> tensor<2xf64>
  func.return %y : tensor<2xf64>
}
}
