// RUN: OPT %s -p quantize-inputs | FILECHECK %s
// RUN: OPT %s -p quantize-inputs{storage=\"u8\"} | FILECHECK --check-prefix=UNSIGNED %s

// CHECK-LABEL: func.func @conv
// CHECK-SAME: (%[[X:.*]]: tensor<1x2x4x5xf32>)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[X]] : {{.*}} to tensor<1x2x4x5x!quant.uniform<i8:f32, 1.0>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[Q]]
// CHECK: onnx.Conv(%[[R]]
// UNSIGNED-LABEL: func.func @conv
// UNSIGNED: quant.qcast %{{.*}} to tensor<1x2x4x5x!quant.uniform<u8:f32, 1.0>>
func.func @conv(%x : tensor<1x2x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>> to tensor<3x2x1x1xf32>
  %y = onnx.Conv(%x, %r) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}

// -----

// A binary weight has scale 1 whatever its inputs are.

// CHECK-LABEL: func.func @unmoved_weight_of_signs
// CHECK-NOT: quant.qcast
func.func @unmoved_weight_of_signs(%x : tensor<1x2x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -1, 1, 0, 1, -1] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>> to tensor<3x2x1x1xf32>
  %y = onnx.Conv(%x, %r) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_weight_of_another_scale
// CHECK-NOT: quant.qcast
func.func @unmoved_weight_of_another_scale(%x : tensor<1x2x4x5xf32>) -> tensor<1x3x4x5xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32, 0.5>>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32, 0.5>> to tensor<3x2x1x1xf32>
  %y = onnx.Conv(%x, %r) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x5xf32>
  func.return %y : tensor<1x3x4x5xf32>
}

// -----

// CHECK-LABEL: func.func @unmoved_second_consumer
// CHECK-NOT: quant.qcast
func.func @unmoved_second_consumer(%x : tensor<1x2x4x5xf32>) -> (tensor<1x3x4x5xf32>, tensor<1x2x4x5xf32>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, -4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>>
  %r = quant.dcast %w : tensor<3x2x1x1x!quant.uniform<i8:f32, 1.0>> to tensor<3x2x1x1xf32>
  %y = onnx.Conv(%x, %r) : (tensor<1x2x4x5xf32>, tensor<3x2x1x1xf32>) -> tensor<1x3x4x5xf32>
  %t = onnx.Tanh(%x) : (tensor<1x2x4x5xf32>) -> tensor<1x2x4x5xf32>
  func.return %y, %t : tensor<1x3x4x5xf32>, tensor<1x2x4x5xf32>
}
