// The interface of a step that is compiled in several configurations. To be included at the end of the
// step, which has defined
//   CONFIGURATIONS(X)     calls X(BLOCK_M, BLOCK_N, WARPS, STAGES, MAX_DIM) for each, where MAX_DIM is
//                         the largest head_dim that the configuration's registers can hold
//   configuration<BLOCK_M, BLOCK_N, WARPS, STAGES>
//   best_configuration    the name of the one to take when none is chosen
//   SMALLEST_DIM          the smallest padded head_dim that it is compiled for: 32, 64 or 128
//   refused               NULL, or the sentence of attention_unsupported, for what no configuration takes
//   launch<tile, Element, D> and SHARED_BYTES<tile, D>
#ifndef CONFIGURATIONS_CUH
#define CONFIGURATIONS_CUH

#include "attention.h"
#include <string.h>

#define CONFIGURATION_NAME(M, N, W, S) #M "x" #N "x" #W "x" #S

static const char *chosen_configuration; // NULL: the step's own choice for the shape

const char *const *attention_configurations(void) {
#define NAME_OF(M, N, W, S, MAX_DIM) CONFIGURATION_NAME(M, N, W, S),
  static const char *const names[] = {CONFIGURATIONS(NAME_OF) NULL};
#undef NAME_OF
  return names;
}

bool attention_configure(const char *name) {
  chosen_configuration = NULL;
  if (!name) return true;
  for (const char *const *known = attention_configurations(); *known; known++) {
    if (strcmp(*known, name) == 0) chosen_configuration = *known;
  }
  return chosen_configuration != NULL;
}

// Bytes of shared memory that the current GPU gives a block that asks for it; 0 without a GPU.
static size_t largest_shared_memory(void) {
  int device = 0;
  int bytes = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return 0;
  cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  return (size_t)bytes;
}

static const char *configuration_for(const attention_shape *shape) {
  return chosen_configuration ? chosen_configuration : best_configuration(shape);
}

// 0 when the configuration cannot take the head_dim.
size_t attention_shared_memory_bytes(const attention_shape *shape) {
  const char *name = configuration_for(shape);
#define BYTES_IF_NAMED(M, N, W, S, MAX_DIM)                                                        \
  if (strcmp(name, CONFIGURATION_NAME(M, N, W, S)) == 0)                                           \
    return shape->head_dim > MAX_DIM ? 0                                                           \
           : shape->head_dim <= 32   ? SHARED_BYTES<configuration<M, N, W, S>, 32>                 \
           : shape->head_dim <= 64   ? SHARED_BYTES<configuration<M, N, W, S>, 64>                 \
                                     : SHARED_BYTES<configuration<M, N, W, S>, 128>;
  CONFIGURATIONS(BYTES_IF_NAMED)
#undef BYTES_IF_NAMED
  return 0;
}

const char *attention_unsupported(const attention_shape *shape) {
  if (refused(shape)) return refused(shape);
  const size_t bytes = attention_shared_memory_bytes(shape);
  if (bytes == 0) return "this configuration has too few registers for head_dim above 64";
  const size_t most = largest_shared_memory();
  return most > 0 && bytes > most ? "this configuration needs more shared memory than the GPU has"
                                  : NULL;
}

template <typename Element, int D>
static cudaError_t launch_chosen(const attention_args *args, cudaStream_t stream) {
  const char *name = configuration_for(&args->shape);
#define LAUNCH_IF_NAMED(M, N, W, S, MAX_DIM)                                                       \
  if constexpr (D >= SMALLEST_DIM && D <= MAX_DIM)                                                 \
    if (strcmp(name, CONFIGURATION_NAME(M, N, W, S)) == 0)                                         \
      return launch<configuration<M, N, W, S>, Element, D>(args, stream);
  CONFIGURATIONS(LAUNCH_IF_NAMED)
#undef LAUNCH_IF_NAMED
  return cudaErrorInvalidValue;
}

cudaError_t attention_forward(const attention_args *args, cudaStream_t stream) {
  return LAUNCH_FOR_SHAPE(launch_chosen, args, stream);
}

#endif
