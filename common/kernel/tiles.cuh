// How the threads of a block share the copying of a tile from global memory to shared memory.
#ifndef TILES_CUH
#define TILES_CUH

#include <cuda_runtime.h>

// Cuts a [TILE_ROWS][D] tile into vectors of type Vector, and calls copy(from, row, d, inside) for those of the
// calling thread: element (row, d) of the tile is the vector's first. `inside` says whether the vector lies in
// the first `rows` rows and the first `head_dim` columns, thus in the matrix; where it does not, the tile is to
// be filled with zeros, and `from` points to the matrix all the same. A thread has UNROLL vectors under way at once,
// as far as its registers go.
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

// The same for a [rows, head_dim] matrix of 16-bit elements, with the widest vector that every row of the
// matrix is aligned for: 16, 8, 4 or 2 bytes.
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
