// How the threads of a block share the copying of a tile from global memory to shared memory.
#ifndef TILES_CUH
#define TILES_CUH

#include <cuda_runtime.h>

// Cuts a [TILE_ROWS][D] tile into vectors of type Vector, and calls copy(from, row, d, inside) for each
// vector of the calling thread. The first element of the vector is element (row, d) of the tile. `inside`
// tells whether the vector lies in the matrix, thus in the first `rows` rows and the first `head_dim`
// columns. Where it does not, the tile must be filled with zeros; `from` is a valid address in the matrix in
// this case too. A thread has up to UNROLL copies through registers under way at once, if it has registers for
// them. Asynchronous copies need no UNROLL above 1 for that.
template <int TILE_ROWS, int D, int THREADS, int UNROLL, typename Vector, typename Element,
          typename Copy>
__device__ __forceinline__ void for_each_vector_of(const Element *matrix, int rows, int head_dim,
                                                   const Copy &copy) {
  constexpr int WIDTH = sizeof(Vector) / sizeof(Element);
#pragma unroll(UNROLL)
  for (int i = threadIdx.x; i < TILE_ROWS * D / WIDTH; i += THREADS) {
    const int row = i / (D / WIDTH);
    const int d = i % (D / WIDTH) * WIDTH;
    const bool inside = row < rows && d < head_dim;
    copy((const Vector *)&matrix[inside ? (size_t)row * head_dim + d : 0], row, d, inside);
  }
}

// Does the same for a [rows, head_dim] matrix of 16-bit elements. It uses the widest vector, of 16, 8, 4 or 2
// bytes, for which every row of the matrix is aligned.
template <int TILE_ROWS, int D, int THREADS, int UNROLL, typename Element, typename Copy>
__device__ __forceinline__ void for_each_vector(const Element *matrix, int rows, int head_dim,
                                                const Copy &copy) {
  if (head_dim % 8 == 0) {
    for_each_vector_of<TILE_ROWS, D, THREADS, UNROLL, uint4>(matrix, rows, head_dim, copy);
  } else if (head_dim % 4 == 0) {
    for_each_vector_of<TILE_ROWS, D, THREADS, UNROLL, uint2>(matrix, rows, head_dim, copy);
  } else if (head_dim % 2 == 0) {
    for_each_vector_of<TILE_ROWS, D, THREADS, UNROLL, unsigned>(matrix, rows, head_dim, copy);
  } else {
    for_each_vector_of<TILE_ROWS, D, THREADS, UNROLL, unsigned short>(matrix, rows, head_dim, copy);
  }
}

#endif
