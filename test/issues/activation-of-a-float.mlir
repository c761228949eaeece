// RUN: OPT %s -p 'hoist-quantize{activations=true},fuse-quantized' | FILECHECK %s
// RUN: OPT %s -p 'hoist-quantize,fuse-quantized' | FILECHECK %s --check-prefix=KERNELS

// What `relu(sub(a)) : T`, an op on quantized types and its activation, is after it was written as QDQ. Read again it
// has to be the same, or a second compilation leaves out the pair in front of the Sub.

// CHECK-LABEL: func.func @main(
// CHECK: %[[S:.*]] = onnx.Sub(%a, %b) {{.*}}-> tensor<2x3x!quant.uniform<u8:f32, 0.05:183>>
// CHECK-NEXT: %[[R:.*]] = onnx.Relu(%[[S]])
// CHECK-NEXT: func.return %[[R]]

// Where no integer kernel makes the operand, the integers of the activation would be one op more.

// KERNELS-LABEL: func.func @main(
// KERNELS: onnx.Sub({{.*}}) {{.*}}-> tensor<2x3xf32>
// KERNELS-NEXT: onnx.Relu({{.*}}) {{.*}}-> tensor<2x3xf32>
// KERNELS-NEXT: quant.qcast

!a = !quant.uniform<u8:f32, 0.02:13>
!t = !quant.uniform<u8:f32, 0.05:183>
func.func @main(%a: tensor<2x3x!a>, %b: tensor<2x3x!a>) -> tensor<2x3x!t> {
  %x = quant.dcast %a : tensor<2x3x!a> to tensor<2x3xf32>
  %y = quant.dcast %b : tensor<2x3x!a> to tensor<2x3xf32>
  %s = onnx.Sub(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = onnx.Relu(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!t>
  func.return %q : tensor<2x3x!t>
}

// A MaxPool is no activation: its operand has more elements than its result.

// CHECK-LABEL: func.func @unmoved_max_pool(
// CHECK: onnx.MaxPool({{.*}}) {{.*}}-> tensor<1x2x2x2xf32>
// CHECK-NEXT: quant.qcast
func.func @unmoved_max_pool(%a: tensor<1x2x4x4x!a>) -> tensor<1x2x2x2x!t> {
  %x = quant.dcast %a : tensor<1x2x4x4x!a> to tensor<1x2x4x4xf32>
  %s = onnx.Tanh(%x) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %m = onnx.MaxPool(%s) {kernel_shape = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %q = quant.qcast %m : tensor<1x2x2x2xf32> to tensor<1x2x2x2x!t>
  func.return %q : tensor<1x2x2x2x!t>
}

// Nobody makes what comes into the graph: its activation would stand between two pairs where there was one.

// CHECK-LABEL: func.func @unmoved_graph_input(
// CHECK: onnx.Relu(%x)
// CHECK-NEXT: quant.qcast
func.func @unmoved_graph_input(%x: tensor<2x3xf32>) -> tensor<2x3x!t> {
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!t>
  func.return %q : tensor<2x3x!t>
}

// The storage range clamps as the Relu does, which then goes.

// CHECK-LABEL: func.func @graph_input_clamped_by_its_range(
// CHECK: %[[Q:.*]] = quant.qcast %x
// CHECK-NEXT: onnx.Relu(%[[Q]])
// KERNELS-LABEL: func.func @graph_input_clamped_by_its_range(
// KERNELS: %[[Q:.*]] = quant.qcast %x
// KERNELS-NEXT: onnx.Relu(%[[Q]])
func.func @graph_input_clamped_by_its_range(%x: tensor<2x3xf32>) -> tensor<2x3x!quant.uniform<u8:f32, 0.05>> {
  %r = onnx.Relu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = quant.qcast %r : tensor<2x3xf32> to tensor<2x3x!quant.uniform<u8:f32, 0.05>>
  func.return %q : tensor<2x3x!quant.uniform<u8:f32, 0.05>>
}
