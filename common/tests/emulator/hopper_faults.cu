#include "hopper_faults.h"

#include "hopper.cuh"

int fault_line;
#define MARK fault_line = __LINE__

static int *device_ints(int count) {
  int *data;
  cudaMalloc(&data, count * sizeof(int));
  cudaMemset(data, 0, count * sizeof(int));
  return data;
}

// ---- Barriers -----------------------------------------------------------------------------------

enum barrier_fault {
  MISSING,
  IN_GLOBAL,
  NO_ARRIVAL,
  ARRIVALS,
  TWO_THREADS,
  WAITED_WRONG,
  NEVER_ENDS
};

__global__ void barrier_kernel(barrier_fault kind, int *global) {
  __shared__ barrier full;
  if (kind == MISSING) MARK, barrier_wait(&full, 0);
  if (kind == IN_GLOBAL) MARK, barrier_arrive((barrier *)global);
  if (kind == NO_ARRIVAL) MARK, barrier_create(&full, 0);
  if (threadIdx.x == 0) barrier_create(&full, kind == NEVER_ENDS ? 2 : 1);
  __syncthreads();
  if (kind == TWO_THREADS) {
    MARK, barrier_arrive_expecting(&full, 64);
    return;
  }
  if (kind == ARRIVALS || kind == WAITED_WRONG) {
    barrier_arrive_expecting(&full, 64);
    if (kind == WAITED_WRONG) barrier_wait(&full, 1);
    MARK, barrier_arrive(&full);
  }
  if (threadIdx.x == 0) barrier_arrive(&full);
  MARK, barrier_wait(&full, 0);
}
void fault_barrier_missing(void) { barrier_kernel<<<1, 1>>>(MISSING, nullptr); }
void fault_barrier_in_global(void) { barrier_kernel<<<1, 1>>>(IN_GLOBAL, device_ints(2)); }
void fault_barrier_no_arrival(void) { barrier_kernel<<<1, 1>>>(NO_ARRIVAL, nullptr); }
void fault_barrier_arrivals(void) { barrier_kernel<<<1, 1>>>(ARRIVALS, nullptr); }
void fault_barrier_two_threads(void) { barrier_kernel<<<1, 2>>>(TWO_THREADS, nullptr); }
void fault_barrier_waited_wrong(void) { barrier_kernel<<<1, 1>>>(WAITED_WRONG, nullptr); }
void fault_barrier_never_ends(void) { barrier_kernel<<<1, 2>>>(NEVER_ENDS, nullptr); }

// Warp 0 comes to the second barrier of the block after warp 1, for which it has waited. Then thread 0 comes to a third one
// alone, and warp 1 waits for an arrival.
__global__ void divided_kernel() {
  __shared__ barrier full;
  if (threadIdx.x == 0) barrier_create(&full, 1);
  __syncthreads();
  if (threadIdx.x < 32) barrier_wait(&full, 0);
  if (threadIdx.x == 32) barrier_arrive(&full);
  MARK, __syncthreads();
  if (threadIdx.x == 0)
    __syncthreads();
  else if (threadIdx.x < 32)
    __syncwarp();
  else
    barrier_wait(&full, 1);
}
void fault_barrier_divided(void) { divided_kernel<<<1, 64>>>(); }

struct ring_of_barriers {
  barrier K_full[2];
  struct {
    barrier first, full;
  } pairs[2];
};
__global__ void ring_kernel() {
  extern __shared__ ring_of_barriers ring[];
  __shared__ barrier empty[3];
  if (threadIdx.x == 0) {
    barrier_create_all(ring->K_full, 1);
    for (int stage = 0; stage < 3; stage++) barrier_create(&empty[stage], 1);
    barrier_create(&ring->pairs[0].full, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) barrier_wait(&ring->K_full[1], 0);
  if (threadIdx.x == 1) barrier_wait(&empty[2], 0);
  barrier_wait(&ring->pairs[0].full, 0);
}
void fault_barrier_of_a_ring(void) { ring_kernel<<<1, 3, sizeof(ring_of_barriers)>>>(); }

__global__ void named_kernel(int number, int first, int second) {
  if (threadIdx.x < 32) named_barrier_arrive(number, first);
  __syncthreads();
  if (threadIdx.x >= 32 && second) MARK, named_barrier_wait(number, second);
  if (threadIdx.x < 32 && !second) MARK, named_barrier_wait(number, first);
}
__global__ void voting_kernel() {
  if (threadIdx.x < 32) named_barrier_arrive(4, 64);
  __syncthreads();
  if (threadIdx.x >= 32) MARK, named_barrier_any(4, 64, true);
}
__global__ void halves_kernel(bool both) {
  if (threadIdx.x % 32 < 16) {
    MARK, named_barrier_wait(5, both ? 64 : 32);
  } else if (both) {
    MARK, named_barrier_wait(5, 64);
  }
}
void fault_named_barrier_lines(void) { halves_kernel<<<1, 64>>>(true); }
void fault_named_barrier_halves(void) { halves_kernel<<<1, 64>>>(false); }
void fault_named_barrier_mixed(void) { voting_kernel<<<1, 64>>>(); }
void fault_named_barrier_zero(void) { named_kernel<<<1, 64>>>(0, 64, 64); }
void fault_named_barrier_counts(void) { named_kernel<<<1, 64>>>(2, 64, 96); }
void fault_named_barrier_alone(void) { named_kernel<<<1, 64>>>(3, 96, 0); }

// ---- Box copies ---------------------------------------------------------------------------------

static constexpr int ROWS = 8, BOX_BYTES = ROWS * PANEL * 2;

static CUtensorMap map_of(void *tensor, int rows = ROWS) {
  CUtensorMap map;
  describe_tensor(&map, ATTENTION_FP16, tensor, 1, 1, rows, PANEL, ROWS);
  return map;
}

int described_at(int offset) {
  alignas(64) char memory[2 * sizeof(CUtensorMap)];
  return describe_tensor((CUtensorMap *)(memory + offset), ATTENTION_FP16, device_ints(BOX_BYTES),
                         1, 1, ROWS, PANEL, ROWS);
}

__global__ void copy_kernel(const __grid_constant__ CUtensorMap map, int offset, int announced,
                            int column) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  barrier_create(&full, 1);
  barriers_created();
  if (announced) barrier_arrive_expecting(&full, announced);
  MARK, copy_box(memory + (-shared_address(memory) & 1023) + offset, &map, &full, column, 0, 0, 0);
  barrier_wait(&full, 0);
  barrier_wait(&full, 1);
}
static void copy(int offset, int announced, int column = 0) {
  copy_kernel<<<1, 1, BOX_BYTES + 1024>>>(map_of(device_ints(BOX_BYTES)), offset, announced,
                                          column);
}
void fault_copy_bytes_missing(void) { copy(0, BOX_BYTES + 16); }
void fault_copy_bytes_more(void) { copy(0, BOX_BYTES - 16); }
void fault_copy_not_announced(void) { copy(0, 0); }
void fault_copy_alignment(void) { copy(64, BOX_BYTES); }
void fault_copy_past_shared(void) { copy(1152, BOX_BYTES); }
void fault_copy_column(void) { copy(0, BOX_BYTES, 60); }
void fault_copy_no_map(void) { copy_kernel<<<1, 1, 2048>>>(CUtensorMap{}, 0, BOX_BYTES, 0); }
void fault_copy_rank(void) {
  CUtensorMap map;
  const cuuint64_t sizes[2] = {PANEL, ROWS}, stride[1] = {2 * PANEL};
  const cuuint32_t box[2] = {PANEL, ROWS}, every_element[2] = {1, 1};
  tensor_map_encoder()(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, device_ints(BOX_BYTES), sizes,
                       stride, box, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
                       CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                       CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  copy_kernel<<<1, 1, 2048>>>(map, 0, BOX_BYTES, 0);
}
void fault_copy_freed(void) {
  int *tensor = device_ints(BOX_BYTES);
  const CUtensorMap map = map_of(tensor);
  cudaFree(tensor);
  copy_kernel<<<1, 1, 2048>>>(map, 0, BOX_BYTES, 0);
}

// The tensor of the map begins 64 bytes before device memory, or ends 16 bytes behind it.
static void copy_beside(int before, int behind) {
  unsigned char *tensor;
  cudaMalloc(&tensor, BOX_BYTES - behind);
  copy_kernel<<<1, 1, BOX_BYTES + 1024>>>(map_of(tensor - before), 0, BOX_BYTES, 0);
}
void fault_copy_begins_before(void) { copy_beside(64, 0); }
void fault_copy_ends_behind(void) { copy_beside(0, 16); }

#include "ring_faults.h"

// A map in global memory.
static const CUtensorMap *map_on_device() {
  const CUtensorMap map = map_of(device_ints(BOX_BYTES));
  CUtensorMap *copy = nullptr;
  cudaMalloc(&copy, sizeof map);
  cudaMemcpy(copy, &map, sizeof map, cudaMemcpyHostToDevice);
  return copy;
}

static void fill(ring_fault kind) { filling_kernel<<<1, 64>>>(map_on_device(), kind); }
void fault_ring_lanes(void) { fill(ALL_LANES_ARRIVE); }
void fault_ring_two_lanes(void) { fill(TWO_LANES_ARRIVE); }
void fault_ring_not_awaited(void) { fill(NOT_AWAITED); }
void fault_ring_parity_of_full(void) { fill(PARITY_OF_FULL); }
void fault_ring_same_parity(void) { fill(SAME_PARITY); }
void fault_ring_parity_of_empty(void) { fill(PARITY_OF_EMPTY); }
void fault_ring_not_emptied(void) { fill(NOT_EMPTIED); }

void fault_barrier_late_arrival(void) { late_arrival_kernel<<<1, 2>>>(map_on_device()); }

__global__ void early_copy_kernel(const __grid_constant__ CUtensorMap map, float *seen) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full, other;
  half *tile = (half *)(memory + (-shared_address(memory) & 1023));
  for (int i = 0; i < BOX_BYTES; i++) tile[i] = __float2half(5.0f);
  barrier_create(&full, 1);
  barrier_create(&other, 1);
  barriers_created();
  for (int i = 1; i >= 0; i--) { // the copy that is not waited for is the older one
    barrier *const copied = i == 0 ? &full : &other;
    barrier_arrive_expecting(copied, BOX_BYTES);
    copy_box(tile + i * BOX_BYTES / 2, &map, copied, 0, 0, 0, 0);
  }
  seen[0] = __half2float(tile[0]);
  barrier_wait(&full, 1);
  seen[1] = __half2float(tile[0]);
  barrier_wait(&full, 0);
  seen[2] = __half2float(tile[0]);
  seen[3] = __half2float(tile[BOX_BYTES - 1]);
}

// The bytes of one copy are announced, and there are two.
__global__ void second_copy_kernel(const __grid_constant__ CUtensorMap map) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  half *tile = (half *)(memory + (-shared_address(memory) & 1023));
  barrier_create(&full, 1);
  barriers_created();
  barrier_arrive_expecting(&full, BOX_BYTES);
  copy_box(tile, &map, &full, 0, 0, 0, 0);
  MARK, copy_box(tile + BOX_BYTES / 2, &map, &full, 0, 0, 0, 0);
  barrier_wait(&full, 0);
}
void fault_copy_second(void) {
  second_copy_kernel<<<1, 1, 2 * BOX_BYTES + 1024>>>(map_of(device_ints(BOX_BYTES)));
}

void seen_of_box_copies(float *seen) {
  void *ones = device_ints(BOX_BYTES);
  cudaMemset(ones, 0x3C, BOX_BYTES); // 1.058, in half
  float *seen_on_device;
  cudaMalloc(&seen_on_device, SEEN_OF_COPIES * sizeof(float));
  early_copy_kernel<<<1, 1, 2 * BOX_BYTES + 1024>>>(map_of(ones), seen_on_device);
  cudaMemcpy(seen, seen_on_device, SEEN_OF_COPIES * sizeof(float), cudaMemcpyDeviceToHost);
}
