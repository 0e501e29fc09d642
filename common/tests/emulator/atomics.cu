// Tests atomic operations, and what blocks and warps tell each other with them.
#include "device_array.h"
#include "semantics.h"

struct sums {
  int add, sub, low, high;
  unsigned inc, dec, all_bits, any_bits, odd_bits;
  unsigned long long wide_add, wide_high;
  float real_add;
  double double_add;
  int slot, taken_out;
};

__global__ void atomics_kernel(sums *s) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&s->add, i);
  atomicSub(&s->sub, i);
  atomicMin(&s->low, 50 - i);
  atomicMax(&s->high, i);
  atomicInc(&s->inc, 99);
  atomicDec(&s->dec, 99);
  atomicAnd(&s->all_bits, ~(1u << i % 20));
  atomicOr(&s->any_bits, 1u << i % 20);
  atomicXor(&s->odd_bits, 1u << i % 20);
  atomicAdd(&s->wide_add, 1ull << 32);
  atomicMax(&s->wide_high, static_cast<unsigned long long>(i) << 33);
  atomicAdd(&s->real_add, 0.5f);
  atomicAdd(&s->double_add, 0.25);
  atomicAdd(&s->taken_out, atomicExch(&s->slot, i));
}

bool block_atomics(error_text *error) {
  const int n = 30 * 128;
  sums start = {};
  start.all_bits = 0xffffffff;
  device_array<sums> device(std::vector<sums>{start});
  atomics_kernel<<<30, 128>>>(device.data());
  if (!device_finished(error, "atomics_kernel")) return false;
  const sums s = device.host()[0];
  const int total = n * (n - 1) / 2;
  if (s.add != total) return fail(error, "atomicAdd: %d, not %d", s.add, total);
  if (s.sub != -total) return fail(error, "atomicSub: %d, not %d", s.sub, -total);
  if (s.low != 50 - (n - 1)) return fail(error, "atomicMin: %d", s.low);
  if (s.high != n - 1) return fail(error, "atomicMax: %d", s.high);
  if (s.inc != n % 100) return fail(error, "atomicInc: %u, not %d", s.inc, n % 100);
  if (s.dec != (100 - n % 100) % 100) return fail(error, "atomicDec: %u", s.dec);
  if (s.all_bits != 0xfff00000) return fail(error, "atomicAnd: 0x%x", s.all_bits);
  if (s.any_bits != 0x000fffff) return fail(error, "atomicOr: 0x%x", s.any_bits);
  if (s.odd_bits != 0) return fail(error, "atomicXor: 0x%x", s.odd_bits);
  if (s.wide_add != static_cast<unsigned long long>(n) << 32)
    return fail(error, "64-bit atomicAdd");
  if (s.wide_high != static_cast<unsigned long long>(n - 1) << 33) return fail(error, "64-bit max");
  if (s.real_add != n * 0.5f) return fail(error, "float atomicAdd: %g", s.real_add);
  if (s.double_add != n * 0.25) return fail(error, "double atomicAdd: %g", s.double_add);
  // In any order, a value that went into the slot came out of it or is still there.
  if (s.taken_out + s.slot != total) return fail(error, "atomicExch: %d", s.taken_out + s.slot);
  return true;
}

// One thread of each block takes the lock and adds without atomics.
__global__ void lock_kernel(int *lock, volatile int *guarded, int *winners) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    *guarded = *guarded + 1;
    __threadfence();
    atomicExch(lock, 0);
    atomicAdd(winners, 1);
  }
}

bool block_spin_lock(error_text *error) {
  device_array<int> lock(1), guarded(1), winners(1);
  lock_kernel<<<50, 256>>>(lock.data(), guarded.data(), winners.data());
  if (!device_finished(error, "lock_kernel")) return false;
  const int expected = 50 * 8, got = guarded.host()[0];
  return got == expected || fail(error, "%d increments under the lock, not %d", got, expected);
}

// Each warp waits until the next one has raised its flag; the last one does not wait.
__global__ void flags_kernel(int *flags, int *passed) {
  const int warp = threadIdx.x / 32, warps = blockDim.x / 32;
  if (threadIdx.x % 32 != 0) return;
  while (warp < warps - 1 && atomicAdd(&flags[warp + 1], 0) == 0) {
  }
  atomicExch(&flags[warp], 1);
  atomicAdd(passed, 1);
}

bool block_flags(error_text *error) {
  device_array<int> flags(8), passed(1);
  flags_kernel<<<1, 256>>>(flags.data(), passed.data());
  if (!device_finished(error, "flags_kernel")) return false;
  return passed.host()[0] == 8 || fail(error, "%d of 8 warps passed", passed.host()[0]);
}

// The last block to finish adds up what all blocks wrote (CUDA C++ Programming Guide, "Memory Fence
// Functions").
__global__ void last_block_kernel(int *parts, unsigned *finished, int *total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x + 1;
    __threadfence();
    last = atomicInc(finished, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
    atomicAdd(total, static_cast<volatile int *>(parts)[i]);
  }
}

bool block_last_one(error_text *error) {
  const int blocks = 300;
  device_array<int> parts(blocks), total(1);
  device_array<unsigned> finished(1);
  last_block_kernel<<<blocks, 64>>>(parts.data(), finished.data(), total.data());
  if (!device_finished(error, "last_block_kernel")) return false;
  const int expected = blocks * (blocks + 1) / 2, got = total.host()[0];
  return got == expected || fail(error, "the last block summed %d, not %d", got, expected);
}
