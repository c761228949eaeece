// RUN: OPT %s | FILECHECK %s
// RUN: not qdialect-opt %s 2>&1 | FILECHECK %s --check-prefix=WHOLE

// Each piece is a file of its own: a name may come twice, and a piece of comments alone is an empty module.

// WHOLE: split-input-file.mlir:{{[0-9]+}}:{{[0-9]+}}: error:

// CHECK:      builtin.module {
// CHECK-NEXT: }
// CHECK-NEXT: // -----
// CHECK-LABEL: func.func @twice
// CHECK-SAME:  (%{{.*}}: tensor<2x3xf32>)
// CHECK:       // -----
// CHECK-LABEL: func.func @twice
// CHECK-SAME:  (%{{.*}}: tensor<5xi8>)
// CHECK-NOT:   // -----

// -----

!t = tensor<2x3xf32>
func.func @twice(%x: !t) {
  func.return
}

// -----

!t = tensor<5xi8>
func.func @twice(%x: !t) {
  func.return
}
