// Words of device memory that carry a mark: three floats and the mark, 16 bytes, which other blocks see whole or not at
// all. So a reader needs no flag beside them, and no fence between the data and the flag.
#ifndef WORDS_CUH
#define WORDS_CUH

#include "shares.cuh"

// Read as a float, the mark is a NaN that no arithmetic gives. It is not the mark of a counter (counter.cuh).
static constexpr unsigned MARK = 0xffeadbed;

struct marked_word {
  float x, y, z;
  unsigned mark; // MARK, if the word has been written
};

#ifndef __CUDACC__
#include "word_functions.h" // of the emulator: the same functions, without PTX
#else

// Stores a word, by an access of scalar type .b128 (PTX ISA, "ld", "st") that orders no other access. A GPU carries it
// out as one. The memory model does not promise that: it speaks of scalars of up to 64 bits. An access to a vector
// of four would be four, in any order (8.2.4, "Memory Operations on Vector Data Types").
__device__ __forceinline__ void store_word(marked_word *to, const marked_word &word) {
  asm volatile("{\n"
               ".reg .b64 low, high;\n"
               ".reg .b128 all;\n"
               "mov.b64 low, {%1, %2};\n"
               "mov.b64 high, {%3, %4};\n"
               "mov.b128 all, {low, high};\n"
               "st.relaxed.gpu.global.b128 [%0], all;\n"
               "}" ::"l"(to),
               "f"(word.x), "f"(word.y), "f"(word.z), "r"(word.mark)
               : "memory");
}

// Loads a word, in the same way.
__device__ __forceinline__ marked_word load_word(const marked_word *from) {
  marked_word word;
  asm volatile("{\n"
               ".reg .b64 low, high;\n"
               ".reg .b128 all;\n"
               "ld.relaxed.gpu.global.b128 all, [%4];\n"
               "mov.b128 {low, high}, all;\n"
               "mov.b64 {%0, %1}, low;\n"
               "mov.b64 {%2, %3}, high;\n"
               "}"
               : "=f"(word.x), "=f"(word.y), "=f"(word.z), "=r"(word.mark)
               : "l"(from)
               : "memory");
  return word;
}

#endif

template <typename tile, int D>
static constexpr int TILE_PLACES = D / 4 * tile::BLOCK_M; // four columns of a row are a place

// Partial results in the workspace. A share b has room for two parts of tiles: part 2 b + 1 of a tile whose first key
// block is in the share, and part 2 b of a tile that begins in another share. A place of a tile, four columns of a row,
// has two words in each part. The left one has its first two columns and the max of the row, the right one the other
// two and the sum. The left words of a part lie side by side, and so do the right ones, because threads store whole
// sectors then.
struct partial_words {
  marked_word *words; // [2 blocks][left, right][BLOCK_M][D / 4]

  // Returns the left word (side 0) or the right one (1) of a place, in part `part`.
  template <int PLACES>
  __device__ __forceinline__ marked_word *at(int part, int place, int side) const {
    return words + ((size_t)part * 2 + side) * PLACES + place;
  }
};

static inline size_t partial_words_bytes(const equal_shares &shares, int block_m, int head_dim) {
  if (!shares.divide_tiles()) return 0;
  return sizeof(marked_word) * 2 * shares.blocks * block_m * (size_t)(head_dim / 2);
}

// This is all that a block must know of a tile to merge its share of it.
struct part_of_tile {
  int first_owner, owners; // the shares that have parts of the tile
  int first, first_head;   // the tile's first row of the group, and the group's first head
  int begin, end;          // the block merges places begin to end - 1

  // Returns the number of the part that a share has.
  __device__ __forceinline__ int number(int share) const {
    return 2 * share + (share == first_owner);
  }

  // Returns where row `row` of the tile lies among all rows of O and lse. The group has `group` heads.
  template <typename Group>
  __device__ __forceinline__ size_t row_of(int row, const Group &group,
                                           const attention_shape &shape) const {
    const int packed = first + row;
    return (size_t)(first_head + packed % group) * shape.seq_q + packed / group;
  }
};

__device__ __forceinline__ part_of_tile part_of(const equal_shares &shares, int share, int tile,
                                                int first, int first_head, int places) {
  const int first_owner = shares.owner((long long)tile * shares.key_blocks);
  const int owners = shares.owner((tile + 1LL) * shares.key_blocks - 1) - first_owner + 1;
  const int own_places = divide_up(places, owners); // of each block
  const int begin = (share - first_owner) * own_places;
  return {first_owner, owners, first, first_head, begin, min(begin + own_places, places)};
}

// Clears the words of a workspace that the thread has not cleared yet, because a kernel should not read memory that has
// never been written. Each launch leaves it without marks.
static inline cudaError_t clear_new_words(const partial_words &partials, const equal_shares &shares,
                                          int block_m, int head_dim, cudaStream_t stream) {
  return clear_new_memory(partials.words, partial_words_bytes(shares, block_m, head_dim), stream);
}

// Adds up what LANES neighbouring lanes have of a place, each scaled to the largest row max. All of them get the sums.
template <int LANES>
__device__ __forceinline__ partial_row sum_over_lanes(const partial_row &own, float scale_log2) {
  __syncwarp(); // shuffles of a warp that has diverged are slow
  const float new_max = max_over_lanes<1, LANES>(own.max_sum.x);
  const float factor = rescaling_factor(own.max_sum.x, new_max, scale_log2);
  const auto sum = [&](float value) { return sum_over_lanes<1, LANES>(value * factor); };
  return {make_float2(new_max, sum(own.max_sum.y)),
          make_float4(sum(own.O.x), sum(own.O.y), sum(own.O.z), sum(own.O.w))};
}

// Launches a kernel. If `together` is set, all its blocks run at the same time, or the launch fails.
template <typename... Parameters, typename... Arguments>
static cudaError_t launch_together(bool together, void (*kernel)(Parameters...), int blocks,
                                   int threads, size_t shared_bytes, cudaStream_t stream,
                                   const Arguments &...arguments) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = together;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}

// Stores one of the lane's two rows of O_frag [16, D], not divided by its sum, as marked words of the row's places, the
// first of which is at `left`. half_row is as for store_row (fragments.cuh).
template <int D, int COUNT>
__device__ __forceinline__ void store_marked_row(marked_word *left, int tile_places,
                                                 const float (&O_frag)[COUNT], int half_row,
                                                 float2 max_sum) {
  // Two lanes share a place: one has its first two columns, the other one its last two.
  const int right = threadIdx.x % 2;
#pragma unroll
  for (int n = 0; n < D / 8; n++) {
    const float *pair = &O_frag[4 * n + 2 * half_row];
    store_word(left + right * tile_places + 2 * n + threadIdx.x % 4 / 2,
               {pair[0], pair[1], right ? max_sum.y : max_sum.x, MARK});
  }
}

#endif
