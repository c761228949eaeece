// RUN: OPT %s -p 'quantize-branches{target=tensorrt}' | FILECHECK %s
// RUN: OPT %s -p 'quantize-branches{target=onnxruntime}' | FILECHECK %s --check-prefix=OTHER
// RUN: DIAGNOSTICS -p 'quantize-branches{target=tensorrt}'

!x = !quant.uniform<i8:f32, 0.02:-13>
!u = !quant.uniform<u8:f32, 0.04:9>

// A residual block: the shortcut is quantized elsewhere already, and gets a pair of its own. Other targets want none.

// CHECK-LABEL: func.func @shortcut(
// CHECK-DAG: %[[A:.*]] = quant.dcast %a
// CHECK-DAG: %[[N:.*]] = onnx.Neg(%x)
// CHECK-DAG: %[[Q:.*]] = quant.qcast %[[N]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.02:-13>>
// CHECK: %[[P:.*]] = quant.qcast %[[N]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.02:-13>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[P]]
// CHECK-NEXT: %[[Y:.*]] = onnx.Add(%[[A]], %[[D]])
// CHECK-NEXT: func.return %[[Y]], %[[Q]]
// OTHER-LABEL: func.func @shortcut(
// OTHER: %[[N:.*]] = onnx.Neg(%x)
// OTHER: onnx.Add(%{{.*}}, %[[N]])
func.func @shortcut(%x: tensor<2x3xf32>, %a: tensor<2x3x!u>) -> (tensor<2x3xf32>, tensor<2x3x!x>) {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!x>
  %y = onnx.Add(%r, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %q : tensor<2x3xf32>, tensor<2x3x!x>
}

// A gate in [0, 1] beside signed integers, in front: 127 steps.

// CHECK-LABEL: func.func @gate(
// CHECK-DAG: %[[A:.*]] = quant.dcast %a
// CHECK-DAG: %[[S:.*]] = onnx.Sigmoid(%x)
// CHECK: %[[Q:.*]] = quant.qcast %[[S]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<i8:f32, 0.007874016>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: %[[Y:.*]] = onnx.Mul(%[[D]], %[[A]])
// CHECK-NEXT: func.return %[[Y]]
func.func @gate(%x: tensor<2x3xf32>, %a: tensor<2x3x!x>) -> tensor<2x3xf32> {
  %r = quant.dcast %a : tensor<2x3x!x> to tensor<2x3xf32>
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%s, %r) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// [-1, 1] beside unsigned integers: 255 steps, zero near the middle.

// CHECK-LABEL: func.func @unsigned(
// CHECK: %[[S:.*]] = onnx.Tanh(%x)
// CHECK-NEXT: %[[Q:.*]] = quant.qcast %[[S]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.007843138:127>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT: onnx.Sub(%{{.*}}, %[[D]])
func.func @unsigned(%x: tensor<2x3xf32>, %a: tensor<2x3x!u>) -> tensor<2x3xf32> {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %s = onnx.Tanh(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Sub(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Nobody quantizes the branch, and no range of it is known.

// CHECK-LABEL: func.func @unmoved_unknown_range(
// CHECK: %[[N:.*]] = onnx.Neg(%x)
// CHECK: onnx.Add(%{{.*}}, %[[N]])
func.func @unmoved_unknown_range(%x: tensor<2x3xf32>, %a: tensor<2x3x!u>) -> tensor<2x3xf32> {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Add(%r, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// A known range, but nothing quantized to join.

// CHECK-LABEL: func.func @unmoved_float_sibling(
// CHECK-NEXT: %[[S:.*]] = onnx.Sigmoid(%x)
// CHECK-NEXT: onnx.Mul(%[[S]], %x)
func.func @unmoved_float_sibling(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%s, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// The other quantize clamps at zero, as that of a Relu does: here the numbers below are read. A Sigmoid has none.

// CHECK-LABEL: func.func @unmoved_one_sided(
// CHECK: %[[N:.*]] = onnx.Neg(%x)
// CHECK: onnx.Add(%{{.*}}, %[[N]])
// CHECK: %[[E:.*]] = onnx.Sigmoid(%x)
// CHECK-COUNT-2: quant.qcast %[[E]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02>>
// CHECK-NEXT: %[[D:.*]] = quant.dcast
// CHECK-NEXT: onnx.Add(%{{.*}}, %[[D]])
func.func @unmoved_one_sided(%x: tensor<2x3xf32>, %a: tensor<2x3x!u>) -> (tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>, tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>) {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %n = onnx.Neg(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  // expected-remark@+1 {{the quantize of another consumer clamps at 0, this one may need negative values [quantize-branches: float-operand]}}
  %y = onnx.Add(%r, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = quant.qcast %s : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  %z = onnx.Add(%r, %s) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %q, %z, %p : tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>, tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// No element is negative: a type without negatives fits.

// CHECK-LABEL: func.func @not_negative(
// CHECK: %[[S:.*]] = onnx.Add(
// CHECK: quant.qcast %[[S]]
// CHECK: quant.qcast %[[S]]
// CHECK: onnx.Add(
func.func @not_negative(%a: tensor<2x3x!u>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>) {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %p = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %m = onnx.Mul(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = onnx.Add(%p, %m) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %n : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02>>
  %y = onnx.Add(%r, %n) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y, %q : tensor<2x3xf32>, tensor<2x3x!quant.uniform<u8:f32, 0.02>>
}

// The sibling has a scale for each channel: what would be one for a range?

// CHECK-LABEL: func.func @unmoved_per_axis(
// CHECK: %[[S:.*]] = onnx.Sigmoid(%x)
// CHECK-NEXT: onnx.Mul(%[[S]], %{{.*}})
func.func @unmoved_per_axis(%x: tensor<2x3xf32>, %a: tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>>) -> tensor<2x3xf32> {
  %r = quant.dcast %a : tensor<2x3x!quant.uniform<i8:f32:0, {0.5:3,0.25:-7}>> to tensor<2x3xf32>
  %s = onnx.Sigmoid(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.Mul(%s, %r) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Constants and graph inputs are for other passes, float16 for none.

// CHECK-LABEL: func.func @unmoved_other_operands(
// CHECK: %[[C:.*]] = onnx.Constant()
// CHECK: onnx.Add(%{{.*}}, %[[C]])
// CHECK: onnx.Add(%{{.*}}, %x)
// CHECK: %[[S:.*]] = onnx.Sigmoid(%h)
// CHECK: onnx.Add(%{{.*}}, %[[S]])
func.func @unmoved_other_operands(%x: tensor<2x3xf32>, %h: tensor<2x3xf16>, %a: tensor<2x3x!u>, %b: tensor<2x3x!quant.uniform<u8:f16, 0.5:9>>) -> (tensor<2x3xf32>, tensor<2x3xf16>) {
  %r = quant.dcast %a : tensor<2x3x!u> to tensor<2x3xf32>
  %t = quant.dcast %b : tensor<2x3x!quant.uniform<u8:f16, 0.5:9>> to tensor<2x3xf16>
  %c = onnx.Constant() {value = #onnx.tensor<[1.5, -2.5, 3.5] : tensor<3xf32>>} : () -> tensor<3xf32>
  %d = onnx.Add(%r, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %e = onnx.Add(%d, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %s = onnx.Sigmoid(%h) : (tensor<2x3xf16>) -> tensor<2x3xf16>
  %f = onnx.Add(%t, %s) : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16>
  func.return %e, %f : tensor<2x3xf32>, tensor<2x3xf16>
}
