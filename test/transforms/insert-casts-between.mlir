// RUN: OPT %s -p 'insert-casts{target=generic weights=false}' | FILECHECK %s

// What is made by integers and read by integers is quantized; float weights are not.
// CHECK-LABEL: func.func @residual(
// CHECK-NEXT: %[[V0:.*]] = quant.qcast %r : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.011764706:85>>
// CHECK-NEXT: %[[V1:.*]] = quant.dcast %[[V0]] : tensor<1x3x4x5x!quant.uniform<u8:f32, 0.011764706:85>> to tensor<1x3x4x5xf32>
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>
// CHECK-NEXT: %c = onnx.Conv(%x, %w, _) : (tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT: %[[V2:.*]] = quant.qcast %c : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02745098:109>>
// CHECK-NEXT: %[[V3:.*]] = quant.dcast %[[V2]] : tensor<1x3x4x5x!quant.uniform<u8:f32, 0.02745098:109>> to tensor<1x3x4x5xf32>
// CHECK-NEXT: %s = onnx.Add(%[[V3]], %[[V1]]) : (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT: %q = quant.qcast %s : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: func.return %q : tensor<1x3x4x5x!quant.uniform<u8:f32, 0.03:7>>
func.func @residual(%x: tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<1x3x4x5xf32> {qdialect.range = array<f64: -1.0, 2.0>}) -> tensor<1x3x4x5x!quant.uniform<u8:f32, 0.03:7>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>
  %c = onnx.Conv(%x, %w, _) attributes {qdialect.range = array<f64: -3.0, 4.0>} : (tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>) -> tensor<1x3x4x5xf32>
  %s = onnx.Add(%c, %r) attributes {qdialect.range = array<f64: -4.0, 6.0>} : (tensor<1x3x4x5xf32>, tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %q = quant.qcast %s : tensor<1x3x4x5xf32> to tensor<1x3x4x5x!quant.uniform<u8:f32, 0.03:7>>
  func.return %q : tensor<1x3x4x5x!quant.uniform<u8:f32, 0.03:7>>
}

// A sum that a product reads in coarse steps, and another sum as a float: both read finer ones.
// CHECK-LABEL: func.func @finer(
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.04:50>>
// CHECK-NEXT: %[[V0:.*]] = quant.dcast %t : tensor<5x3x!quant.uniform<u8:f32, 0.04:50>> to tensor<5x3xf32>
// CHECK-NEXT: %y = onnx.MatMul(%t, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.04:50>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>
// CHECK-NEXT: %z = onnx.Add(%[[V0]], %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %y, %q : tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @finer(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<5x3x!quant.uniform<u8:f32, 0.02:3>>) -> (tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %b) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = onnx.MatMul(%t, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>
  %z = onnx.Add(%s, %b) attributes {qdialect.range = array<f64: -3.0, 9.0>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %y, %q : tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// A move of elements reads the coarse steps, and gives them on: the other sum reads them too.
// CHECK-LABEL: func.func @type_that_is_there(
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %[[V0:.*]] = quant.dcast %t : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
// CHECK-NEXT: %y = onnx.Transpose(%t) {perm = array<i64: 1, 0>} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %z = onnx.Add(%[[V0]], %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %y, %q : tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @type_that_is_there(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<5x3x!quant.uniform<u8:f32, 0.02:3>>) -> (tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>) {
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %b) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = onnx.Transpose(%t) {perm = array<i64: 1, 0>} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
  %z = onnx.Add(%s, %b) attributes {qdialect.range = array<f64: -3.0, 9.0>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %y, %q : tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// A bias in steps of the product's scales stays what it is.
// CHECK-LABEL: func.func @quantized_bias(
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
// CHECK-NEXT: %v = onnx.Constant() {value = #onnx.tensor<[7, -8] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.05>>
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %[[V0:.*]] = quant.dcast %t : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
// CHECK-NEXT: %y = onnx.Gemm(%t, %w, %v) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i32:f32, 0.05>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>
// CHECK-NEXT: %z = onnx.Add(%[[V0]], %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %y, %q : tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @quantized_bias(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<5x3x!quant.uniform<u8:f32, 0.02:3>>) -> (tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>) {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %v = onnx.Constant() {value = #onnx.tensor<[7, -8] : tensor<2xi32>>} : () -> tensor<2x!quant.uniform<i32:f32, 0.05>>
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %b) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %t = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = onnx.Gemm(%t, %w, %v) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i32:f32, 0.05>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>
  %z = onnx.Add(%s, %b) attributes {qdialect.range = array<f64: -3.0, 9.0>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %z : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %y, %q : tensor<5x2x!quant.uniform<u8:f32, 0.5:9>>, tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// Between casts already.
// CHECK-LABEL: func.func @unmoved_casts(
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @unmoved_casts(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<5x3x!quant.uniform<u8:f32, 0.02:3>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.25:100>> {
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %b = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.02:3>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %b) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// CHECK-LABEL: func.func @unmoved_float_weight(
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %y = onnx.MatMul(%a, %w) : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
// CHECK-NEXT: %q = quant.qcast %y : tensor<5x2xf32> to tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %q : tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
func.func @unmoved_float_weight(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.25:100>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1.0, -2.0, 0.5, 0.25, 0.0, 4.0] : tensor<3x2xf32>>} : () -> tensor<3x2xf32>
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %y = onnx.MatMul(%a, %w) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<3x2xf32>) -> tensor<5x2xf32>
  %q = quant.qcast %y : tensor<5x2xf32> to tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
  func.return %q : tensor<5x2x!quant.uniform<u8:f32, 0.25:100>>
}

// CHECK-LABEL: func.func @unmoved_no_range(
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %r) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @unmoved_no_range(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:128>>, %r: tensor<5x3xf32>) -> tensor<5x3x!quant.uniform<u8:f32, 0.25:100>> {
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32, 0.05:128>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %r) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// No kernel adds elements with a scale for each channel, or of 16 bits.
// CHECK-LABEL: func.func @unmoved_wide(
// CHECK-NEXT: %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32:1, {0.05:128,0.04:127,0.03:5}>> to tensor<5x3xf32>
// CHECK-NEXT: %b = quant.dcast %r : tensor<5x3x!quant.uniform<u16:f32, 0.02:3>> to tensor<5x3xf32>
// CHECK-NEXT: %s = onnx.Add(%a, %b) : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
// CHECK-NEXT: func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
func.func @unmoved_wide(%x: tensor<5x3x!quant.uniform<u8:f32:1, {0.05:128,0.04:127,0.03:5}>>, %r: tensor<5x3x!quant.uniform<u16:f32, 0.02:3>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.25:100>> {
  %a = quant.dcast %x : tensor<5x3x!quant.uniform<u8:f32:1, {0.05:128,0.04:127,0.03:5}>> to tensor<5x3xf32>
  %b = quant.dcast %r : tensor<5x3x!quant.uniform<u16:f32, 0.02:3>> to tensor<5x3xf32>
  %s = onnx.Add(%a, %b) attributes {qdialect.range = array<f64: -2.0, 8.2>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %s : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
  func.return %q : tensor<5x3x!quant.uniform<u8:f32, 0.25:100>>
}

// CHECK-LABEL: func.func @unmoved_kept(
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>
// CHECK-NEXT: %c = onnx.Conv(%x, %w, _) attributes {qdialect.keep_float} : (tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT: %s = onnx.Sigmoid(%c) attributes {qdialect.keep_float} : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
// CHECK-NEXT: %m = onnx.MaxPool(%s) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} attributes {qdialect.keep_float} : (tensor<1x3x4x5xf32>) -> tensor<1x3x2x2xf32>
// CHECK-NEXT: %q = quant.qcast %m : tensor<1x3x2x2xf32> to tensor<1x3x2x2x!quant.uniform<u8:f32, 0.03:7>>
// CHECK-NEXT: func.return %q : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.03:7>>
func.func @unmoved_kept(%x: tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.03:7>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>
  %c = onnx.Conv(%x, %w, _) attributes {qdialect.keep_float, qdialect.range = array<f64: -3.0, 4.0>} : (tensor<1x2x4x5x!quant.uniform<u8:f32, 0.05:128>>, tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.5,0.25,0.125}>>) -> tensor<1x3x4x5xf32>
  %s = onnx.Sigmoid(%c) attributes {qdialect.keep_float, qdialect.range = array<f64: 0.0, 1.0>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %m = onnx.MaxPool(%s) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} attributes {qdialect.keep_float, qdialect.range = array<f64: 0.0, 1.0>} : (tensor<1x3x4x5xf32>) -> tensor<1x3x2x2xf32>
  %q = quant.qcast %m : tensor<1x3x2x2xf32> to tensor<1x3x2x2x!quant.uniform<u8:f32, 0.03:7>>
  func.return %q : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.03:7>>
}

// An activation behind a sum of products, read by another: the same steps from zero up, and the range is the clamp.
// CHECK-LABEL: func.func @from_zero(
// CHECK-NEXT: %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
// CHECK-NEXT: %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8] : tensor<2x4xi8>>} : () -> tensor<2x4x!quant.uniform<i8:f32, 0.25>>
// CHECK-NEXT: %y = onnx.MatMul(%x, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.05:7>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %z = onnx.MatMul(%y, %v) : (tensor<5x2x!quant.uniform<u8:f32, 0.1>>, tensor<2x4x!quant.uniform<i8:f32, 0.25>>) -> tensor<5x4xf32>
// CHECK-NEXT: func.return %z : tensor<5x4xf32>
func.func @from_zero(%x: tensor<5x3x!quant.uniform<u8:f32, 0.05:7>>) -> tensor<5x4xf32> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6] : tensor<3x2xi8>>} : () -> tensor<3x2x!quant.uniform<i8:f32, 0.5>>
  %v = onnx.Constant() {value = #onnx.tensor<[1, -2, 3, 4, 5, -6, 7, 8] : tensor<2x4xi8>>} : () -> tensor<2x4x!quant.uniform<i8:f32, 0.25>>
  %y = onnx.MatMul(%x, %w) : (tensor<5x3x!quant.uniform<u8:f32, 0.05:7>>, tensor<3x2x!quant.uniform<i8:f32, 0.5>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%y) : (tensor<5x2x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x2x!quant.uniform<u8:f32, 0.1:128>>
  %z = onnx.MatMul(%r, %v) : (tensor<5x2x!quant.uniform<u8:f32, 0.1:128>>, tensor<2x4x!quant.uniform<i8:f32, 0.25>>) -> tensor<5x4xf32>
  func.return %z : tensor<5x4xf32>
}

// The same behind a cast, and read as floats.
// CHECK-LABEL: func.func @from_zero_behind_a_cast(
// CHECK-NEXT: %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %y = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.1>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %y : tensor<5x3xf32>
func.func @from_zero_behind_a_cast(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32, 0.1>>
  %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<i8:f32, 0.1>>) -> tensor<5x3x!quant.uniform<i8:f32, 0.1>>
  %y = quant.dcast %r : tensor<5x3x!quant.uniform<i8:f32, 0.1>> to tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// Integers that go out are read by who knows whom.
// CHECK-LABEL: func.func @unmoved_clamp_goes_out(
// CHECK-NEXT: %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: func.return %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
func.func @unmoved_clamp_goes_out(%x: tensor<5x3xf32>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> {
  %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  func.return %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
}

// What is below zero has a reader too.
// CHECK-LABEL: func.func @unmoved_clamp_of_two_readers(
// CHECK-NEXT: %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %y = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
// CHECK-NEXT: %z = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %y, %z : tensor<5x3xf32>, tensor<5x3xf32>
func.func @unmoved_clamp_of_two_readers(%x: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
  %z = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
  func.return %y, %z : tensor<5x3xf32>, tensor<5x3xf32>
}

// A clamp at 6, which no storage range of these steps ends with.
// CHECK-LABEL: func.func @unmoved_clamp_at_six(
// CHECK-NEXT: %low = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
// CHECK-NEXT: %high = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
// CHECK-NEXT: %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Clip(%q, %low, %high) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<f32>, tensor<f32>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %y = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %y : tensor<5x3xf32>
func.func @unmoved_clamp_at_six(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %low = onnx.Constant() {value = #onnx.tensor<[0.0] : tensor<f32>>} : () -> tensor<f32>
  %high = onnx.Constant() {value = #onnx.tensor<[6.0] : tensor<f32>>} : () -> tensor<f32>
  %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Clip(%q, %low, %high) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<f32>, tensor<f32>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = quant.dcast %r : tensor<5x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// Steps that a move of elements made: they are those in front of it.
// CHECK-LABEL: func.func @unmoved_clamp_behind_a_move(
// CHECK-NEXT: %t = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%t) : (tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %y = quant.dcast %r : tensor<3x5x!quant.uniform<u8:f32, 0.1:128>> to tensor<3x5xf32>
// CHECK-NEXT: func.return %y : tensor<3x5xf32>
func.func @unmoved_clamp_behind_a_move(%x: tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5xf32> {
  %t = onnx.Transpose(%x) {perm = array<i64: 1, 0>} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%t) : (tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<3x5x!quant.uniform<u8:f32, 0.1:128>>
  %y = quant.dcast %r : tensor<3x5x!quant.uniform<u8:f32, 0.1:128>> to tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// A clamp of floats in front of a cast.
// CHECK-LABEL: func.func @from_zero_of_floats(
// CHECK-NEXT: %r = onnx.Relu(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %r : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %y = quant.dcast %q : tensor<5x3x!quant.uniform<u8:f32, 0.1>> to tensor<5x3xf32>
// CHECK-NEXT: func.return %y : tensor<5x3xf32>
func.func @from_zero_of_floats(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %r = onnx.Relu(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %r : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32, 0.1:-3>>
  %y = quant.dcast %q : tensor<5x3x!quant.uniform<i8:f32, 0.1:-3>> to tensor<5x3xf32>
  func.return %y : tensor<5x3xf32>
}

// The integers of the cast go out.
// CHECK-LABEL: func.func @unmoved_cast_goes_out(
// CHECK-NEXT: %r = onnx.Relu(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
// CHECK-NEXT: %q = quant.qcast %r : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32, 0.1>>
// CHECK-NEXT: func.return %q : tensor<5x3x!quant.uniform<i8:f32, 0.1>>
func.func @unmoved_cast_goes_out(%x: tensor<5x3xf32>) -> tensor<5x3x!quant.uniform<i8:f32, 0.1>> {
  %r = onnx.Relu(%x) : (tensor<5x3xf32>) -> tensor<5x3xf32>
  %q = quant.qcast %r : tensor<5x3xf32> to tensor<5x3x!quant.uniform<i8:f32, 0.1>>
  func.return %q : tensor<5x3x!quant.uniform<i8:f32, 0.1>>
}

// Products read it behind ops that select and move elements.
// CHECK-LABEL: func.func @from_zero_behind_a_pool(
// CHECK-NEXT: %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %m = onnx.MaxPool(%q) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %t = onnx.Transpose(%m) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1>>
// CHECK-NEXT: %y = quant.dcast %t : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1>> to tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return %y : tensor<1x3x2x2xf32>
func.func @from_zero_behind_a_pool(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x2x2xf32> {
  %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %m = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
  %t = onnx.Transpose(%m) {perm = array<i64: 0, 1, 3, 2>} : (tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
  %y = quant.dcast %t : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>> to tensor<1x3x2x2xf32>
  func.return %y : tensor<1x3x2x2xf32>
}

// What is pooled goes out as integers.
// CHECK-LABEL: func.func @unmoved_pooled_clamp_goes_out(
// CHECK-NEXT: %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%q) : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %m = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: func.return %m : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
func.func @unmoved_pooled_clamp_goes_out(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>> {
  %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %m = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
  func.return %m : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>
}

// Which of two is greater is read too, and what one type clips the other does not.
// CHECK-LABEL: func.func @unmoved_clamp_in_front_of_places(
// CHECK-NEXT: %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%q) : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %m, %i = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> (tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>, tensor<1x3x2x2xi64>)
// CHECK-NEXT: %y = quant.dcast %m : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>> to tensor<1x3x2x2xf32>
// CHECK-NEXT: func.return %y, %i : tensor<1x3x2x2xf32>, tensor<1x3x2x2xi64>
func.func @unmoved_clamp_in_front_of_places(%x: tensor<1x3x4x4xf32>) -> (tensor<1x3x2x2xf32>, tensor<1x3x2x2xi64>) {
  %q = quant.qcast %x : tensor<1x3x4x4xf32> to tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>
  %m, %i = onnx.MaxPool(%r) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x3x4x4x!quant.uniform<u8:f32, 0.1:128>>) -> (tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>>, tensor<1x3x2x2xi64>)
  %y = quant.dcast %m : tensor<1x3x2x2x!quant.uniform<u8:f32, 0.1:128>> to tensor<1x3x2x2xf32>
  func.return %y, %i : tensor<1x3x2x2xf32>, tensor<1x3x2x2xi64>
}

// An op that is joined by another value keeps the type of both.
// CHECK-LABEL: func.func @unmoved_clamp_that_is_joined(
// CHECK-NEXT: %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %c = onnx.Concat(%r, %z) {axis = 0 : i64} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<10x3x!quant.uniform<u8:f32, 0.1:128>>
// CHECK-NEXT: %y = quant.dcast %c : tensor<10x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<10x3xf32>
// CHECK-NEXT: func.return %y : tensor<10x3xf32>
func.func @unmoved_clamp_that_is_joined(%x: tensor<5x3xf32>, %z: tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<10x3xf32> {
  %q = quant.qcast %x : tensor<5x3xf32> to tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %r = onnx.Relu(%q) : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>
  %c = onnx.Concat(%r, %z) {axis = 0 : i64} : (tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>, tensor<5x3x!quant.uniform<u8:f32, 0.1:128>>) -> tensor<10x3x!quant.uniform<u8:f32, 0.1:128>>
  %y = quant.dcast %c : tensor<10x3x!quant.uniform<u8:f32, 0.1:128>> to tensor<10x3xf32>
  func.return %y : tensor<10x3xf32>
}
