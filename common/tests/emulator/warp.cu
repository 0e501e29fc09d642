// Tests warps: shuffles, votes, matches, reductions.
#include "device_array.h"
#include "semantics.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

static const unsigned FULL = 0xffffffff;

// ---- Shuffles -----------------------------------------------------------------------------------

enum { INDEXED, UP, DOWN, XOR, KINDS };

__global__ void shuffle_kernel(int *out, int kind, int argument, int width) {
  const int value = 1000 + threadIdx.x;
  int got = 0;
  if (kind == INDEXED) got = __shfl_sync(FULL, value, argument, width);
  if (kind == UP) got = __shfl_up_sync(FULL, value, argument, width);
  if (kind == DOWN) got = __shfl_down_sync(FULL, value, argument, width);
  if (kind == XOR) got = __shfl_xor_sync(FULL, value, argument, width);
  out[threadIdx.x] = got;
}

// Returns the lane that `lane` reads from (PTX ISA, "shfl.sync").
static int source_lane(int kind, int lane, int argument, int width) {
  const int start = lane / width * width, end = start + width;
  int source = lane;
  argument %= 32;
  if (kind == INDEXED) return start + argument % width;
  if (kind == UP) source = lane - argument;
  if (kind == DOWN) source = lane + argument;
  if (kind == XOR) return (lane ^ argument) < end ? lane ^ argument : lane;
  return source >= start && source < end ? source : lane;
}

bool warp_shuffles(error_text *error) {
  device_array<int> out(64);
  for (int kind = 0; kind < KINDS; kind++) {
    for (int width = 1; width <= 32; width *= 2) {
      for (int argument = 0; argument < 34; argument++) {
        shuffle_kernel<<<1, 64>>>(out.data(), kind, argument, width);
        if (!device_finished(error, "shuffle_kernel")) return false;
        const std::vector<int> got = out.host();
        for (int i = 0; i < 64; i++) {
          const int expected = 1000 + i / 32 * 32 + source_lane(kind, i % 32, argument, width);
          if (got[i] != expected) {
            return fail(error, "shuffle %d by %d, width %d: thread %d got %d, not %d", kind,
                        argument, width, i, got[i], expected);
          }
        }
      }
    }
  }
  return true;
}

struct shuffled {
  int i;
  unsigned u;
  long l;
  unsigned long long ull;
  float f;
  double d;
  float half_value, half2_low, half2_high, bf16_value;
};

__global__ void shuffle_types_kernel(shuffled *out) {
  const int lane = threadIdx.x;
  shuffled &mine = out[lane];
  mine.i = __shfl_xor_sync(FULL, -lane, 1);
  mine.u = __shfl_xor_sync(FULL, 0xf0000000u + lane, 1);
  mine.l = __shfl_xor_sync(FULL, -1L * lane, 1);
  mine.ull = __shfl_xor_sync(FULL, 1ull << lane, 1);
  mine.f = __shfl_xor_sync(FULL, lane + 0.5f, 1);
  mine.d = __shfl_xor_sync(FULL, lane + 1e-9, 1);
  mine.half_value = __half2float(__shfl_xor_sync(FULL, __float2half(lane * 0.25f), 1));
  const __half2 pair = __shfl_xor_sync(FULL, __floats2half2_rn(lane, -lane), 1);
  mine.half2_low = __low2float(pair);
  mine.half2_high = __high2float(pair);
  mine.bf16_value = __bfloat162float(__shfl_xor_sync(FULL, __float2bfloat16(lane), 1));
}

bool warp_shuffle_types(error_text *error) {
  device_array<shuffled> out(32);
  shuffle_types_kernel<<<1, 32>>>(out.data());
  if (!device_finished(error, "shuffle_types_kernel")) return false;
  const std::vector<shuffled> got = out.host();
  for (int lane = 0; lane < 32; lane++) {
    const int from = lane ^ 1;
    const shuffled &s = got[lane];
    const bool right = s.i == -from && s.u == 0xf0000000u + from && s.l == -from &&
                       s.ull == 1ull << from && s.f == from + 0.5f && s.d == from + 1e-9 &&
                       s.half_value == from * 0.25f && s.half2_low == from &&
                       s.half2_high == -from && s.bf16_value == from;
    if (!right) return fail(error, "lane %d: a type is not shuffled right", lane);
  }
  return true;
}

// The halves of a warp take different branches, each as often as it likes.
__global__ void sub_masks_kernel(int *out) {
  const int lane = threadIdx.x % 32;
  const unsigned mask = lane < 16 ? 0x0000ffff : 0xffff0000;
  int value = threadIdx.x;
  if (lane < 16) {
    for (int round = 0; round < 3; round++) value += __shfl_xor_sync(mask, value, 1 << round);
  } else {
    for (int round = 0; round < 5; round++) {
      value = __shfl_sync(mask, value, 16 + (lane + 1) % 16);
      if (lane % 2 == 0) __syncwarp(0x55550000);
    }
  }
  __syncwarp();
  out[threadIdx.x] = value + 10000 * __popc(__ballot_sync(FULL, value >= 0));
}

bool warp_sub_masks(error_text *error) {
  const int threads = 96;
  device_array<int> out(threads);
  sub_masks_kernel<<<1, threads>>>(out.data());
  if (!device_finished(error, "sub_masks_kernel")) return false;
  const std::vector<int> got = out.host();
  for (int i = 0; i < threads; i++) {
    const int lane = i % 32, first = i - lane;
    int expected = 320000;
    if (lane < 16) {
      for (int other = 0; other < 8; other++) expected += first + lane / 8 * 8 + other;
    } else {
      expected += first + 16 + (lane + 5) % 16;
    }
    if (got[i] != expected) return fail(error, "thread %d got %d, not %d", i, got[i], expected);
  }
  return true;
}

// ---- Votes, matches, reductions -----------------------------------------------------------------

__global__ void votes_kernel(unsigned *out, unsigned predicates, unsigned mask) {
  const int lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int predicate = static_cast<int>(predicates >> lane & 1) * 7;
  out[lane] = __ballot_sync(mask, predicate);
  out[32 + lane] = __any_sync(mask, predicate) != 0;
  out[64 + lane] = __all_sync(mask, predicate) != 0;
}

bool warp_votes(error_text *error) {
  device_array<unsigned> out(96);
  for (const unsigned mask : {FULL, 0x0000ffffu, 0x80000001u, 0x00f0f0f0u}) {
    for (const unsigned predicates : {0u, FULL, 0x12345678u, 0x80000000u, 0x00f0f0f0u}) {
      votes_kernel<<<1, 32>>>(out.data(), predicates, mask);
      if (!device_finished(error, "votes_kernel")) return false;
      const std::vector<unsigned> got = out.host();
      const unsigned expected = predicates & mask;
      for (int lane = 0; lane < 32; lane++) {
        if ((mask >> lane & 1) == 0) continue;
        if (got[lane] != expected || got[32 + lane] != (expected != 0) ||
            got[64 + lane] != (expected == mask)) {
          return fail(error, "mask 0x%x, predicates 0x%x, lane %d: ballot 0x%x, any %u, all %u",
                      mask, predicates, lane, got[lane], got[32 + lane], got[64 + lane]);
        }
      }
    }
  }
  return true;
}

__global__ void matches_kernel(unsigned *out, int divisor) {
  const int lane = threadIdx.x;
  int all_equal;
  out[lane] = __match_any_sync(FULL, lane / divisor);
  out[32 + lane] = __match_any_sync(FULL, static_cast<double>(lane / divisor));
  out[64 + lane] = __match_all_sync(FULL, 5 + lane / divisor, &all_equal);
  out[96 + lane] = all_equal != 0;
  out[128 + lane] = __match_any_sync(FULL, static_cast<unsigned long long>(lane / divisor) << 32);
}

bool warp_matches(error_text *error) {
  device_array<unsigned> out(160);
  for (const int divisor : {1, 4, 7, 16, 32}) {
    matches_kernel<<<1, 32>>>(out.data(), divisor);
    if (!device_finished(error, "matches_kernel")) return false;
    const std::vector<unsigned> got = out.host();
    for (int lane = 0; lane < 32; lane++) {
      unsigned expected = 0;
      for (int other = 0; other < 32; other++) {
        if (other / divisor == lane / divisor) expected |= 1u << other;
      }
      const bool all = divisor == 32;
      if (got[lane] != expected || got[32 + lane] != expected || got[128 + lane] != expected ||
          got[64 + lane] != (all ? FULL : 0) || got[96 + lane] != all) {
        return fail(error, "values lane / %d, lane %d: match_any 0x%x, not 0x%x; match_all 0x%x",
                    divisor, lane, got[lane], expected, got[64 + lane]);
      }
    }
  }
  return true;
}

__global__ void reductions_kernel(long long *out, unsigned mask) {
  const int lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  const int value = lane * 3 - 40;
  const unsigned bits = 0xf0u | 1u << lane;
  long long *mine = out + lane * 9;
  mine[0] = __reduce_add_sync(mask, value);
  mine[1] = __reduce_min_sync(mask, value);
  mine[2] = __reduce_max_sync(mask, value);
  mine[3] = __reduce_add_sync(mask, static_cast<unsigned>(value));
  mine[4] = __reduce_min_sync(mask, static_cast<unsigned>(value));
  mine[5] = __reduce_max_sync(mask, static_cast<unsigned>(value));
  mine[6] = __reduce_and_sync(mask, bits);
  mine[7] = __reduce_or_sync(mask, bits);
  mine[8] = __reduce_xor_sync(mask, bits);
}

bool warp_reductions(error_text *error) {
  device_array<long long> out(32 * 9);
  for (const unsigned mask : {FULL, 0x0000ffffu, 0x80000001u, 0x00000100u}) {
    reductions_kernel<<<1, 32>>>(out.data(), mask);
    if (!device_finished(error, "reductions_kernel")) return false;
    long long expected[9] = {0, 1000, -1000, 0, 0xffffffff, 0, 0xffffffff, 0, 0};
    for (int lane = 0; lane < 32; lane++) {
      if ((mask >> lane & 1) == 0) continue;
      const long long value = lane * 3 - 40, unsigned_value = static_cast<unsigned>(value);
      const long long bits = 0xf0u | 1u << lane;
      expected[0] += value;
      expected[1] = std::min(expected[1], value);
      expected[2] = std::max(expected[2], value);
      expected[3] = (expected[3] + unsigned_value) & 0xffffffff;
      expected[4] = std::min(expected[4], unsigned_value);
      expected[5] = std::max(expected[5], unsigned_value);
      expected[6] &= bits;
      expected[7] |= bits;
      expected[8] ^= bits;
    }
    const std::vector<long long> got = out.host();
    for (int i = 0; i < 32 * 9; i++) {
      if ((mask >> i / 9 & 1) && got[i] != expected[i % 9]) {
        return fail(error, "mask 0x%x, lane %d: reduction %d is %lld, not %lld", mask, i / 9, i % 9,
                    got[i], expected[i % 9]);
      }
    }
  }
  return true;
}

// CUDA does not specify which lanes are active together; the answer must hold
// the asking lane, no lane of the other branch, and be valid for a shuffle.
__global__ void active_mask_kernel(unsigned *out) {
  const int lane = threadIdx.x;
  if (lane % 4 == 0) {
    const unsigned mask = __activemask();
    const int leader = __ffs(mask) - 1;
    out[lane] = mask;
    out[32 + lane] = __shfl_sync(mask, lane, leader) == leader;
  } else {
    out[lane] = __activemask();
    out[32 + lane] = 1;
  }
}

bool warp_active_mask(error_text *error) {
  device_array<unsigned> out(64);
  active_mask_kernel<<<1, 32>>>(out.data());
  if (!device_finished(error, "active_mask_kernel")) return false;
  const std::vector<unsigned> got = out.host();
  for (int lane = 0; lane < 32; lane++) {
    const unsigned branch = lane % 4 == 0 ? 0x11111111 : 0xeeeeeeee;
    if ((got[lane] >> lane & 1) == 0 || (got[lane] & ~branch) != 0 || got[32 + lane] != 1) {
      return fail(error, "lane %d: active mask 0x%x in the branch 0x%x", lane, got[lane], branch);
    }
  }
  return true;
}

// The last warp of the block has 13 lanes.
__global__ void partial_kernel(int *out) {
  const unsigned mask = threadIdx.x < 32 ? FULL : (1u << 13) - 1;
  int sum = threadIdx.x;
  for (int distance = 16; distance > 0; distance /= 2) {
    const int other = __shfl_down_sync(mask, sum, distance);
    if (static_cast<int>(threadIdx.x % 32) + distance < __popc(mask)) sum += other;
  }
  out[threadIdx.x] = sum;
}

bool warp_partial(error_text *error) {
  device_array<int> out(45);
  partial_kernel<<<1, 45>>>(out.data());
  if (!device_finished(error, "partial_kernel")) return false;
  const std::vector<int> got = out.host();
  const int first = 31 * 32 / 2, second = 44 * 45 / 2 - first;
  return (got[0] == first && got[32] == second) ||
         fail(error, "warps sum to %d and %d, not %d and %d", got[0], got[32], first, second);
}
