/* What LLVM's lowering of memref.copy calls where the elements do not lie in one row; MLIR's CRunnerUtils has it else. */
#include <stdint.h>
#include <string.h>

typedef struct {
  char *allocated, *aligned;
  int64_t offset, numbers[]; /* sizes, then strides */
} Memref;

typedef struct {
  int64_t rank;
  Memref *memref;
} Unranked;

static void copy(int64_t size, int64_t rank, const int64_t *sizes, const int64_t *from, const int64_t *to,
                 const char *source, char *target) {
  if (rank == 0) {
    memcpy(target, source, size);
    return;
  }
  for (int64_t k = 0; k < sizes[0]; k++)
    copy(size, rank - 1, sizes + 1, from + 1, to + 1, source + k * from[0] * size, target + k * to[0] * size);
}

void memrefCopy(int64_t size, Unranked *from, Unranked *to) {
  Memref *a = from->memref, *b = to->memref;
  int64_t rank = from->rank;
  copy(size, rank, a->numbers, a->numbers + rank, b->numbers + rank, a->aligned + a->offset * size,
       b->aligned + b->offset * size);
}
