// RUN: mkdir -p %t && cd %t && OPT %s -o whole.mlir && OPT whole.mlir -o again.mlir
// RUN: cmp %t/whole.weights %t/again.weights
// RUN: FILECHECK %s --input-file %t/whole.mlir
// RUN: OPT %t/again.mlir --print-constants | FILECHECK %s --check-prefix=INLINE
// RUN: OPT %s | FILECHECK %s --check-prefix=ELIDED
// RUN: OPT %s | not OPT 2>&1 | FILECHECK %s --check-prefix=ERROR

// Up to 64 elements stand in the text; more go to a file, equal bytes once, aligned to 64 bytes; locations are written.

// CHECK:       #onnx.tensor<[1.5, -2.0, 0.1] : tensor<3xf32>>
// CHECK-SAME:  loc("small")
// CHECK-NEXT:  #onnx.tensor<"whole.weights"[0, 65] : tensor<5x13xi8>>
// CHECK-NEXT:  #onnx.tensor<"whole.weights"[128, 66] : tensor<66xi8>>
// CHECK-NEXT:  #onnx.tensor<"whole.weights"[0, 65] : tensor<65xi8>>

// INLINE: #onnx.tensor<"0x000102{{[0-9A-F]*}}40" : tensor<5x13xi8>>

// ELIDED:      #onnx.tensor<[1.5, -2.0, 0.1] : tensor<3xf32>>
// ELIDED-NEXT: #onnx.tensor<elided : tensor<5x13xi8>>

// ERROR: <stdin>:{{[0-9]+}}:{{[0-9]+}}: error: {{.*}} --print-constants
func.func @main() {
  %a = onnx.Constant() {value = #onnx.tensor<[1.5, -2.0, 0.1] : tensor<3xf32>>} : () -> tensor<3xf32> loc("small")
  %b = onnx.Constant() {value = #onnx.tensor<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F40" : tensor<5x13xi8>>} : () -> tensor<5x13xi8>
  %c = onnx.Constant() {value = #onnx.tensor<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F4041" : tensor<66xi8>>} : () -> tensor<66xi8>
  %d = onnx.Constant() {value = #onnx.tensor<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F40" : tensor<65xi8>>} : () -> tensor<65xi8>
  func.return
}
