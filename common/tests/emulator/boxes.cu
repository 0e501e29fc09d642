#include "boxes.h"

#include "hopper.cuh"

struct coordinates {
  int at[5];
};

__global__ void box_kernel(const __grid_constant__ CUtensorMap map, coordinates from, unsigned rank,
                           unsigned bytes, unsigned offset, unsigned char *out) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  unsigned char *place = memory + (-shared_address(memory) & 1023) + offset;
  barrier_create(&full, 1);
  barriers_created();
  barrier_arrive_expecting(&full, bytes);
  const emulator_site site = {"cp.async.bulk.tensor", __FILE__, __LINE__};
  emulator_copy_box(place, &map, from.at, rank, &full, &site);
  barrier_wait(&full, 0);
  for (unsigned i = 0; i < bytes; i++) out[i] = place[i];
}

// A change behind the thread's wait is not stored. A store that it commits to no group, and waits for in vain, happens at
// the end of the thread.
__global__ void store_kernel(const __grid_constant__ CUtensorMap map, coordinates to, unsigned rank,
                             unsigned bytes, unsigned offset, const unsigned char *from,
                             bool waits) {
  extern __shared__ unsigned char memory[];
  unsigned char *place = memory + (-shared_address(memory) & 1023) + offset;
  for (unsigned i = 0; i < bytes; i++) place[i] = waits ? from[i] : 0;
  const emulator_site site = {"cp.async.bulk.tensor", __FILE__, __LINE__};
  emulator_store_box(&map, to.at, rank, place, &site);
  if (waits) emulator_store_commit(&site);
  emulator_store_wait(0, &site);
  for (unsigned i = 0; i < bytes; i++) place[i] = waits ? 0 : from[i];
}

// Describes the tensor, and returns the bytes of the box.
static unsigned describe(const box_case *it, void *tensor, CUtensorMap *map, coordinates *at) {
  cuuint64_t sizes[5], strides[5];
  cuuint32_t box[5], steps[5];
  cuuint64_t stride = it->element_bytes;
  unsigned bytes = it->element_bytes;
  for (unsigned i = 0; i < it->rank; i++) {
    sizes[i] = it->size[i];
    box[i] = it->box[i];
    steps[i] = 1;
    strides[i] = stride *= sizes[i];
    bytes *= box[i];
    at->at[i] = it->at[i];
  }
  cuTensorMapEncodeTiled(map, it->type, it->rank, tensor, sizes, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, it->swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return bytes;
}

void copied_box(const box_case *it, const unsigned char *tensor, size_t tensor_bytes,
                unsigned offset, unsigned char *got) {
  unsigned char *in, *out;
  cudaMalloc(&in, tensor_bytes);
  cudaMemcpy(in, tensor, tensor_bytes, cudaMemcpyHostToDevice);
  CUtensorMap map;
  coordinates from = {};
  const unsigned bytes = describe(it, in, &map, &from);
  cudaMalloc(&out, bytes);
  box_kernel<<<1, 1, BOX_BYTES_MAX + 2048>>>(map, from, it->instruction_rank, bytes, offset, out);
  cudaMemcpy(got, out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}

void stored_box(const box_case *it, const unsigned char *box, size_t tensor_bytes, unsigned offset,
                bool waits, unsigned char *tensor) {
  unsigned char *in, *out;
  cudaMalloc(&out, tensor_bytes);
  cudaMemset(out, 0, tensor_bytes);
  CUtensorMap map;
  coordinates to = {};
  const unsigned bytes = describe(it, out, &map, &to);
  cudaMalloc(&in, bytes);
  cudaMemcpy(in, box, bytes, cudaMemcpyHostToDevice);
  store_kernel<<<1, 1, BOX_BYTES_MAX + 2048>>>(map, to, it->instruction_rank, bytes, offset, in,
                                               waits);
  cudaMemcpy(tensor, out, tensor_bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
