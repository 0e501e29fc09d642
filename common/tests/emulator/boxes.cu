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

void copied_box(const box_case *it, const unsigned char *tensor, size_t tensor_bytes,
                unsigned offset, unsigned char *got) {
  unsigned char *in, *out;
  cudaMalloc(&in, tensor_bytes);
  cudaMemcpy(in, tensor, tensor_bytes, cudaMemcpyHostToDevice);
  cuuint64_t sizes[5], strides[5];
  cuuint32_t box[5], steps[5];
  cuuint64_t stride = it->element_bytes;
  unsigned bytes = it->element_bytes;
  coordinates from = {};
  for (unsigned i = 0; i < it->rank; i++) {
    sizes[i] = it->size[i];
    box[i] = it->box[i];
    steps[i] = 1;
    strides[i] = stride *= sizes[i];
    bytes *= box[i];
    from.at[i] = it->at[i];
  }
  CUtensorMap map;
  cuTensorMapEncodeTiled(&map, it->type, it->rank, in, sizes, strides, box, steps,
                         CU_TENSOR_MAP_INTERLEAVE_NONE, it->swizzle,
                         CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  cudaMalloc(&out, bytes);
  box_kernel<<<1, 1, BOX_BYTES_MAX + 2048>>>(map, from, it->instruction_rank, bytes, offset, out);
  cudaMemcpy(got, out, bytes, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}
