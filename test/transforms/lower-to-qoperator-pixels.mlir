// RUN: OPT %s -p lower-to-qoperator --split-input-file --print-constants | FILECHECK %s

!x = !quant.uniform<u8:f32, 0.02:13>

// CHECK-LABEL: func.func @greatest(
// CHECK: %[[X:.*]] = quant.scast %q
// CHECK-NEXT: %[[L:.*]] = onnx.Transpose(%[[X]]) {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: %[[P:.*]] = onnx_ms.NhwcMaxPool(%[[L]]) {kernel_shape = array<i64: 1400>} : (tensor<?x1400x3xui8>) -> tensor<?x1x3xui8>
// CHECK: onnx.Reshape(%[[P]], %{{.*}}) : (tensor<?x1x3xui8>, tensor<2xi64>) -> tensor<?x3xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @greatest(%q: tensor<?x3x1400x!x>) -> tensor<?x3x!x> {
    %y = onnx.ReduceMax(%q, _) {axes = array<i64: 2>, keepdims = 0 : i64} : (tensor<?x3x1400x!x>) -> tensor<?x3x!x>
    func.return %y : tensor<?x3x!x>
  }
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// Rows of features have no channels in front.

// CHECK-LABEL: func.func @greatest_of_other_axes(
// CHECK: onnx.ReduceMax(%{{.*}}, _) {axes = array<i64: 1>} : (tensor<2x3x5xui8>) -> tensor<2x1x5xui8>
// CHECK-LABEL: func.func @unmoved_greatest_of_any_rank(
// CHECK: onnx.ReduceMax(%{{.*}}, _) {axes = array<i64: 2>} : (tensor<*xui8>) -> tensor<*xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @greatest_of_other_axes(%q: tensor<2x3x5x!x>) -> tensor<2x1x5x!x> {
    %y = onnx.ReduceMax(%q, _) {axes = array<i64: 1>} : (tensor<2x3x5x!x>) -> tensor<2x1x5x!x>
    func.return %y : tensor<2x1x5x!x>
  }
  func.func @unmoved_greatest_of_any_rank(%q: tensor<*x!x>) -> tensor<*x!x> {
    %y = onnx.ReduceMax(%q, _) {axes = array<i64: 2>} : (tensor<*x!x>) -> tensor<*x!x>
    func.return %y : tensor<*x!x>
  }
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// Rows and volumes are pooled with channels last, as images are: with channels in front it takes ten times as long.

// CHECK-LABEL: func.func @rows(
// CHECK: %[[L:.*]] = onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 1>} : (tensor<?x3x90xui8>) -> tensor<?x90x3xui8>
// CHECK-NEXT: %[[P:.*]] = onnx_ms.NhwcMaxPool(%[[L]]) {{{.*}}kernel_shape = array<i64: 2>{{.*}}} : (tensor<?x90x3xui8>) -> tensor<?x45x3xui8>
// CHECK-NEXT: onnx.Transpose(%[[P]]) {perm = array<i64: 0, 2, 1>} : (tensor<?x45x3xui8>) -> tensor<?x3x45xui8>
// CHECK-LABEL: func.func @volumes(
// CHECK: onnx.Transpose({{.*}}) {perm = array<i64: 0, 2, 3, 4, 1>} : (tensor<?x3x6x8x5xui8>) -> tensor<?x6x8x5x3xui8>
// CHECK: onnx_ms.NhwcMaxPool({{.*}} -> tensor<?x5x7x4x3xui8>
// CHECK-NEXT: onnx.Transpose({{.*}}) {perm = array<i64: 0, 4, 1, 2, 3>} : (tensor<?x5x7x4x3xui8>) -> tensor<?x3x5x7x4xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @rows(%q: tensor<?x3x90x!x>) -> tensor<?x3x45x!x> {
    %y = onnx.MaxPool(%q) {kernel_shape = array<i64: 2>, strides = array<i64: 2>} : (tensor<?x3x90x!x>) -> tensor<?x3x45x!x>
    func.return %y : tensor<?x3x45x!x>
  }
  func.func @volumes(%q: tensor<?x3x6x8x5x!x>) -> tensor<?x3x5x7x4x!x> {
    %y = onnx.MaxPool(%q) {kernel_shape = array<i64: 2, 2, 2>} : (tensor<?x3x6x8x5x!x>) -> tensor<?x3x5x7x4x!x>
    func.return %y : tensor<?x3x5x7x4x!x>
  }
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// CHECK-LABEL: func.func @global_max_pool(
// CHECK: onnx_ms.NhwcMaxPool(%{{.*}}) {kernel_shape = array<i64: 2000>} : (tensor<1x2000x3xui8>) -> tensor<1x1x3xui8>
// CHECK: onnx.Reshape({{.*}}) : (tensor<1x1x3xui8>, tensor<4xi64>) -> tensor<1x3x1x1xui8>
// CHECK-LABEL: func.func @global_max_pool_of_any_size(
// CHECK: onnx.ReduceMax(%{{.*}}, _) {axes = array<i64: 2, 3>} : (tensor<1x3x?x5xui8>) -> tensor<1x3x1x1xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @global_max_pool(%q: tensor<1x3x40x50x!x>) -> tensor<1x3x1x1x!x> {
    %y = onnx.GlobalMaxPool(%q) : (tensor<1x3x40x50x!x>) -> tensor<1x3x1x1x!x>
    func.return %y : tensor<1x3x1x1x!x>
  }
  func.func @global_max_pool_of_any_size(%q: tensor<1x3x?x5x!x>) -> tensor<1x3x1x1x!x> {
    %y = onnx.GlobalMaxPool(%q) : (tensor<1x3x?x5x!x>) -> tensor<1x3x1x1x!x>
    func.return %y : tensor<1x3x1x1x!x>
  }
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// CHECK-LABEL: func.func @depth_to_space(
// CHECK: %[[L:.*]] = onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x12x16x24xui8>)
// CHECK: %[[C:.*]] = onnx.Reshape(%[[L]], %{{.*}}) : (tensor<?x16x24x12xui8>, tensor<6xi64>) -> tensor<?x16x24x2x2x3xui8>
// CHECK-NEXT: %[[T:.*]] = onnx.Transpose(%[[C]]) {perm = array<i64: 0, 1, 3, 2, 4, 5>}
// CHECK: %[[S:.*]] = onnx.Reshape(%[[T]], %{{.*}}) : (tensor<?x16x2x24x2x3xui8>, tensor<4xi64>) -> tensor<?x32x48x3xui8>
// CHECK-NEXT: onnx.Transpose(%[[S]]) {perm = array<i64: 0, 3, 1, 2>}
// CHECK-LABEL: func.func @depth_to_space_by_columns(
// CHECK: onnx.DepthToSpace({{.*}} {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x12x16x24xui8>)
// CHECK-LABEL: func.func @space_to_depth(
// CHECK: onnx.Reshape({{.*}}) : (tensor<1x32x48x3xui8>, tensor<6xi64>) -> tensor<1x16x2x24x2x3xui8>
// CHECK-LABEL: func.func @depth_to_space_of_few(
// CHECK: onnx.DepthToSpace({{.*}} : (tensor<1x12x2x5xui8>) -> tensor<1x3x4x10xui8>
// CHECK-LABEL: func.func @depth_to_space_of_any_size(
// CHECK: onnx.DepthToSpace({{.*}} : (tensor<1x12x?x5xui8>) -> tensor<1x3x?x10xui8>
// CHECK-LABEL: func.func @unmoved_depth_to_space_of_no_pixels(
// CHECK: onnx.DepthToSpace({{.*}} : (tensor<1x12x0x5xui8>) -> tensor<1x3x0x10xui8>
// CHECK-LABEL: func.func @space_to_depth_of_any_size(
// CHECK: onnx.SpaceToDepth({{.*}} : (tensor<1x3x?x10xui8>) -> tensor<1x12x?x5xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @depth_to_space(%q: tensor<?x12x16x24x!x>) -> tensor<?x3x32x48x!x> {
    %y = onnx.DepthToSpace(%q) {blocksize = 2 : i64} : (tensor<?x12x16x24x!x>) -> tensor<?x3x32x48x!x>
    func.return %y : tensor<?x3x32x48x!x>
  }
  func.func @depth_to_space_by_columns(%q: tensor<1x12x16x24x!x>) -> tensor<1x3x32x48x!x> {
    %y = onnx.DepthToSpace(%q) {blocksize = 2 : i64, mode = "CRD"} : (tensor<1x12x16x24x!x>) -> tensor<1x3x32x48x!x>
    func.return %y : tensor<1x3x32x48x!x>
  }
  func.func @space_to_depth(%q: tensor<1x3x32x48x!x>) -> tensor<1x12x16x24x!x> {
    %y = onnx.SpaceToDepth(%q) {blocksize = 2 : i64} : (tensor<1x3x32x48x!x>) -> tensor<1x12x16x24x!x>
    func.return %y : tensor<1x12x16x24x!x>
  }
  func.func @depth_to_space_of_few(%q: tensor<1x12x2x5x!x>) -> tensor<1x3x4x10x!x> {
    %y = onnx.DepthToSpace(%q) {blocksize = 2 : i64} : (tensor<1x12x2x5x!x>) -> tensor<1x3x4x10x!x>
    func.return %y : tensor<1x3x4x10x!x>
  }
  func.func @depth_to_space_of_any_size(%q: tensor<1x12x?x5x!x>) -> tensor<1x3x?x10x!x> {
    %y = onnx.DepthToSpace(%q) {blocksize = 2 : i64} : (tensor<1x12x?x5x!x>) -> tensor<1x3x?x10x!x>
    func.return %y : tensor<1x3x?x10x!x>
  }
  func.func @unmoved_depth_to_space_of_no_pixels(%q: tensor<1x12x0x5x!x>) -> tensor<1x3x0x10x!x> {
    %y = onnx.DepthToSpace(%q) {blocksize = 2 : i64} : (tensor<1x12x0x5x!x>) -> tensor<1x3x0x10x!x>
    func.return %y : tensor<1x3x0x10x!x>
  }
  func.func @space_to_depth_of_any_size(%q: tensor<1x3x?x10x!x>) -> tensor<1x12x?x5x!x> {
    %y = onnx.SpaceToDepth(%q) {blocksize = 2 : i64} : (tensor<1x3x?x10x!x>) -> tensor<1x12x?x5x!x>
    func.return %y : tensor<1x12x?x5x!x>
  }
}

// -----

!x = !quant.uniform<u8:f32, 0.02:13>

// CHECK-LABEL: func.func @resize(
// CHECK: %[[L:.*]] = onnx.Transpose(%{{.*}}) {perm = array<i64: 0, 2, 3, 1>}
// CHECK: %[[R:.*]] = onnx.Reshape(%[[L]], %{{.*}}) : (tensor<1x16x20x3xui8>, tensor<6xi64>) -> tensor<1x16x1x20x1x3xui8>
// CHECK: %[[T:.*]] = onnx.Tile(%[[R]], %{{.*}}) : (tensor<1x16x1x20x1x3xui8>, tensor<6xi64>) -> tensor<1x16x3x20x2x3xui8>
// CHECK: onnx.Reshape(%[[T]], %{{.*}}) : (tensor<1x16x3x20x2x3xui8>, tensor<4xi64>) -> tensor<1x48x40x3xui8>
// CHECK-LABEL: func.func @resize_up(
// CHECK: onnx.Resize({{.*}} : (tensor<1x3x16x20xui8>, tensor<4xf32>) -> tensor<1x3x48x40xui8>
// CHECK-LABEL: func.func @unmoved_resize_of_no_pixels(
// CHECK: onnx.Resize({{.*}} : (tensor<1x3x0x4xui8>, tensor<4xf32>) -> tensor<1x3x0x8xui8>
// CHECK-LABEL: func.func @resize_of_any_size(
// CHECK: onnx.Resize({{.*}} : (tensor<1x3x?x4xui8>, tensor<4xf32>) -> tensor<1x3x?x8xui8>
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @resize(%q: tensor<1x3x16x20x!x>) -> tensor<1x3x48x40x!x> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 3.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %y = onnx.Resize(%q, _, %s) {mode = "nearest"} : (tensor<1x3x16x20x!x>, tensor<4xf32>) -> tensor<1x3x48x40x!x>
    func.return %y : tensor<1x3x48x40x!x>
  }
  func.func @resize_up(%q: tensor<1x3x16x20x!x>) -> tensor<1x3x48x40x!x> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 3.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %y = onnx.Resize(%q, _, %s) {mode = "nearest", nearest_mode = "ceil"} : (tensor<1x3x16x20x!x>, tensor<4xf32>) -> tensor<1x3x48x40x!x>
    func.return %y : tensor<1x3x48x40x!x>
  }
  func.func @unmoved_resize_of_no_pixels(%q: tensor<1x3x0x4x!x>) -> tensor<1x3x0x8x!x> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 3.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %y = onnx.Resize(%q, _, %s) {mode = "nearest"} : (tensor<1x3x0x4x!x>, tensor<4xf32>) -> tensor<1x3x0x8x!x>
    func.return %y : tensor<1x3x0x8x!x>
  }
  func.func @resize_of_any_size(%q: tensor<1x3x?x4x!x>) -> tensor<1x3x?x8x!x> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 3.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %y = onnx.Resize(%q, _, %s) {mode = "nearest"} : (tensor<1x3x?x4x!x>, tensor<4xf32>) -> tensor<1x3x?x8x!x>
    func.return %y : tensor<1x3x?x8x!x>
  }
}

// -----

// Bytes that no cast reads, as between nodes that stay as they are, are pooled alike.

// CHECK-LABEL: func.func @bytes(
// CHECK: %[[L:.*]] = onnx.Transpose(%q) {perm = array<i64: 0, 2, 3, 1>} : (tensor<?x3x6x8xi8>) -> tensor<?x6x8x3xi8>
// CHECK-NEXT: %[[P:.*]] = onnx_ms.NhwcMaxPool(%[[L]])
// CHECK-NEXT: onnx.Transpose(%[[P]]) {perm = array<i64: 0, 3, 1, 2>} : (tensor<?x5x7x3xi8>) -> tensor<?x3x5x7xi8>
// CHECK-LABEL: func.func @unmoved_words(
// CHECK: onnx.ReduceMax(%q
// CHECK-LABEL: func.func @unmoved_interpolated(
// CHECK: onnx.Resize(%q
// CHECK-LABEL: func.func @unmoved_clip(
// CHECK: onnx.Clip(%q
builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64}} {
  func.func @bytes(%q: tensor<?x3x6x8xi8>) -> tensor<?x3x5x7xi8> {
    %y = onnx.MaxPool(%q) {kernel_shape = array<i64: 2, 2>} : (tensor<?x3x6x8xi8>) -> tensor<?x3x5x7xi8>
    func.return %y : tensor<?x3x5x7xi8>
  }
  func.func @unmoved_words(%q: tensor<?x3x1400xi32>) -> tensor<?x3xi32> {
    %y = onnx.ReduceMax(%q, _) {axes = array<i64: 2>, keepdims = 0 : i64} : (tensor<?x3x1400xi32>) -> tensor<?x3xi32>
    func.return %y : tensor<?x3xi32>
  }
  func.func @unmoved_interpolated(%q: tensor<2x3x64x48xui8>) -> tensor<2x3x128x96xui8> {
    %s = onnx.Constant() {value = #onnx.tensor<[1.0, 1.0, 2.0, 2.0] : tensor<4xf32>>} : () -> tensor<4xf32>
    %y = onnx.Resize(%q, _, %s) {mode = "linear"} : (tensor<2x3x64x48xui8>, tensor<4xf32>) -> tensor<2x3x128x96xui8>
    func.return %y : tensor<2x3x128x96xui8>
  }
  func.func @unmoved_clip(%q: tensor<?x3x6x8xi8>, %l: tensor<i8>) -> tensor<?x3x6x8xi8> {
    %y = onnx.Clip(%q, %l, _) : (tensor<?x3x6x8xi8>, tensor<i8>) -> tensor<?x3x6x8xi8>
    func.return %y : tensor<?x3x6x8xi8>
  }
}
