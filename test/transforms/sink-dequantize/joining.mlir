// RUN: OPT %s -p sink-dequantize | FILECHECK %s
// RUN: DIAGNOSTICS -p sink-dequantize

// Several operands of one type share one cast.

// CHECK-LABEL: func.func @concat(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<6x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<4x3xf32>
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// CHECK-LABEL: func.func @concat_other_axis(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<6x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat_other_axis(%a: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>, %b: tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<4x3xf32>
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Along the scales' axis, two lists become one.

// CHECK-LABEL: func.func @concat_along(
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%a, %b) {{.*}}-> tensor<4x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @concat_along(%a: tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>>, %b: tensor<4x1x!quant.uniform<i8:f32:1, {0.125}>>) -> tensor<4x3xf32> {
  %x = quant.dcast %a : tensor<4x2x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7}>> to tensor<4x2xf32>
  %y = quant.dcast %b : tensor<4x1x!quant.uniform<i8:f32:1, {0.125}>> to tensor<4x1xf32>
  %z = onnx.Concat(%x, %y) {axis = -1 : i64} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x3xf32>
  func.return %z : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @where(
// CHECK-NEXT: %[[M:.*]] = onnx.Where(%m, %a, %b) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @where(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<3x!quant.uniform<u8:f32, 0.02:13>>, %m: tensor<2x3xi1>) -> tensor<2x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<3x!quant.uniform<u8:f32, 0.02:13>> to tensor<3xf32>
  %z = onnx.Where(%m, %x, %y) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scatter_elements(
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterElements(%a, %i, %b) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @scatter_elements(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x3xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterElements(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// CHECK-LABEL: func.func @scatter_nd(
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterND(%a, %i, %b) {{.*}}-> tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>
// CHECK-NEXT: %[[R:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: func.return %[[R]]
func.func @scatter_nd(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %z = onnx.ScatterND(%x, %i, %y) : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// Several results take one type each.

// CHECK-LABEL: func.func @split(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<u8:f32, 0.02:13>>, tensor<2x2x!quant.uniform<u8:f32, 0.02:13>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @split_other_axis(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>, tensor<2x2x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split_other_axis(%q: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @split_along(
// CHECK: %[[M:.*]], %[[N:.*]] = onnx.Split(%q, %{{.*}}) {{.*}}-> (tensor<2x1x!quant.uniform<i8:f32, 0.5:3>>, tensor<2x2x!quant.uniform<i8:f32:1, {0.25:-7,0.125}>>)
// CHECK-NEXT: %[[A:.*]] = quant.dcast %[[M]]
// CHECK-NEXT: %[[B:.*]] = quant.dcast %[[N]]
// CHECK-NEXT: func.return %[[A]], %[[B]]
func.func @split_along(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> (tensor<2x1xf32>, tensor<2x2xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[1, 2] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  %y, %z = onnx.Split(%x, %c) {axis = -1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  func.return %y, %z : tensor<2x1xf32>, tensor<2x2xf32>
}

// Nothing moves: the operands have two scales.

// CHECK-LABEL: func.func @unmoved_two_scales(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_two_scales(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3x!quant.uniform<u8:f32, 0.03:13>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<4x3x!quant.uniform<u8:f32, 0.03:13>> to tensor<4x3xf32>
  // expected-remark@+1 {{the operands have different scales or zero points [sink-dequantize: mixed-scales]}}
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Nothing moves: the scales run along two axes.

// CHECK-LABEL: func.func @unmoved_two_axes(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_two_axes(%a: tensor<3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>>, %b: tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<3x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7,0.125}>> to tensor<3x3xf32>
  %y = quant.dcast %b : tensor<3x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<3x3xf32>
  // expected-remark@+1 {{[sink-dequantize: mixed-scales]}}
  %z = onnx.Concat(%x, %y) {axis = 0 : i64} : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Nothing moves: axis 1 is one block, which would become two.

// CHECK-LABEL: func.func @unmoved_joined_blocks(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_joined_blocks(%a: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>, %b: tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>>) -> tensor<4x4xf32> {
  %x = quant.dcast %a : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  %y = quant.dcast %b : tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{0.5:3}, {0.25:-7}}>> to tensor<4x2xf32>
  // expected-remark@+1 {{[sink-dequantize: block-size]}}
  %z = onnx.Concat(%x, %y) {axis = 1 : i64} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// Nothing moves: what is overwritten is added.

// CHECK-LABEL: func.func @unmoved_scatter_that_adds(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[Y:.*]] = quant.dcast %b
// CHECK-NEXT: %[[M:.*]] = onnx.ScatterND(%[[X]], %i, %[[Y]])
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_scatter_that_adds(%a: tensor<5x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %i: tensor<2x1xi64>) -> tensor<5x3xf32> {
  %x = quant.dcast %a : tensor<5x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<5x3xf32>
  %y = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{the op computes with the elements that it overwrites [sink-dequantize: interpolates]}}
  %z = onnx.ScatterND(%x, %i, %y) {reduction = "add"} : (tensor<5x3xf32>, tensor<2x1xi64>, tensor<2x3xf32>) -> tensor<5x3xf32>
  func.return %z : tensor<5x3xf32>
}

// Nothing moves: one operand has no scale at all.

// CHECK-LABEL: func.func @unmoved_float_operand(
// CHECK-NEXT: %[[X:.*]] = quant.dcast %a
// CHECK-NEXT: %[[M:.*]] = onnx.Concat(%[[X]], %b)
// CHECK-NEXT: func.return %[[M]]
func.func @unmoved_float_operand(%a: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>, %b: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %x = quant.dcast %a : tensor<2x3x!quant.uniform<u8:f32, 0.02:13>> to tensor<2x3xf32>
  // expected-remark@+1 {{onnx.Concat 'onnx.Concat': another operand is not quantized; quantize every operand alike [sink-dequantize: float-operand]}}
  %z = onnx.Concat(%x, %b) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
  func.return %z : tensor<6x3xf32>
}

// Nothing moves: a part without elements would have no scale.

// CHECK-LABEL: func.func @unmoved_split_to_nothing(
// CHECK: %[[X:.*]] = quant.dcast %q
// CHECK-NEXT: onnx.Split(%[[X]]
func.func @unmoved_split_to_nothing(%q: tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>>) -> (tensor<2x3xf32>, tensor<2x0xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[3, 0] : tensor<2xi64>>} : () -> tensor<2xi64>
  %x = quant.dcast %q : tensor<2x3x!quant.uniform<i8:f32:1, {0.5:3,0.25:-7,0.125}>> to tensor<2x3xf32>
  // expected-remark@+1 {{[sink-dequantize: scales-along-axis]}}
  %y, %z = onnx.Split(%x, %c) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2x0xf32>)
  func.return %y, %z : tensor<2x3xf32>, tensor<2x0xf32>
}
