#include "barrier_limits.h"

#include "hopper.cuh"

int fault_line;
#define MARK_AT(line) fault_line = line
#define MARK          MARK_AT(__LINE__)

// ---- mbarriers ----------------------------------------------------------------------------------

static constexpr unsigned MOST = (1 << 20) - 1; // arrivals, and bytes

__global__ void word_kernel(uint64_t word) {
  __shared__ barrier full;
  full = word;
  MARK, barrier_wait(&full, 0);
}
void fault_barrier_of_zeros(void) { word_kernel<<<1, 1>>>(0); }
// The arrivals that are still to come are in the lowest 20 bits, and those of a phase in the next 20.
void fault_barrier_overwritten(void) { word_kernel<<<1, 1>>>(3 << 20 | 4); }

__global__ void misaligned_kernel() {
  __shared__ __align__(8) unsigned words[4];
  MARK, barrier_create((barrier *)(words + 1), 1);
}
void fault_barrier_misaligned(void) { misaligned_kernel<<<1, 1>>>(); }

__global__ void limits_kernel(unsigned arrivals, unsigned more_bytes) {
  __shared__ barrier full, other;
  MARK, barrier_create(&full, arrivals);
  barrier_create(&other, 3);
  barrier_arrive_expecting(&other, MOST);
  if (more_bytes > 0) MARK, barrier_arrive_expecting(&other, more_bytes);
}
void fault_barrier_too_many(void) { limits_kernel<<<1, 1>>>(MOST + 1, 0); }
void fault_barrier_bytes(void) { limits_kernel<<<1, 1>>>(1, 1); }
void right_barrier_limits(void) { limits_kernel<<<1, 1>>>(MOST, 0); }

static constexpr int ROWS = 256, BOX_BYTES = ROWS * PANEL * 2;

__global__ void copies_kernel(const __grid_constant__ CUtensorMap map, bool made) {
  extern __shared__ unsigned char memory[];
  __shared__ barrier full;
  if (made) barrier_create(&full, 1);
  barriers_created();
  for (int i = 0; i < 32; i++)
    MARK, copy_box(memory + (-shared_address(memory) & 1023), &map, &full, 0, 0, 0, 0);
  barrier_wait(&full, 0);
}
static void copies(bool made) {
  void *tensor;
  cudaMalloc(&tensor, BOX_BYTES);
  CUtensorMap map;
  describe_tensor(&map, ATTENTION_FP16, tensor, 1, 1, ROWS, PANEL, ROWS);
  copies_kernel<<<1, 1, BOX_BYTES + 1024>>>(map, made);
}
void fault_copies_bytes(void) { copies(true); }
void fault_copy_without_barrier(void) { copies(false); }

// ---- Named barriers -----------------------------------------------------------------------------

__global__ void named_kernel(int number, int threads) { MARK, named_barrier_wait(number, threads); }
void fault_named_barrier_sixteen(void) { named_kernel<<<1, 32>>>(16, 32); }
void fault_named_barrier_no_threads(void) { named_kernel<<<1, 32>>>(1, 0); }
void fault_named_barrier_part_of_warp(void) { named_kernel<<<1, 64>>>(1, 48); }

__global__ void files_kernel() {
  MARK_AT(7);
  named_barrier_wait(3, 32, threadIdx.x < 16 ? "first.cu" : "second.cu", 7);
}
void fault_named_barrier_files(void) { files_kernel<<<1, 32>>>(); }

__global__ void second_phase_kernel() {
  named_barrier_wait(3, 64);
  if (threadIdx.x % 32 < 16) {
    MARK, named_barrier_wait(3, 64);
  } else {
    MARK, named_barrier_wait(3, 64);
  }
}
void fault_named_barrier_second_phase(void) { second_phase_kernel<<<1, 64>>>(); }

__global__ void twice_kernel() {
  if (threadIdx.x < 32) {
    named_barrier_arrive(3, 96);
    named_barrier_wait(3, 96);
  } else {
    named_barrier_wait(3, 96);
  }
  named_barrier_wait(3, 64);
  named_barrier_wait(3, 64);
}
void right_named_barrier_twice(void) { twice_kernel<<<1, 64>>>(); }
