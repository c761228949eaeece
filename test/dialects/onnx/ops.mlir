// RUN: ROUNDTRIP
// RUN: OPT %s --print-debuginfo | FILECHECK %s --check-prefix=NAMES

builtin.module attributes {onnx.opset_import = {ai.onnx = 17 : i64, com.microsoft = 1 : i64}} {

// An input left out keeps its place, behind the others too; attributes keep their kinds.

// CHECK-LABEL: func.func @left_out(
// CHECK: onnx.Conv(%x, %w, _) {group = 1 : i64, auto_pad = "SAME_UPPER", strides = array<i64: 1, 2>} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x3xf32>
// CHECK: onnx.Clip(%{{.*}}, _, %h) : (tensor<1x3x5x3xf32>, tensor<f32>) -> tensor<1x3x5x3xf32>
func.func @left_out(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3xf32>, %h: tensor<f32>) -> tensor<1x3x5x3xf32> {
  %y = onnx.Conv(%x, %w) {group = 1 : i64, auto_pad = "SAME_UPPER", strides = array<i64: 1, 2>} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x3xf32>
  %z = onnx.Clip(%y, _, %h) : (tensor<1x3x5x3xf32>, tensor<f32>) -> tensor<1x3x5x3xf32>
  func.return %z : tensor<1x3x5x3xf32>
}

// The first two results are left out.

// CHECK-LABEL: func.func @left_out_results(
// CHECK: onnx.LSTM(%x, %w, %r, _, _, _, _, _) {hidden_size = 2 : i64, resultSegmentSizes = array<i32: 0, 0, 1>} : {{.*}} -> tensor<1x1x2xf32>
func.func @left_out_results(%x: tensor<4x1x3xf32>, %w: tensor<1x8x3xf32>, %r: tensor<1x8x2xf32>) -> tensor<1x1x2xf32> {
  %c = onnx.LSTM(%x, %w, %r) {hidden_size = 2 : i64, resultSegmentSizes = array<i32: 0, 0, 1>} : (tensor<4x1x3xf32>, tensor<1x8x3xf32>, tensor<1x8x2xf32>) -> tensor<1x1x2xf32>
  func.return %c : tensor<1x1x2xf32>
}

// Floats keep every bit; what is said besides ONNX follows `attributes`.

// CHECK-LABEL: func.func @attributes(
// CHECK: onnx.Elu(%x) {alpha = 0.333333343 : f32} attributes {note = "kept"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: onnx.TfIdfVectorizer({{.*}} mode = "TF", {{.*}} pool_strings = ["a", "b\22c"]
func.func @attributes(%x: tensor<2x3xf32>, %s: tensor<4x!onnx.string>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %y = onnx.Elu(%x) {alpha = 0.333333343 : f32} attributes {note = "kept"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %z = onnx.TfIdfVectorizer(%s) {max_gram_length = 1 : i64, max_skip_count = 0 : i64, min_gram_length = 1 : i64, mode = "TF", ngram_counts = array<i64: 0>, ngram_indexes = array<i64: 0, 1>, pool_strings = ["a", "b\"c"]} : (tensor<4x!onnx.string>) -> tensor<2xf32>
  func.return %y, %z : tensor<2x3xf32>, tensor<2xf32>
}

// Variadic operands and results; one name, several tensors.

// CHECK-LABEL: func.func @variadic(
// CHECK: onnx.Concat(%a, %b, %a) {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32>
// CHECK: %{{.*}}, %{{.*}} = onnx.Split(%{{.*}}, %{{.*}}) : (tensor<7xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<5xf32>)
// NAMES-LABEL: func.func @variadic(
// NAMES: onnx.Concat({{.*}} loc(fused["joins", "all"])
// NAMES: onnx.Split({{.*}} loc(fused["cuts", "head", "tail \22x\22"])
func.func @variadic(%a: tensor<2xf32>, %b: tensor<3xf32>) -> (tensor<2xf32>, tensor<5xf32>) {
  %c = onnx.Constant() {value = #onnx.tensor<[2, 5] : tensor<2xi64>>} : () -> tensor<2xi64>
  %j = onnx.Concat(%a, %b, %a) {axis = 0 : i64} : (tensor<2xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<7xf32> loc(fused["joins", "all"])
  %y, %z = onnx.Split(%j, %c) : (tensor<7xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<5xf32>) loc(fused["cuts", "head", "tail \"x\""])
  func.return %y, %z : tensor<2xf32>, tensor<5xf32>
}

// Each domain has its prefix.

// CHECK-LABEL: func.func @domains(
// CHECK: onnx_ms.Gelu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: onnx_ml.Normalizer(%{{.*}}) {norm = "L2"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: onnx.Custom(%{{.*}}, _, %x) {domain = "my.ops", op_type = "Twist", attrs = {k = 2 : i64}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<*x!onnx.any>)
func.func @domains(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<*x!onnx.any>) {
  %g = onnx_ms.Gelu(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %n = onnx_ml.Normalizer(%g) {norm = "L2"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y, %z = onnx.Custom(%n, _, %x) {domain = "my.ops", op_type = "Twist", attrs = {k = 2 : i64}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<*x!onnx.any>)
  func.return %y, %z : tensor<2x3xf32>, tensor<*x!onnx.any>
}

// Values that are no tensors.

// CHECK-LABEL: func.func @sequences(
// CHECK-SAME: %o: !onnx.optional<tensor<2x?xf32>>, %m: !onnx.map<i64, tensor<f32>>
// CHECK: onnx.OptionalGetElement(%o) : (!onnx.optional<tensor<2x?xf32>>) -> tensor<2x?xf32>
// CHECK: onnx.SequenceConstruct(%x, %{{.*}}) : (tensor<2x?xf32>, tensor<2x?xf32>) -> !onnx.seq<tensor<2x?xf32>>
func.func @sequences(%x: tensor<2x?xf32>, %o: !onnx.optional<tensor<2x?xf32>>, %m: !onnx.map<i64, tensor<f32>>) -> !onnx.seq<tensor<2x?xf32>> {
  %y = onnx.OptionalGetElement(%o) : (!onnx.optional<tensor<2x?xf32>>) -> tensor<2x?xf32>
  %z = onnx.SequenceConstruct(%x, %y) : (tensor<2x?xf32>, tensor<2x?xf32>) -> !onnx.seq<tensor<2x?xf32>>
  func.return %z : !onnx.seq<tensor<2x?xf32>>
}

// An op on quantized types.

// CHECK-LABEL: func.func @quantized(
// CHECK: onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
func.func @quantized(%q: tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03:7>> {
  %r = onnx.Relu(%q) : (tensor<2x3x!quant.uniform<u8:f32, 0.02:13>>) -> tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
  func.return %r : tensor<2x3x!quant.uniform<u8:f32, 0.03:7>>
}

}
