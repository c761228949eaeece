// RUN: OPT %s -p lower-to-product,fold-layout --print-constants | FILECHECK %s
// RUN: DIAGNOSTICS -p lower-to-product

// Scale, zero point and bias go into the kernel.

// CHECK-LABEL: func.func @biased(
// CHECK: %[[Q:.*]], %[[S:.*]], %[[Z:.*]] = onnx.DynamicQuantizeLinear(%x)
// CHECK: %[[T:.*]] = onnx.Transpose(%[[Q]]) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[W:.*]] = onnx.Constant() {{.*}} : tensor<16x16xi8>
// CHECK: %[[C:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>}
// CHECK: %[[V:.*]] = onnx.Constant() {value = #onnx.tensor<[-5] : tensor<i8>>}
// CHECK: %[[B:.*]] = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, {{.*}} : tensor<16xf32>>}
// CHECK: %[[Y:.*]] = onnx_ms.MatMulIntegerToFloat(%[[T]], %[[W]], %[[S]], %[[C]], %[[Z]], %[[V]], %[[B]])
// CHECK: onnx.Transpose(%[[Y]]) {perm = array<i64: 0, 3, 1, 2>}
func.func @biased(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] : tensor<1x16x1x1xf32>>} : () -> tensor<1x16x1x1xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  %a = onnx.Add(%y, %b) : (tensor<1x16x2x2xf32>, tensor<1x16x1x1xf32>) -> tensor<1x16x2x2xf32>
  func.return %a : tensor<1x16x2x2xf32>
}

// -----

// Elements that come channels last are quantized so, in front of nothing or of elementwise ops.

// CHECK-LABEL: func.func @channels_last(
// CHECK: %[[R:.*]] = onnx.Relu(%x) : (tensor<1x2x2x16xf32>)
// CHECK: %[[Q:.*]], %{{.*}}, %{{.*}} = onnx.DynamicQuantizeLinear(%[[R]])
// CHECK-NOT: onnx.Transpose
// CHECK: onnx_ms.MatMulIntegerToFloat(%[[Q]],
func.func @channels_last(%x: tensor<1x2x2x16xf32>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Transpose(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x16xf32>) -> tensor<1x16x2x2xf32>
  %r = onnx.Relu(%t) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%r) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// A second reader of the moved elements, or of the result of an op on them, keeps the move where it is.

// CHECK-LABEL: func.func @unmoved_second_reader(
// CHECK: %[[T:.*]] = onnx.Transpose(%x)
// CHECK: %[[R:.*]] = onnx.Relu(%[[T]])
// CHECK: onnx.DynamicQuantizeLinear(%[[R]])
func.func @unmoved_second_reader(%x: tensor<1x2x2x16xf32>) -> (tensor<1x16x2x2xf32>, tensor<1x16x2x2xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %t = onnx.Transpose(%x) {perm = array<i64: 0, 3, 1, 2>} : (tensor<1x2x2x16xf32>) -> tensor<1x16x2x2xf32>
  %r = onnx.Relu(%t) : (tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%r) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y, %r : tensor<1x16x2x2xf32>, tensor<1x16x2x2xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_computed_weight(
// CHECK: onnx.ConvInteger(
func.func @unmoved_computed_weight(%x: tensor<1x16x2x2xf32>, %u: tensor<16x16x1x1xui8>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{the weight is computed at run time [lower-to-product: computed-parameter]}}
  %i = onnx.ConvInteger(%q, %u, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_weight_zero_point(
// CHECK: onnx.ConvInteger(
func.func @unmoved_weight_zero_point(%x: tensor<1x16x2x2xf32>, %u: tensor<ui8>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{the zero point of the weight is computed, or there are several [lower-to-product: zero-point]}}
  %i = onnx.ConvInteger(%q, %w, %z, %u) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_zero_point(
// CHECK: onnx.ConvInteger(
func.func @unmoved_zero_point(%x: tensor<1x16x2x2xf32>, %u: tensor<ui8>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{the zero point or the scale differs from that of the quantize [lower-to-product: invalid-parameters]}}
  %i = onnx.ConvInteger(%q, %w, %u, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_scale(
// CHECK: onnx.ConvInteger(
func.func @unmoved_scale(%x: tensor<1x16x2x2xf32>, %u: tensor<f32>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{no Cast to float32 and product with the scale of the quantize follow the sum [lower-to-product: run-time-scale]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%u, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// CHECK-LABEL: func.func @unmoved_second_consumer(
// CHECK: onnx.ConvInteger(
func.func @unmoved_second_consumer(%x: tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xf32>, tensor<1x16x2x2xi32>) {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{no Cast to float32 and product with the scale of the quantize follow the sum [lower-to-product: run-time-scale]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y, %i : tensor<1x16x2x2xf32>, tensor<1x16x2x2xi32>
}

// CHECK-LABEL: func.func @unmoved_other_cast(
// CHECK: onnx.ConvInteger(
func.func @unmoved_other_cast(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xi64> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{no Cast to float32 and product with the scale of the quantize follow the sum [lower-to-product: run-time-scale]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %y = onnx.Cast(%i) {to = 7 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xi64>
  func.return %y : tensor<1x16x2x2xi64>
}

// CHECK-LABEL: func.func @unmoved_unscaled(
// CHECK: onnx.ConvInteger(
func.func @unmoved_unscaled(%x: tensor<1x16x2x2xf32>) -> tensor<1x16x2x2xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x2x2xf32>) -> (tensor<1x16x2x2xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{no Cast to float32 and product with the scale of the quantize follow the sum [lower-to-product: run-time-scale]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x2x2xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x2x2xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x2x2xi32>) -> tensor<1x16x2x2xf32>
  %y = onnx.Add(%f, %c) : (tensor<1x16x2x2xf32>, tensor<f32>) -> tensor<1x16x2x2xf32>
  func.return %y : tensor<1x16x2x2xf32>
}

// Many pixels of few channels: what is gathered and moved takes longer than it saves.

// CHECK-LABEL: func.func @unmoved_does_not_pay(
// CHECK: onnx.ConvInteger(
func.func @unmoved_does_not_pay(%x: tensor<1x16x64x64xf32>) -> tensor<1x16x64x64xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x64x64xf32>) -> (tensor<1x16x64x64xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{an integer sum with separate scaling ops takes as long [lower-to-product: does-not-pay]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<1x16x64x64xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x64x64xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x64x64xi32>) -> tensor<1x16x64x64xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x64x64xf32>, tensor<f32>) -> tensor<1x16x64x64xf32>
  func.return %y : tensor<1x16x64x64xf32>
}

// CHECK-LABEL: func.func @unmoved_unresolved_pads(
// CHECK: onnx.ConvInteger(
func.func @unmoved_unresolved_pads(%x: tensor<1x16x?x?xf32>) -> tensor<1x16x?x?xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<1x16x?x?xf32>) -> (tensor<1x16x?x?xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[lower-to-product: unknown-shape]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) {auto_pad = "SAME_UPPER", strides = array<i64: 2, 2>} : (tensor<1x16x?x?xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<1x16x?x?xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<1x16x?x?xi32>) -> tensor<1x16x?x?xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<1x16x?x?xf32>, tensor<f32>) -> tensor<1x16x?x?xf32>
  func.return %y : tensor<1x16x?x?xf32>
}

// CHECK-LABEL: func.func @unmoved_unknown_rank(
// CHECK: onnx.ConvInteger(
func.func @unmoved_unknown_rank(%x: tensor<*xf32>) -> tensor<*xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<"0x0B30557A9FC4E90E33587DA2C7EC11365B80A5CAEF14395E83A8CDF2173C6186ABD0F51A3F6489AED3F81D42678CB1D6FB20456A8FB4D9FE23486D92B7DC01264B7095BADF04294E7398BDE2072C51769BC0E50A2F54799EC3E80D32577CA1C6EB10355A7FA4C9EE13385D82A7CCF1163B6085AACFF4193E6388ADD2F71C41668BB0D5FA1F44698EB3D8FD22476C91B6DB00254A6F94B9DE03284D7297BCE1062B50759ABFE4092E53789DC2E70C31567BA0C5EA0F34597EA3C8ED12375C81A6CBF0153A5F84A9CEF3183D6287ACD1F61B40658AAFD4F91E43688DB2D7FC21466B90B5DAFF24496E93B8DD02274C7196BBE0052A4F7499BEE3082D52779CC1E6" : tensor<16x16x1x1xui8>>} : () -> tensor<16x16x1x1xui8>
  %v = onnx.Constant() {value = #onnx.tensor<[123] : tensor<ui8>>} : () -> tensor<ui8>
  %c = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<f32>>} : () -> tensor<f32>
  %q, %s, %z = onnx.DynamicQuantizeLinear(%x) : (tensor<*xf32>) -> (tensor<*xui8>, tensor<f32>, tensor<ui8>)
  // expected-remark@+1 {{[lower-to-product: unknown-shape]}}
  %i = onnx.ConvInteger(%q, %w, %z, %v) : (tensor<*xui8>, tensor<16x16x1x1xui8>, tensor<ui8>, tensor<ui8>) -> tensor<*xi32>
  %f = onnx.Cast(%i) {to = 1 : i64} : (tensor<*xi32>) -> tensor<*xf32>
  %m = onnx.Mul(%s, %c) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %y = onnx.Mul(%f, %m) : (tensor<*xf32>, tensor<f32>) -> tensor<*xf32>
  func.return %y : tensor<*xf32>
}
