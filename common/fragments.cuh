// What a lane does with its part of a tensor-core accumulator. After mma.sync and wgmma lane l holds, of every
// fragment of 8 columns, columns 2 (l % 4) and the next of rows l / 4 and l / 4 + 8: four lanes share a row.
#ifndef FRAGMENTS_CUH
#define FRAGMENTS_CUH

#include <cuda_runtime.h>

// Transposes a 4 x 4 matrix of registers across the four lanes that share a row: lane q gives column q of it
// and receives row q.
__device__ __forceinline__ void transpose_across_lanes(unsigned (&x)[4]) {
  for (int bit = 1; bit <= 2; bit *= 2) {
    const bool upper = threadIdx.x & bit;
    for (int i = 0; i < 4; i++) {
      if (i & bit) continue;
      const unsigned received = __shfl_xor_sync(0xffffffff, upper ? x[i] : x[i + bit], bit);
      (upper ? x[i] : x[i + bit]) = received;
    }
  }
}

// Stores fragments n to n + 3 of the lane's row, D columns of 16-bit elements, where `inside` is set: the lane
// brings in pairs[j] its two columns of fragment n + j. Four lanes exchange theirs, so that each has 8 columns
// in a row, and stores 16 bytes at once. All lanes of the warp take part; the matrix is on a 16-byte boundary.
template <int D, typename Element, typename Row>
__device__ __forceinline__ void store_columns(Element *matrix, Row row, int n, unsigned (&pairs)[4],
                                              bool inside) {
  const int row_lane = threadIdx.x % 4;
  transpose_across_lanes(pairs);
  if (inside)
    *(uint4 *)&matrix[row * D + 8 * (n + row_lane)] =
        make_uint4(pairs[0], pairs[1], pairs[2], pairs[3]);
}

#endif
