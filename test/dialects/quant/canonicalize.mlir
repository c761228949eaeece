// RUN: OPT %s -p canonicalize | FILECHECK %s

// Quantizing what was dequantized from the same type gives it back.

// CHECK-LABEL: @quantize_of_dequantize
// CHECK-SAME:    %[[Q:.*]]: tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
// CHECK-NEXT:  func.return %[[Q]] :
func.func @quantize_of_dequantize(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> {
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x3xf32>
  %p = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
  func.return %p : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
}

// The float's other users keep it.

// CHECK-LABEL: @quantize_of_a_shared_dequantize
// CHECK-SAME:    %[[Q:.*]]: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>>
// CHECK-NEXT:  %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT:  func.return %[[R]], %[[Q]] :
func.func @quantize_of_a_shared_dequantize(%q: tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>>) -> (tensor<2xf32>, tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>>) {
  %r = quant.dcast %q : tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>> to tensor<2xf32>
  %p = quant.qcast %r : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>>
  func.return %r, %p : tensor<2xf32>, tensor<2x!quant.uniform<i8:f32:0, {0.5,0.25:3}>>
}

// Two storage casts that undo each other are nothing.

// CHECK-LABEL: @storage_and_back
// CHECK-SAME:    %[[X:.*]]: tensor<2xi8>
// CHECK-NEXT:  func.return %[[X]] :
func.func @storage_and_back(%x: tensor<2xi8>) -> tensor<2xi8> {
  %q = quant.scast %x : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %y = quant.scast %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>> to tensor<2xi8>
  func.return %y : tensor<2xi8>
}

// The rounding stays: it is what the model means.

// CHECK-LABEL: @unchanged_dequantize_of_quantize
// CHECK-NEXT:  %[[Q:.*]] = quant.qcast
// CHECK-NEXT:  %[[R:.*]] = quant.dcast %[[Q]]
// CHECK-NEXT:  func.return %[[R]] :
func.func @unchanged_dequantize_of_quantize(%x: tensor<2xf32>) -> tensor<2xf32> {
  %q = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %r = quant.dcast %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>> to tensor<2xf32>
  func.return %r : tensor<2xf32>
}

// Other parameters: a rounding.

// CHECK-LABEL: @unchanged_requantize
// CHECK-NEXT:  quant.dcast
// CHECK-NEXT:  quant.qcast
func.func @unchanged_requantize(%q: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:4>> {
  %r = quant.dcast %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>> to tensor<2xf32>
  %p = quant.qcast %r : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5:4>>
  func.return %p : tensor<2x!quant.uniform<i8:f32, 0.5:4>>
}

// A bias of 32 bits does not fit in a float, nor 8 bits in a bfloat16.

// CHECK-LABEL: @unchanged_where_the_float_is_too_short
// CHECK-NEXT:  quant.dcast
// CHECK-NEXT:  quant.dcast
// CHECK-NEXT:  quant.qcast
// CHECK-NEXT:  quant.qcast
func.func @unchanged_where_the_float_is_too_short(%q: tensor<2x!quant.uniform<i32:f32, 0.5:3>>, %p: tensor<2x!quant.uniform<u8:bf16, 0.5:3>>) -> (tensor<2x!quant.uniform<i32:f32, 0.5:3>>, tensor<2x!quant.uniform<u8:bf16, 0.5:3>>) {
  %r = quant.dcast %q : tensor<2x!quant.uniform<i32:f32, 0.5:3>> to tensor<2xf32>
  %s = quant.dcast %p : tensor<2x!quant.uniform<u8:bf16, 0.5:3>> to tensor<2xbf16>
  %t = quant.qcast %r : tensor<2xf32> to tensor<2x!quant.uniform<i32:f32, 0.5:3>>
  %u = quant.qcast %s : tensor<2xbf16> to tensor<2x!quant.uniform<u8:bf16, 0.5:3>>
  func.return %t, %u : tensor<2x!quant.uniform<i32:f32, 0.5:3>>, tensor<2x!quant.uniform<u8:bf16, 0.5:3>>
}

// The same integers under another scale, on purpose.

// CHECK-LABEL: @unchanged_reinterpretation
// CHECK-NEXT:  quant.scast
// CHECK-NEXT:  quant.scast
func.func @unchanged_reinterpretation(%q: tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.25:3>> {
  %x = quant.scast %q : tensor<2x!quant.uniform<i8:f32, 0.5:3>> to tensor<2xi8>
  %p = quant.scast %x : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.25:3>>
  func.return %p : tensor<2x!quant.uniform<i8:f32, 0.25:3>>
}
