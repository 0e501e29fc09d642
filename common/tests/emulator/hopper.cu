// Tests Hopper's instructions: mbarriers, box copies, named barriers, and registers that are redistributed. On a GPU
// without them there is nothing to test.
#include "for_hopper.h"

// ---- Barriers in shared memory ------------------------------------------------------------------

enum { RING = 3, READERS = 64 };

// Thread 64 writes numbers into a ring; the other threads read each of them.
__global__ void ring_kernel(int *sums, int numbers) KERNEL_FOR_HOPPER({
  __shared__ barrier full[RING], empty[RING];
  __shared__ int slot[RING];
  if (threadIdx.x == 0) {
    for (int i = 0; i < RING; i++) {
      barrier_create(&full[i], 1);
      barrier_create(&empty[i], READERS);
    }
    barriers_created();
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < numbers; i++) {
    const unsigned parity = i / RING % 2;
    if (threadIdx.x == READERS) {
      barrier_wait(&empty[i % RING], parity ^ 1);
      slot[i % RING] = i * i;
      barrier_arrive(&full[i % RING]);
    } else if (threadIdx.x < READERS) {
      barrier_wait(&full[i % RING], parity);
      sum = 3 * sum + slot[i % RING];
      barrier_arrive(&empty[i % RING]);
    }
  }
  if (threadIdx.x < READERS) sums[threadIdx.x] = sum;
})

    bool hopper_barriers(error_text *error) {
  if (!device_is_hopper()) return true;
  for (const int numbers : {0, 1, 2, 3, 4, 7, 20}) {
    device_array<int> sums(READERS);
    ring_kernel<<<1, 96>>>(sums.data(), numbers);
    if (!device_finished(error, "ring_kernel")) return false;
    unsigned expected = 0;
    for (int i = 0; i < numbers; i++) expected = 3 * expected + (unsigned)(i * i);
    for (const int sum : sums.host()) {
      if ((unsigned)sum != expected)
        return fail(error, "%d numbers: %u, not %u", numbers, (unsigned)sum, expected);
    }
  }
  return true;
}

// ---- Box copies ---------------------------------------------------------------------------------

static constexpr int BOX_ROWS = 8;

// Copies one box and writes it out with the swizzle undone, as a [BOX_ROWS, PANEL] matrix.
__global__ void box_kernel(const __grid_constant__ CUtensorMap map, int column, int row, int head,
                           int batch, unsigned short *out) KERNEL_FOR_HOPPER({
  __shared__ unsigned short memory[BOX_ROWS * PANEL + 512];
  __shared__ barrier full;
  unsigned short *tile = memory + (-shared_address(memory) & 1023) / 2;
  if (threadIdx.x == 0) {
    barrier_create(&full, 1);
    barriers_created();
    barrier_arrive_expecting(&full, BOX_ROWS * PANEL * 2);
    copy_box(tile, &map, &full, column, row, head, batch);
  }
  __syncthreads();
  barrier_wait(&full, 0);
  for (int i = threadIdx.x; i < BOX_ROWS * PANEL; i += blockDim.x) {
    const int r = i / PANEL, c = i % PANEL;
    out[i] = tile[r * PANEL + ((c / 8 ^ r % 8) * 8 + c % 8)];
  }
})

    bool hopper_box_copies(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int B = 2, H = 3, S = 20, D = 128, ROWS = BOX_ROWS;
  std::vector<unsigned short> values(B * H * S * D);
  for (size_t i = 0; i < values.size(); i++) values[i] = 1 + i % 60000;
  device_array<unsigned short> in(values), out(ROWS * PANEL);
  CUtensorMap map;
  if (describe_tensor(&map, ATTENTION_FP16, in.data(), B, H, S, D, ROWS) != cudaSuccess)
    return fail(error, "the tensor map was refused");
  const int places[][4] = {{0, 0, 0, 0},  {64, 8, 2, 1},   {64, 16, 1, 0}, {32, 3, 0, 1},
                           {96, 5, 1, 1}, {-16, -3, 0, 0}, {0, 40, 1, 1},  {0, 0, 3, 0},
                           {0, 0, 0, -1}, {120, 19, 2, 1}};
  for (const auto &at : places) {
    box_kernel<<<1, 64>>>(map, at[0], at[1], at[2], at[3], out.data());
    if (!device_finished(error, "box_kernel")) return false;
    const std::vector<unsigned short> got = out.host();
    for (int r = 0; r < ROWS; r++)
      for (int c = 0; c < PANEL; c++) {
        const int column = at[0] + c, row = at[1] + r, head = at[2], batch = at[3];
        const bool inside = column >= 0 && column < D && row >= 0 && row < S && head >= 0 &&
                            head < H && batch >= 0 && batch < B;
        const int expected = inside ? values[((batch * H + head) * S + row) * D + column] : 0;
        if (got[r * PANEL + c] != expected) {
          return fail(error, "box at (%d, %d, %d, %d): element (%d, %d) is %d, not %d", at[0],
                      at[1], at[2], at[3], r, c, got[r * PANEL + c], expected);
        }
      }
  }
  return true;
}

// The driver calls these arguments an invalid value.
bool hopper_tensor_maps(error_text *error) {
  if (!device_is_hopper()) return true;
  device_array<unsigned short> in(4096);
  const auto encode = tensor_map_encoder();
  if (!encode) return fail(error, "there is no cuTensorMapEncodeTiled");
  struct {
    const char *what;
    size_t address_offset;
    unsigned rank;
    cuuint64_t size, stride;
    cuuint32_t box_columns, box_rows, element_stride;
    CUresult expected;
  } cases[] = {{"nothing", 0, 2, 64, 128, 64, 8, 1, CUDA_SUCCESS},
               {"an address of 8", 8, 2, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"rank 0", 0, 0, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"rank 6", 0, 6, 64, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"size 0", 0, 2, 0, 128, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a stride of 120", 0, 2, 60, 120, 64, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of 72 columns", 0, 2, 64, 128, 72, 8, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of no row", 0, 2, 64, 128, 64, 0, 1, CUDA_ERROR_INVALID_VALUE},
               {"a box of 256 rows", 0, 2, 64, 128, 64, 256, 1, CUDA_SUCCESS},
               {"a box of 257 rows", 0, 2, 64, 128, 64, 257, 1, CUDA_ERROR_INVALID_VALUE},
               {"an element stride of 0", 0, 2, 64, 128, 64, 8, 0, CUDA_ERROR_INVALID_VALUE},
               {"an element stride of 9", 0, 2, 64, 128, 64, 8, 9, CUDA_ERROR_INVALID_VALUE}};
  for (const auto &it : cases) {
    CUtensorMap map;
    const cuuint64_t sizes[6] = {it.size, 32, 1, 1, 1, 1};
    const cuuint64_t strides[5] = {it.stride, 4096, 4096, 4096, 4096};
    const cuuint32_t box[6] = {it.box_columns, it.box_rows, 1, 1, 1, 1};
    const cuuint32_t steps[6] = {it.element_stride, 1, 1, 1, 1, 1};
    const CUresult got = encode(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, it.rank,
                                (char *)in.data() + it.address_offset, sizes, strides, box, steps,
                                CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (got != it.expected)
      return fail(error, "with %s the result is %d, not %d", it.what, (int)got, (int)it.expected);
  }
  return true;
}

// ---- Roles --------------------------------------------------------------------------------------

// Three warpgroups: the first releases registers. The others take turns to append to a list.
__global__ void __launch_bounds__(384, 1) turns_kernel(int *list, int rounds) KERNEL_FOR_HOPPER({
  __shared__ int length;
  if (threadIdx.x == 0) length = 0;
  __syncthreads();
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    give_registers<40>();
    return;
  }
  take_registers<232>();
  const int consumer = warpgroup - 1;
  if (consumer == 1) named_barrier_arrive(1, 256);
  for (int round = 0; round < rounds; round++) {
    named_barrier_wait(1 + consumer, 256);
    if (threadIdx.x % 128 == 0) list[length++] = consumer;
    named_barrier_arrive(1 + (consumer + 1) % 2, 256);
  }
  if (consumer == 0) named_barrier_wait(1, 256);
})

    bool hopper_roles(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int ROUNDS = 9;
  device_array<int> list(2 * ROUNDS);
  turns_kernel<<<1, 384>>>(list.data(), ROUNDS);
  if (!device_finished(error, "turns_kernel")) return false;
  const std::vector<int> got = list.host();
  for (int i = 0; i < 2 * ROUNDS; i++) {
    if (got[i] != i % 2) return fail(error, "turn %d was consumer %d's", i, got[i]);
  }
  return true;
}

// Two warp groups vote in each round. One thread of the first gives true in odd rounds, another one each time, and none of
// the second does. A thread counts the answers, which differ from round to round and between the groups.
static constexpr int VOTES = 20;
__global__ void votes_kernel(int *answers) KERNEL_FOR_HOPPER({
  const int warpgroup = threadIdx.x / 128;
  for (int round = 0; round < VOTES; round++) {
    const bool value = round % 2 && (int)threadIdx.x == round * 37 % 128;
    if (named_barrier_any(1 + warpgroup, 128, value)) answers[threadIdx.x * 2 + round % 2]++;
  }
})

    bool hopper_votes(error_text *error) {
  if (!device_is_hopper()) return true;
  device_array<int> answers(2 * 256);
  votes_kernel<<<1, 256>>>(answers.data());
  if (!device_finished(error, "votes_kernel")) return false;
  const std::vector<int> got = answers.host();
  for (int i = 0; i < 2 * 256; i++) {
    const int expected = i < 256 && i % 2 ? VOTES / 2 : 0;
    if (got[i] != expected)
      return fail(error, "thread %d: true %d times in %s rounds, not %d times", i / 2, got[i],
                  i % 2 ? "odd" : "even", expected);
  }
  return true;
}

// Adds 100 and the number of the lane that each warp elects, twice.
__global__ void election_kernel(int *elected) KERNEL_FOR_HOPPER({
  for (int round = 0; round < 2; round++)
    if (elect_lane()) atomicAdd(&elected[threadIdx.x / 32], 100 + threadIdx.x % 32);
})

    // The same of the lanes up to 4: the others have left the kernel.
    __global__ void election_of_few_kernel(int *elected) KERNEL_FOR_HOPPER({
      if (threadIdx.x % 32 > 4) return;
      if (elect_lane()) atomicAdd(&elected[threadIdx.x / 32], 200 + 2 * (threadIdx.x % 32));
    })

        bool hopper_election(error_text *error) {
  if (!device_is_hopper()) return true;
  constexpr int WARPS = 3;
  device_array<int> elected(WARPS);
  election_kernel<<<1, 32 * WARPS>>>(elected.data());
  if (!device_finished(error, "election_kernel")) return false;
  for (const int sum : elected.host()) {
    if (sum < 200 || sum > 2 * 131 || sum % 2 != 0)
      return fail(error, "a warp has added %d, not 100 and the same lane's number twice", sum);
  }
  device_array<int> of_few(WARPS);
  election_of_few_kernel<<<1, 32 * WARPS>>>(of_few.data());
  if (!device_finished(error, "election_of_few_kernel")) return false;
  for (const int sum : of_few.host()) {
    if (sum < 200 || sum > 208) return fail(error, "of lanes 0 to 4, %d is elected", sum / 2 - 100);
  }
  return true;
}
