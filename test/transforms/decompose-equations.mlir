// RUN: OPT %s -p 'decompose{ops=Einsum}' | FILECHECK %s
// RUN: OPT %s -p 'decompose{ops=Einsum quantized=true}' | FILECHECK %s --check-prefix=QUANTIZED
// RUN: DIAGNOSTICS -p 'decompose{ops=Einsum}'

// CHECK-LABEL: func.func @matrices(
// CHECK-NEXT: %[[Y:.*]] = onnx.MatMul(%a, %b) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: func.return %[[Y]]
// QUANTIZED-LABEL: func.func @matrices(
// QUANTIZED-NEXT: onnx.Einsum(%a, %b)
func.func @matrices(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "ij, jk -> ik"} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// Without an arrow, the indices that occur once, in the order of the alphabet.

// CHECK-LABEL: func.func @implicit(
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%a, %b) : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[P]]) {perm = array<i64: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @implicit(%a: tensor<3x4xf32>, %b: tensor<4x2xf32>) -> tensor<2x3xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "kj,ji"} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// Attention: batches of open size, and one index that is only a batch of the left operand.

// CHECK-LABEL: func.func @scores(
// CHECK-DAG: %[[A:.*]] = onnx.Transpose(%a) {perm = array<i64: 0, 2, 1, 3>} : (tensor<?x5x3x8xf32>) -> tensor<?x3x5x8xf32>
// CHECK-DAG: %[[B:.*]] = onnx.Transpose(%b) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x6x3x8xf32>) -> tensor<?x3x8x6xf32>
// CHECK: %[[Y:.*]] = onnx.MatMul(%[[A]], %[[B]]) : (tensor<?x3x5x8xf32>, tensor<?x3x8x6xf32>) -> tensor<?x3x5x6xf32>
// CHECK-NEXT: func.return %[[Y]]
func.func @scores(%a: tensor<?x5x3x8xf32>, %b: tensor<?x6x3x8xf32>) -> tensor<?x3x5x6xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "bqhd,bkhd->bhqk"} : (tensor<?x5x3x8xf32>, tensor<?x6x3x8xf32>) -> tensor<?x3x5x6xf32>
  func.return %y : tensor<?x3x5x6xf32>
}

// CHECK-LABEL: func.func @lone_batch(
// CHECK-NEXT: %[[A:.*]] = onnx.Transpose(%a) {perm = array<i64: 1, 0, 2, 3>}
// CHECK-NEXT: %[[B:.*]] = onnx.Transpose(%b) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[P:.*]] = onnx.MatMul(%[[A]], %[[B]]) : (tensor<3x2x4x5xf32>, tensor<2x5x6xf32>) -> tensor<3x2x4x6xf32>
// CHECK-NEXT: %[[Y:.*]] = onnx.Transpose(%[[P]]) {perm = array<i64: 1, 0, 2, 3>}
// CHECK-NEXT: func.return %[[Y]]
func.func @lone_batch(%a: tensor<2x3x4x5xf32>, %b: tensor<2x6x5xf32>) -> tensor<2x3x4x6xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "hbwc,hkc->hbwk"} : (tensor<2x3x4x5xf32>, tensor<2x6x5xf32>) -> tensor<2x3x4x6xf32>
  func.return %y : tensor<2x3x4x6xf32>
}

// Several columns, and several summed indices, are one axis.

// CHECK-LABEL: func.func @several_columns(
// CHECK: %[[B:.*]] = onnx.Reshape(%b, %{{.*}}) : (tensor<4x2x7xf32>, tensor<2xi64>) -> tensor<4x14xf32>
// CHECK: %[[P:.*]] = onnx.MatMul(%a, %[[B]]) : (tensor<?x3x4xf32>, tensor<4x14xf32>) -> tensor<?x3x14xf32>
// CHECK: onnx.Reshape(%[[P]], %{{.*}}) : (tensor<?x3x14xf32>, tensor<4xi64>) -> tensor<?x3x2x7xf32>
func.func @several_columns(%a: tensor<?x3x4xf32>, %b: tensor<4x2x7xf32>) -> tensor<?x3x2x7xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "abc,cde->abde"} : (tensor<?x3x4xf32>, tensor<4x2x7xf32>) -> tensor<?x3x2x7xf32>
  func.return %y : tensor<?x3x2x7xf32>
}

// CHECK-LABEL: func.func @several_sums(
// CHECK: %[[A:.*]] = onnx.Reshape(%a, %{{.*}}) : (tensor<?x3x2x7xf32>, tensor<3xi64>) -> tensor<?x3x14xf32>
// CHECK: %[[B:.*]] = onnx.Reshape(%b, %{{.*}}) : (tensor<2x7x4xf32>, tensor<2xi64>) -> tensor<14x4xf32>
// CHECK: onnx.MatMul(%[[A]], %[[B]]) : (tensor<?x3x14xf32>, tensor<14x4xf32>) -> tensor<?x3x4xf32>
func.func @several_sums(%a: tensor<?x3x2x7xf32>, %b: tensor<2x7x4xf32>) -> tensor<?x3x4xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "abcd,cde->abe"} : (tensor<?x3x2x7xf32>, tensor<2x7x4xf32>) -> tensor<?x3x4xf32>
  func.return %y : tensor<?x3x4xf32>
}

// An ellipsis stands for the axes that have no index.

// CHECK-LABEL: func.func @ellipsis(
// CHECK-NEXT: onnx.MatMul(%a, %b) : (tensor<2x6x3x4xf32>, tensor<4x2xf32>) -> tensor<2x6x3x2xf32>
func.func @ellipsis(%a: tensor<2x6x3x4xf32>, %b: tensor<4x2xf32>) -> tensor<2x6x3x2xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "...ij,jk->...ik"} : (tensor<2x6x3x4xf32>, tensor<4x2xf32>) -> tensor<2x6x3x2xf32>
  func.return %y : tensor<2x6x3x2xf32>
}

// CHECK-LABEL: func.func @implicit_ellipsis(
// CHECK: onnx.MatMul(%{{.*}}, %{{.*}}) : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
func.func @implicit_ellipsis(%a: tensor<2x3x4xf32>, %b: tensor<2x5x4xf32>) -> tensor<2x3x5xf32> {
  %y = onnx.Einsum(%a, %b) {equation = "...ij,...kj"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> tensor<2x3x5xf32>
  func.return %y : tensor<2x3x5xf32>
}

// Operands that are dequantized, with that option; not if one is float.

!q = !quant.uniform<u8:f32, 0.02:128>

// CHECK-LABEL: func.func @dequantized(
// CHECK: onnx.MatMul(
// QUANTIZED-LABEL: func.func @dequantized(
// QUANTIZED: onnx.MatMul(
func.func @dequantized(%a: tensor<3x4x!q>, %b: tensor<4x2x!q>) -> tensor<3x2xf32> {
  %x = quant.dcast %a : tensor<3x4x!q> to tensor<3x4xf32>
  %w = quant.dcast %b : tensor<4x2x!q> to tensor<4x2xf32>
  %y = onnx.Einsum(%x, %w) {equation = "ij,jk->ik"} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_half_dequantized(
// CHECK: onnx.MatMul(
// QUANTIZED-LABEL: func.func @unmoved_half_dequantized(
// QUANTIZED: onnx.Einsum(
func.func @unmoved_half_dequantized(%x: tensor<3x4xf32>, %b: tensor<4x2x!q>) -> tensor<3x2xf32> {
  %w = quant.dcast %b : tensor<4x2x!q> to tensor<4x2xf32>
  %y = onnx.Einsum(%x, %w) {equation = "ij,jk->ik"} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @unmoved_equation_element_type(
// CHECK: onnx.Einsum(
func.func @unmoved_equation_element_type(%a: tensor<3x4xf16>, %b: tensor<4x2xf16>) -> tensor<3x2xf16> {
  // expected-remark@+1 {{only an Einsum in f32 is decomposed [decompose: expressed-type]}}
  %y = onnx.Einsum(%a, %b) {equation = "ij,jk->ik"} : (tensor<3x4xf16>, tensor<4x2xf16>) -> tensor<3x2xf16>
  func.return %y : tensor<3x2xf16>
}

// CHECK-LABEL: func.func @unmoved_equation_unknown_rank(
// CHECK: onnx.Einsum(
func.func @unmoved_equation_unknown_rank(%a: tensor<*xf32>, %b: tensor<4x2xf32>) -> tensor<3x2xf32> {
  // expected-remark@+1 {{[decompose: unknown-shape]}}
  %y = onnx.Einsum(%a, %b) {equation = "ij,jk->ik"} : (tensor<*xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  func.return %y : tensor<3x2xf32>
}

// A size of 1 in one operand alone would be repeated.

// CHECK-LABEL: func.func @unmoved_dynamic_shape(
// CHECK: onnx.Einsum(
// CHECK: onnx.Einsum(
func.func @unmoved_dynamic_shape(%a: tensor<3x?xf32>, %b: tensor<?x2xf32>, %c: tensor<3x4xf32>, %d: tensor<4x?x2xf32>) -> (tensor<3x2xf32>, tensor<3x?x2xf32>) {
  // expected-remark@+1 {{a summed size is unknown, or one of several column sizes [decompose: open-size]}}
  %y = onnx.Einsum(%a, %b) {equation = "ij,jk->ik"} : (tensor<3x?xf32>, tensor<?x2xf32>) -> tensor<3x2xf32>
  // expected-remark@+1 {{[decompose: open-size]}}
  %z = onnx.Einsum(%c, %d) {equation = "ij,jkl->ikl"} : (tensor<3x4xf32>, tensor<4x?x2xf32>) -> tensor<3x?x2xf32>
  func.return %y, %z : tensor<3x2xf32>, tensor<3x?x2xf32>
}

// A product of vectors; an index that only one operand sums; a diagonal; one operand; another rank; an index of no operand.

// CHECK-LABEL: func.func @unmoved_no_product(
// CHECK-COUNT-6: onnx.Einsum(
func.func @unmoved_no_product(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<*xf32>) {
  // expected-remark@+1 {{the equation is not a product of two matrices [decompose: product-form]}}
  %y = onnx.Einsum(%a, %b) {equation = "bi,bi->b"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{[decompose: product-form]}}
  %z = onnx.Einsum(%a, %b) {equation = "ij,jk->k"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{[decompose: product-form]}}
  %d = onnx.Einsum(%a, %b) {equation = "ii,ij->ij"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@+1 {{[decompose: product-form]}}
  %s = onnx.Einsum(%a) {equation = "ij->i"} : (tensor<4x4xf32>) -> tensor<4xf32>
  // expected-remark@+1 {{[decompose: product-form]}}
  %r = onnx.Einsum(%a, %b) {equation = "hij,jk->ik"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-remark@+1 {{[decompose: product-form]}}
  %u = onnx.Einsum(%a, %b) {equation = "ij,jk->ikl"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<*xf32>
  func.return %y, %z, %d, %s, %r, %u : tensor<4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<*xf32>
}
