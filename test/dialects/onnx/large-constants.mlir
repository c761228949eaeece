// RUN: OPT %s | FILECHECK %s
// RUN: OPT %s --print-constants | FILECHECK %s --check-prefix=INLINE
// RUN: OPT %s | not qdialect-opt 2>&1 | FILECHECK %s --check-prefix=AGAIN

// More than 64 elements are left out; --print-constants writes them in hex; what was left out is not read.

// CHECK: #onnx.tensor<elided : tensor<65xi8>>
// INLINE: #onnx.tensor<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F40" : tensor<65xi8>>
// AGAIN: error: {{.*}}elided{{.*}}--print-constants
func.func @large() -> tensor<65xi8> {
  %c = onnx.Constant() {value = #onnx.tensor<"0x000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F40" : tensor<65xi8>>} : () -> tensor<65xi8>
  func.return %c : tensor<65xi8>
}
