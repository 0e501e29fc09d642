// Plain reads that are the first guess of a compare-and-swap, and others like them. Lines that a report must name have the
// mark "<-".
#include "device_floats.h"
#include "faults.h"

#include <cuda/atomic>

#define RUN(kernel, grid, block, ...)                                                              \
  if (broken) kernel<false><<<grid, block>>>(__VA_ARGS__);                                         \
  if (!broken) kernel<true><<<grid, block>>>(__VA_ARGS__);

static unsigned *device_words(int count) {
  return reinterpret_cast<unsigned *>(device_floats(count));
}

// As in the CUDA C++ Programming Guide, "Atomic Functions".
template <bool right>
__global__ void add_kernel(double *sum) {
  auto *p = reinterpret_cast<unsigned long long *>(sum);
  unsigned long long old = *p, assumed; // <- alone read
  do {
    assumed = old;
    const double next = threadIdx.x + __longlong_as_double(static_cast<long long>(assumed));
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(next));
    old = right ? atomicCAS(p, assumed, bits) : atomicExch(p, bits); // <- alone atomic
  } while (right && assumed != old);
}
void guess_alone(bool broken) {
  auto *sum = reinterpret_cast<double *>(device_floats(4));
  RUN(add_kernel, 1, 64, sum)
  RUN(add_kernel, 4, 64, sum + 1)
}

// The value of the first read is used, even if that of the second one is not.
template <bool right>
__global__ void maximum_kernel(unsigned *maximum, unsigned *seen) {
  __shared__ unsigned largest;
  if (threadIdx.x == 0) largest = 0;
  __syncthreads();
  volatile unsigned *p = &largest;
  if (!right) seen[threadIdx.x] = *p; // <- used read
  unsigned old = *p;
  const cuda::atomic_ref<unsigned, cuda::thread_scope_block> value(largest);
  while (!value.compare_exchange_weak(old, max(old, threadIdx.x))) {
  }
  __syncthreads();
  if (threadIdx.x == 0) *maximum = largest;
}
void guess_used(bool broken) { RUN(maximum_kernel, 1, 64, device_words(1), device_words(64)) }

// The value that is expected has another size.
template <bool right>
__global__ void halves_kernel(unsigned long long *whole) {
  auto *half = reinterpret_cast<unsigned *>(whole);
  if (right) {
    const unsigned old = *half;
    atomicCAS(half, old, old + 1);
  } else {
    const unsigned long long old = *whole;           // <- wider read
    atomicCAS(half, static_cast<unsigned>(old), 1u); // <- wider atomic
  }
}
void guess_wider(bool broken) {
  RUN(halves_kernel, 4, 1, reinterpret_cast<unsigned long long *>(device_floats(2)))
}

// The other way round: the compare-and-swap compares more than was read. The block that reads is the first or the second,
// and the other one adds.
template <bool right>
__global__ void whole_kernel(unsigned long long *whole, unsigned reader) {
  if (blockIdx.x != reader) {
    atomicAdd(whole, 1ull); // <- narrower atomic
  } else if (right) {
    const unsigned long long old = *whole;
    atomicCAS(whole, old, old + 1);
  } else {
    const unsigned old = *reinterpret_cast<unsigned *>(whole); // <- narrower read
    atomicCAS(whole, old, old + 1ull);
  }
}
static void run_whole(bool broken, unsigned reader) {
  RUN(whole_kernel, 2, 1, reinterpret_cast<unsigned long long *>(device_floats(2)), reader)
}
void guess_narrower_before(bool broken) { run_whole(broken, 0); }
void guess_narrower_behind(bool broken) { run_whole(broken, 1); }

// Others come between the read and the compare-and-swap.
template <bool right>
__global__ void slept_kernel(unsigned *sum, unsigned *seen) {
  if (threadIdx.x % 32 != 0) return;
  unsigned old = *sum, assumed; // <- slept read
  __nanosleep(100);
  if (!right && threadIdx.x == 0) {
    seen[0] = old;
    return;
  }
  do {
    assumed = old;
    old = atomicCAS(sum, assumed, assumed + 1); // <- slept atomic
  } while (assumed != old);
}
void guess_slept(bool broken) { RUN(slept_kernel, 1, 64, device_words(1), device_words(1)) }

// A plain write is no guess's business.
template <bool right>
__global__ void written_kernel(unsigned *sum) {
  if (blockIdx.x == 0) {
    if (right) {
      atomicExch(sum, 1u);
    } else {
      *sum = 1; // <- plain write
    }
    return;
  }
  const unsigned old = *sum;    // <- plain guess
  atomicCAS(sum, old, old + 1); // <- plain atomic
}
void guess_written(bool broken) { RUN(written_kernel, 2, 1, device_words(1)) }

// An atomic operation of another kind takes the guess for what it is.
template <bool right>
__global__ void added_kernel(unsigned *sum) {
  if (blockIdx.x == 0) {
    atomicAdd(sum, 1u); // <- added atomic
    return;
  }
  const unsigned old = *sum; // <- added read
  if (right) atomicCAS(sum, old, old + 1);
  if (!right) atomicAdd(sum, old);
}
void guess_added(bool broken) { RUN(added_kernel, 2, 1, device_words(1)) }

// A fault ends the launch before the thread can compare.
template <bool right>
__global__ void stopped_kernel(unsigned *sum, unsigned *nowhere) {
  if (blockIdx.x == 0) {
    atomicAdd(sum, 1u); // <- stopped atomic
    return;
  }
  const unsigned old = *sum; // <- stopped read
  if (!right) *nowhere = old;
  atomicCAS(sum, old, old + 1);
}
void guess_stopped(bool broken) { RUN(stopped_kernel, 2, 1, device_words(1), NULL) }

// The compare-and-swap of the whole comes behind one of its upper half, and so is not the next access.
template <bool right>
__global__ void upper_kernel(unsigned long long *whole) {
  if (blockIdx.x == 0) {
    atomicAdd(whole, 1ull); // <- upper atomic
    return;
  }
  const unsigned long long old = *whole; // <- upper read
  if (!right) atomicCAS(reinterpret_cast<unsigned *>(whole) + 1, 7u, 8u);
  atomicCAS(whole, old, old + 1);
}
void guess_upper_half(bool broken) {
  RUN(upper_kernel, 2, 1, reinterpret_cast<unsigned long long *>(device_floats(2)))
}

// A thread may have more guesses at a time than are held back.
template <bool right>
__global__ void five_kernel(unsigned *words, unsigned *seen) {
  if (blockIdx.x == 0) {
    for (int i = 0; i < 5; i++) atomicAdd(&words[i], 1u); // <- five atomics
    return;
  }
  unsigned old[5];
  old[0] = words[0]; // <- first of five
  old[1] = words[1];
  old[2] = words[2];
  old[3] = words[3];
  old[4] = right ? 0 : words[4];
  for (int i = 0; i < (right ? 4 : 5); i++) {
    if (right) atomicCAS(&words[i], old[i], 1u);
    if (!right) seen[i] = old[i];
  }
}
void guess_five(bool broken) { RUN(five_kernel, 2, 1, device_words(5), device_words(5)) }
