// RUN: ROUNDTRIP

// CHECK-LABEL: @per_tensor
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>
// CHECK-NEXT:  %[[Q:.*]] = quant.qcast %[[X]] : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
// CHECK-NEXT:  %[[R:.*]] = quant.dcast %[[Q]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x3xf32>
// CHECK-NEXT:  %[[S:.*]] = quant.scast %[[Q]] : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x3xui8>
// CHECK-NEXT:  %{{.*}} = quant.scast %[[S]] : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
func.func @per_tensor(%x: tensor<2x3xf32>) {
  %q = quant.qcast %x : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
  %r = quant.dcast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x3xf32>
  %s = quant.scast %q : tensor<2x3x!quant.uniform<u8:f32, 0.02:128>> to tensor<2x3xui8>
  %t = quant.scast %s : tensor<2x3xui8> to tensor<2x3x!quant.uniform<u8:f32, 0.02:128>>
  func.return
}

// Signless integers hold unsigned storage too, as upstream.

// CHECK-LABEL: @signless
// CHECK:       quant.scast %{{.*}} : tensor<2xi8> to tensor<2x!quant.uniform<u8:f32, 0.5:3>>
// CHECK-NEXT:  quant.scast %{{.*}} : tensor<2xi4> to tensor<2x!quant.uniform<i4:f32, 0.5:3>>
func.func @signless(%a: tensor<2xi8>, %b: tensor<2xi4>) {
  %q = quant.scast %a : tensor<2xi8> to tensor<2x!quant.uniform<u8:f32, 0.5:3>>
  %r = quant.scast %b : tensor<2xi4> to tensor<2x!quant.uniform<i4:f32, 0.5:3>>
  func.return
}

// An axis of unknown length, an unknown rank, and a scalar.

// CHECK-LABEL: @shapes
// CHECK:       quant.qcast %{{.*}} : tensor<2x?xf32> to tensor<2x?x!quant.uniform<i8:f32:1, {0.5,0.25:3,0.125}>>
// CHECK-NEXT:  quant.qcast %{{.*}} : tensor<*xf16> to tensor<*x!quant.uniform<i8:f16, 0.5:3>>
// CHECK-NEXT:  quant.qcast %{{.*}} : bf16 to !quant.uniform<i8:bf16, 0.5:3>
func.func @shapes(%x: tensor<2x?xf32>, %y: tensor<*xf16>, %z: bf16) {
  %a = quant.qcast %x : tensor<2x?xf32> to tensor<2x?x!quant.uniform<i8:f32:1, {0.5,0.25:3,0.125}>>
  %b = quant.qcast %y : tensor<*xf16> to tensor<*x!quant.uniform<i8:f16, 0.5:3>>
  %c = quant.qcast %z : bf16 to !quant.uniform<i8:bf16, 0.5:3>
  func.return
}

// Blocks: axis 0 in blocks of 2, axis 1 in one.

// CHECK-LABEL: @sub_channel
// CHECK{LITERAL}: : tensor<6x4x!quant.uniform<i8:f32:{0:2}, {{2.0:3}, {3.0}, {5.0}}>> to tensor<6x4xf32>
func.func @sub_channel(%q: tensor<6x4x!quant.uniform<i8:f32:{0:2}, {{2.0:3}, {3.0}, {5.0}}>>) {
  %r = quant.dcast %q : tensor<6x4x!quant.uniform<i8:f32:{0:2}, {{2.0:3}, {3.0}, {5.0}}>> to tensor<6x4xf32>
  func.return
}
