// RUN: OPT %s -p freeze | FILECHECK %s
// RUN: DIAGNOSTICS -p freeze

// An input with a default becomes a constant; the others keep their order and their names.

// CHECK: builtin.module attributes {onnx.ir_version = 4 : i64}
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %x: tensor<2xf32> {onnx.name = "x"}, %y: tensor<3xf32> {onnx.name = "y"}) -> (tensor<2xf32>, tensor<3xf32>)
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[0.5] : tensor<1xf32>>} : () -> tensor<1xf32>
// CHECK-NEXT: onnx.Mul(%x, %[[W]])
// CHECK-NEXT: onnx.Mul(%y, %[[W]])
builtin.module attributes {onnx.ir_version = 3 : i64} {
  // expected-remark@+1 {{func.func 'func.func': initializers that are also graph inputs became constants; keep them with --keep-overridable [freeze: frozen-input]}}
  func.func @main(%x: tensor<2xf32> {onnx.name = "x"}, %w: tensor<1xf32> {onnx.name = "w", onnx.default = #onnx.tensor<[0.5] : tensor<1xf32>>}, %y: tensor<3xf32> {onnx.name = "y"}) -> (tensor<2xf32>, tensor<3xf32>) {
    %a = onnx.Mul(%x, %w) : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
    %b = onnx.Mul(%y, %w) : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
    func.return %a, %b : tensor<2xf32>, tensor<3xf32>
  }
}

// -----

// A default that goes straight out.

// CHECK: builtin.module attributes {onnx.ir_version = 8 : i64}
// CHECK-LABEL: func.func @main() -> tensor<2xi64>
// CHECK-NEXT: %[[W:.*]] = onnx.Constant() {value = #onnx.tensor<[3, -4] : tensor<2xi64>>}
// CHECK-NEXT: func.return %[[W]]
builtin.module attributes {onnx.ir_version = 8 : i64} {
  // expected-remark@+1 {{[freeze: frozen-input]}}
  func.func @main(%w: tensor<2xi64> {onnx.name = "w", onnx.default = #onnx.tensor<[3, -4] : tensor<2xi64>>}) -> tensor<2xi64> {
    func.return %w : tensor<2xi64>
  }
}

// -----

// Nothing is frozen: no input has a default, and the IR version stays.

// CHECK: builtin.module attributes {onnx.ir_version = 3 : i64}
// CHECK-LABEL: func.func @unchanged_inputs(
// CHECK-SAME: %x: tensor<2xf32> {onnx.name = "x"}, %w: tensor<2xf32> {onnx.name = "w"})
// CHECK-NEXT: onnx.Mul(%x, %w)
builtin.module attributes {onnx.ir_version = 3 : i64} {
  func.func @unchanged_inputs(%x: tensor<2xf32> {onnx.name = "x"}, %w: tensor<2xf32> {onnx.name = "w"}) -> tensor<2xf32> {
    %a = onnx.Mul(%x, %w) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    func.return %a : tensor<2xf32>
  }
}
