// The interface of a step that is compiled in one or several configurations. To be included at the end of the
// step, which has defined
//   configuration<BLOCK_M, BLOCK_N, WARPS> or, with a ring of tiles, configuration<BLOCK_M, BLOCK_N, WARPS, STAGES>;
//                         its MAX_DIM is the largest head_dim that its registers can hold
//   CONFIGURATIONS(X)     calls X(BLOCK_M, BLOCK_N, WARPS) or X(BLOCK_M, BLOCK_N, WARPS, STAGES) for each
//   best_configuration    the name of the one to take when none is chosen. Where it does not fit into the shared
//                         memory of the GPU, the first of CONFIGURATIONS that does is taken.
//   SMALLEST_DIM          the smallest padded head_dim that it is compiled for: 32 for a step that takes any
//                         head_dim up to 128, 64 for a step that takes head_dim 64 and 128 alone
//   launch<tile, Element, D> and SHARED_BYTES<tile, D>
// and which may define
//   BF16_NEEDS            the compute capability from which on it takes bf16, 80 for 8.0 (wmma.cuh)
//   MOST_TILES            the most query tiles of all heads that it can number (tile_order.cuh)
//   WORKSPACE_BYTES       how much device memory it needs beside the tensors, where that is not 0
// A step for several GPUs defines TAKES_A_GROUP and part_args, which its launch takes in place of attention_args. It
// calls launch_part.
// A step that divides the keys into splits includes splits.cuh and defines workspace_bytes<tile, D>(shape) instead.
// The name of a configuration may then end in a colon and the number of splits, and the name before the colon may be
// empty, which leaves the tile to the step.
#ifndef CONFIGURATIONS_CUH
#define CONFIGURATIONS_CUH

#include "attention.h"
#include "kernel.cuh"
#include <stdlib.h>
#include <string.h>

#define NAME_OF_3(M, N, W)           #M "x" #N "x" #W
#define NAME_OF_4(M, N, W, S)        #M "x" #N "x" #W "x" #S
#define FIFTH_OF(A, B, C, D, E, ...) E
#define CONFIGURATION_NAME(...)      FIFTH_OF(__VA_ARGS__, NAME_OF_4, NAME_OF_3, )(__VA_ARGS__)

static const char *chosen_configuration; // NULL: the step's own choice for the shape

// Tells whether the configuration of this name is compiled for the padded head_dim D. With LAB_FIRST_CONFIGURATION,
// which is for a quick look at a file that has just been changed, only the first one that takes this head_dim is.
template <int D>
static constexpr bool is_compiled(const char *name) {
#ifdef LAB_FIRST_CONFIGURATION
  const char *first = nullptr;
#define FIRST_THAT_FITS(...)                                                                       \
  if (!first && D <= configuration<__VA_ARGS__>::MAX_DIM) first = CONFIGURATION_NAME(__VA_ARGS__);
  CONFIGURATIONS(FIRST_THAT_FITS)
#undef FIRST_THAT_FITS
  return first && __builtin_strcmp(name, first) == 0;
#else
  return name != nullptr;
#endif
}

const char *const *attention_configurations(void) {
#define NAME_IN_LIST(...) CONFIGURATION_NAME(__VA_ARGS__),
  static const char *const names[] = {CONFIGURATIONS(NAME_IN_LIST) NULL};
#undef NAME_IN_LIST
  return names;
}

#ifdef TAKES_SPLITS
// Reads the number of splits after the colon. Returns false where it is not a number from 1 to 65536.
static bool choose_splits(const char *colon) {
  char *end = NULL;
  const long number = strtol(colon + 1, &end, 10);
  if (colon[1] < '0' || colon[1] > '9' || *end || number < 1 || number > 65536) return false;
  chosen_splits = (int)number;
  return true;
}
#endif

bool attention_configure(const char *name) {
  chosen_configuration = NULL;
  size_t length = name ? strlen(name) : 0;
#ifdef TAKES_SPLITS
  chosen_splits = 0;
  const char *colon = name ? strchr(name, ':') : NULL;
  if (colon && !choose_splits(colon)) return false;
  if (colon) length = (size_t)(colon - name);
  if (colon && length == 0) return true;
#endif
  if (!name) return true;
  for (const char *const *known = attention_configurations(); *known; known++) {
    if (strlen(*known) == length && memcmp(*known, name, length) == 0)
      chosen_configuration = *known;
  }
#ifdef TAKES_SPLITS
  if (!chosen_configuration) chosen_splits = 0; // a name that is refused chooses nothing
#endif
  return chosen_configuration != NULL;
}

static bool is_compiled_for(const char *name, int head_dim) {
  return head_dim <= 32   ? is_compiled<32>(name)
         : head_dim <= 64 ? is_compiled<64>(name)
                          : is_compiled<128>(name);
}

// Returns the bytes of shared memory of a block in the configuration of this name, or 0 when it cannot take
// the head_dim.
static size_t shared_memory_bytes_of(const char *name, int head_dim) {
#define BYTES_IF_NAMED(...)                                                                        \
  if (strcmp(name, CONFIGURATION_NAME(__VA_ARGS__)) == 0)                                          \
    return head_dim > configuration<__VA_ARGS__>::MAX_DIM || !is_compiled_for(name, head_dim) ? 0  \
           : head_dim <= 32 ? SHARED_BYTES<configuration<__VA_ARGS__>, SMALLEST_DIM>               \
           : head_dim <= 64 ? SHARED_BYTES<configuration<__VA_ARGS__>, 64>                         \
                            : SHARED_BYTES<configuration<__VA_ARGS__>, 128>;
  CONFIGURATIONS(BYTES_IF_NAMED)
#undef BYTES_IF_NAMED
  return 0;
}

// Tells whether the configuration takes the head_dim and the current GPU gives a block enough shared memory
// for it. A block gets at most 64 KB on a T4, 99 KB on an L4, and 227 KB on an H200.
static bool fits(const char *name, int head_dim) {
  const size_t bytes = shared_memory_bytes_of(name, head_dim);
  const size_t most = (size_t)gpu_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return bytes > 0 && (most == 0 || bytes <= most);
}

static const char *configuration_for(const attention_shape *shape) {
  if (chosen_configuration) return chosen_configuration;
  const char *best = best_configuration(shape);
  if (fits(best, shape->head_dim)) return best;
  for (const char *const *name = attention_configurations(); *name; name++) {
    if (fits(*name, shape->head_dim)) return *name;
  }
  return best;
}

size_t attention_shared_memory_bytes(const attention_shape *shape) {
  return shared_memory_bytes_of(configuration_for(shape), shape->head_dim);
}

const char *attention_unsupported(const attention_shape *shape) {
  if (SMALLEST_DIM > 32 && shape->head_dim != 64 && shape->head_dim != 128)
    return "head_dim is 64 or 128 from step 07 on: step 06 takes any up to 128";
  if (shape->head_dim > 128) return "head_dim is at most 128, in this step and in all others";
  // The row max is taken of scores that are not scaled yet, which a negative scale would make a row min.
  // Times log2(e) it must still be a float.
  if (!(shape->scale > 0.0f && shape->scale < 2e38f))
    return "scale is above 0 and below 2e38 from step 04 on: step 03 takes any";
#ifdef BF16_NEEDS
  const int capability = 10 * gpu_attribute(cudaDevAttrComputeCapabilityMajor) +
                         gpu_attribute(cudaDevAttrComputeCapabilityMinor);
  if (shape->dtype == ATTENTION_BF16 && capability > 0 && capability < BF16_NEEDS)
    return "bf16 on tensor cores needs a GPU of sm_80 or newer: step 04 takes it on any";
#endif
#ifdef MOST_TILES
  // Counted in tiles of 64 rows of a head. Steps for few rows have lower ones, of which no GPU holds so many.
  if ((double)shape->batch * shape->heads * divide_up(shape->seq_q, 64) > MOST_TILES)
    return "the tiles of all heads are at most 2^31 - 2^16 from step 10 on: step 09 takes more";
#endif
  const char *name = configuration_for(shape);
  if (fits(name, shape->head_dim)) return left_out(shape);
  return shared_memory_bytes_of(name, shape->head_dim) > 0
             ? "this configuration needs more shared memory than the GPU has"
             : "this configuration has too few registers for head_dim above 64";
}

// Most fused steps keep nothing in global memory beside the tensors.
#ifndef WORKSPACE_BYTES
#define WORKSPACE_BYTES 0
#endif
#ifdef TAKES_A_GROUP
#define ARGUMENTS part_args
#elif defined(TAKES_SPLITS)
#define ARGUMENTS attention_args
size_t attention_workspace_bytes(const attention_shape *shape) {
  if (attention_unsupported(shape)) return SIZE_MAX;
  const char *name = configuration_for(shape);
#define WORKSPACE_IF_NAMED(...)                                                                    \
  if (strcmp(name, CONFIGURATION_NAME(__VA_ARGS__)) == 0)                                          \
    return shape->head_dim <= 64 ? workspace_bytes<configuration<__VA_ARGS__>, 64>(*shape)         \
                                 : workspace_bytes<configuration<__VA_ARGS__>, 128>(*shape);
  CONFIGURATIONS(WORKSPACE_IF_NAMED)
#undef WORKSPACE_IF_NAMED
  return 0;
}
#else
#define ARGUMENTS attention_args
size_t attention_workspace_bytes(const attention_shape *) { return WORKSPACE_BYTES; }
#endif

template <typename Element, int D>
static cudaError_t launch_chosen(const ARGUMENTS *args, cudaStream_t stream) {
  const char *name = configuration_for(&args->shape);
#define LAUNCH_IF_NAMED(...)                                                                       \
  if constexpr (D >= SMALLEST_DIM && D <= configuration<__VA_ARGS__>::MAX_DIM &&                   \
                is_compiled<D>(CONFIGURATION_NAME(__VA_ARGS__)) && IS_COMPILED_IN<Element, D>)     \
    if (strcmp(name, CONFIGURATION_NAME(__VA_ARGS__)) == 0)                                        \
      return launch<configuration<__VA_ARGS__>, Element, D>(args, stream);
  CONFIGURATIONS(LAUNCH_IF_NAMED)
#undef LAUNCH_IF_NAMED
  return cudaErrorInvalidValue;
}

#ifdef TAKES_A_GROUP
static cudaError_t launch_part(const part_args *args, cudaStream_t stream) {
#else
cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
#endif
  const cudaError_t error = LAUNCH_FOR_SHAPE(launch_chosen, args, stream);
  if (error != cudaSuccess) cudaGetLastError(); // so that the next call does not find this error
  return error;
}

const char *attention_configuration(const attention_shape *shape) {
  return configuration_for(shape);
}

#endif
