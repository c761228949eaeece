// RUN: OPT %s -p legalize-expressed | FILECHECK %s
// RUN: DIAGNOSTICS -p legalize-expressed
// RUN: OPT %s -p legalize-expressed,fold-casts | FILECHECK %s --check-prefix=FOLDED

// Scales and integers stay, per tensor and per axis; constants in half precision are widened, the rest is re-read.

// CHECK-LABEL: func.func @conv(
// CHECK-SAME: [[X:%[0-9a-z]+]]: tensor<1x2x5x6x!quant.uniform<u8:f16, 0.25:7>>
// CHECK-DAG: [[XI:%[0-9a-z]+]] = quant.scast [[X]] : {{.*}} to tensor<1x2x5x6xui8>
// CHECK-DAG: [[XF:%[0-9a-z]+]] = quant.scast [[XI]] : {{.*}} to tensor<1x2x5x6x!quant.uniform<u8:f32, 0.25:7>>
// CHECK-DAG: [[W:%[0-9a-z]+]] = onnx.Constant() {{.*}} -> tensor<3x2x1x1x!quant.uniform<i8:f32:0, {0.25,0.5,0.125}>>
// CHECK-DAG: [[B:%[0-9a-z]+]] = onnx.Constant() {value = #onnx.tensor<[0.5, -1.25, 3.0] : tensor<3xf32>>}
// CHECK: [[Y:%[0-9a-z]+]] = onnx.Conv([[XF]], [[W]], [[B]]) {{.*}} -> tensor<1x3x5x6x!quant.uniform<i8:f32, 0.375:-5>>
// CHECK: [[YI:%[0-9a-z]+]] = quant.scast [[Y]] : {{.*}} to tensor<1x3x5x6xi8>
// CHECK: [[YH:%[0-9a-z]+]] = quant.scast [[YI]] : {{.*}} to tensor<1x3x5x6x!quant.uniform<i8:f16, 0.375:-5>>
// CHECK: func.return [[YH]]
func.func @conv(%x: tensor<1x2x5x6x!quant.uniform<u8:f16, 0.25:7>>) -> tensor<1x3x5x6x!quant.uniform<i8:f16, 0.375:-5>> {
  %w = onnx.Constant() {value = #onnx.tensor<[1, 2, 3, 4, 5, 6] : tensor<3x2x1x1xi8>>} : () -> tensor<3x2x1x1x!quant.uniform<i8:f16:0, {0.25,0.5,0.125}>>
  %b = onnx.Constant() {value = #onnx.tensor<[0.5, -1.25, 3.0] : tensor<3xf16>>} : () -> tensor<3xf16>
  %y = onnx.Conv(%x, %w, %b) : (tensor<1x2x5x6x!quant.uniform<u8:f16, 0.25:7>>, tensor<3x2x1x1x!quant.uniform<i8:f16:0, {0.25,0.5,0.125}>>, tensor<3xf16>) -> tensor<1x3x5x6x!quant.uniform<i8:f16, 0.375:-5>>
  func.return %y : tensor<1x3x5x6x!quant.uniform<i8:f16, 0.375:-5>>
}

// Between two such ops the casts cancel, in bfloat16 too.

// CHECK-LABEL: func.func @two(
// FOLDED-LABEL: func.func @two(
// FOLDED: [[S:%[0-9a-z]+]] = onnx.Sigmoid({{.*}}) {{.*}} -> tensor<2x3x!quant.uniform<u8:f32, 0.00390625:3>>
// FOLDED-NEXT: onnx.Sigmoid([[S]])
func.func @two(%x: tensor<2x3x!quant.uniform<u8:bf16, 0.03125:9>>) -> tensor<2x3x!quant.uniform<u8:bf16, 0.0078125:11>> {
  %y = onnx.Sigmoid(%x) : (tensor<2x3x!quant.uniform<u8:bf16, 0.03125:9>>) -> tensor<2x3x!quant.uniform<u8:bf16, 0.00390625:3>>
  %z = onnx.Sigmoid(%y) : (tensor<2x3x!quant.uniform<u8:bf16, 0.00390625:3>>) -> tensor<2x3x!quant.uniform<u8:bf16, 0.0078125:11>>
  func.return %z : tensor<2x3x!quant.uniform<u8:bf16, 0.0078125:11>>
}

// f32 is what the kernels compute in.

// CHECK-LABEL: func.func @already_f32(
// CHECK-NEXT: onnx.Sigmoid
// CHECK-NEXT: func.return
func.func @already_f32(%x: tensor<2x3x!quant.uniform<u8:f32, 0.03125:9>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.0078125:11>> {
  %y = onnx.Sigmoid(%x) : (tensor<2x3x!quant.uniform<u8:f32, 0.03125:9>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.0078125:11>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f32, 0.0078125:11>>
}

// CHECK-LABEL: func.func @unmoved_float_result(
// CHECK-NOT: scast
// CHECK: onnx.MatMul{{.*}} -> tensor<2x4xf16>
func.func @unmoved_float_result(%x: tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, %w: tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>) -> tensor<2x4xf16> {
  // expected-remark@+1 {{the result is in half precision, integer kernels return f32; quantize it [legalize-expressed: float-result]}}
  %y = onnx.MatMul(%x, %w) : (tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>) -> tensor<2x4xf16>
  func.return %y : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @unmoved_float_operand(
// CHECK-NOT: scast
// CHECK: onnx.Add{{.*}}tensor<2x3xf16>) -> tensor<2x3x!quant.uniform<u8:f16
func.func @unmoved_float_operand(%x: tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, %f: tensor<2x3xf16>) -> tensor<2x3x!quant.uniform<u8:f16, 0.5:8>> {
  // expected-remark@+1 {{an operand is float; quantize every operand [legalize-expressed: float-operand]}}
  %y = onnx.Add(%x, %f) : (tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, tensor<2x3xf16>) -> tensor<2x3x!quant.uniform<u8:f16, 0.5:8>>
  func.return %y : tensor<2x3x!quant.uniform<u8:f16, 0.5:8>>
}

// CHECK-LABEL: func.func @unmoved_unknown_type(
// CHECK-NOT: scast
// CHECK: onnx.MatMul{{.*}} -> tensor<2x4x!quant.uniform<u8:f16
func.func @unmoved_unknown_type(%x: tensor<*x!onnx.any>, %w: tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>) -> tensor<2x4x!quant.uniform<u8:f16, 0.5:8>> {
  // expected-remark@+1 {{the element type of an operand is not known, and may be half precision; run ONNX shape inference on the model [legalize-expressed: unknown-shape]}}
  %y = onnx.MatMul(%x, %w) : (tensor<*x!onnx.any>, tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>) -> tensor<2x4x!quant.uniform<u8:f16, 0.5:8>>
  func.return %y : tensor<2x4x!quant.uniform<u8:f16, 0.5:8>>
}

// CHECK-LABEL: func.func @unmoved_blocks(
// CHECK-NOT: scast
// CHECK: onnx.Sigmoid{{.*}} -> tensor<4x2x!quant.uniform<u8:f16
func.func @unmoved_blocks(%x: tensor<4x2x!quant.uniform<i8:f16:{0:2, 1:1}, {{0.5,0.25},{0.125,1.0}}>>) -> tensor<4x2x!quant.uniform<u8:f16, 0.5:8>> {
  // expected-remark@+1 {{no integer kernel takes a scale for each block [legalize-expressed: block-scales]}}
  %y = onnx.Sigmoid(%x) : (tensor<4x2x!quant.uniform<i8:f16:{0:2, 1:1}, {{0.5,0.25},{0.125,1.0}}>>) -> tensor<4x2x!quant.uniform<u8:f16, 0.5:8>>
  func.return %y : tensor<4x2x!quant.uniform<u8:f16, 0.5:8>>
}

// Half precision has 11 bits: what is quantized to 16 is rounded by several steps, which f32 would not round.

// CHECK-LABEL: func.func @unmoved_fine_result(
// CHECK: onnx.LeakyRelu(%x) {{.*}}-> tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>>
func.func @unmoved_fine_result(%x: tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>>) -> tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>> {
  // expected-remark@+1 {{rounding to half precision spans several steps of this type, so f32 would give another result [legalize-expressed: storage-type]}}
  %y = onnx.LeakyRelu(%x) {alpha = 0.2 : f32} : (tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>>) -> tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>>
  func.return %y : tensor<2x3x!quant.uniform<i16:f16, 0.25:-327>>
}

// In f32 it would have no kernel either.

// CHECK-LABEL: func.func @unmoved_gemm_alpha(
// CHECK-NOT: scast
// CHECK: onnx.Gemm{{.*}} -> tensor<2x4x!quant.uniform<u8:f16, 0.5:8>>
func.func @unmoved_gemm_alpha(%x: tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, %w: tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>) -> tensor<2x4x!quant.uniform<u8:f16, 0.5:8>> {
  %b = onnx.Constant() {value = #onnx.tensor<[1.0, 2.0, 3.0, 4.0] : tensor<4xf16>>} : () -> tensor<4xf16>
  // expected-remark@+1 {{[legalize-expressed: product-form]}}
  %y = onnx.Gemm(%x, %w, %b) {alpha = 5.000000e-01 : f32} : (tensor<2x3x!quant.uniform<u8:f16, 0.25:9>>, tensor<3x4x!quant.uniform<i8:f16, 0.5:2>>, tensor<4xf16>) -> tensor<2x4x!quant.uniform<u8:f16, 0.5:8>>
  func.return %y : tensor<2x4x!quant.uniform<u8:f16, 0.5:8>>
}
