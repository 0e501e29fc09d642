// Measures how long a load takes, by a chain of loads: each takes its address from the one before it. This is pointer
// chasing, as in Mei and Chu, "Dissecting GPU Memory Hierarchy through Microbenchmarking" (arXiv 1509.02308).
#include "ceilings/kernels.h"
#include <cuda_runtime.h>

// These threads load the links that must be in the L2 cache; then one of them goes on alone.
static constexpr int THREADS = 1024;

// __ldcg does not take a link from the multiprocessor's own cache. A link holds the next one's address and not its
// number, so that no arithmetic stands between two loads.
__launch_bounds__(THREADS) __global__
    void chase_kernel(const unsigned long long *chain, unsigned warm_links, unsigned loads,
                      unsigned long long *ends) {
  // No link is 0. The compiler does not know this, so it leaves none of these loads out.
  bool broken = false;
  for (unsigned i = threadIdx.x; i < warm_links; i += THREADS)
    broken |= __ldcg(&chain[(size_t)i * LINK_WORDS]) == 0;
  if (__syncthreads_or(broken) || threadIdx.x != 0) return;

  const unsigned long long first = ends[1];
  unsigned long long link = first;
  for (unsigned i = 0; i < loads; i++) link = __ldcg((const unsigned long long *)link);
  ends[0] = first;
  ends[1] = link;
}

cudaError_t chase_launch(const void *chain, unsigned warm_links, unsigned loads, uint64_t *ends,
                         cudaStream_t stream) {
  static_assert(sizeof(uint64_t) == sizeof(unsigned long long), "the same words");
  chase_kernel<<<1, THREADS, 0, stream>>>((const unsigned long long *)chain, warm_links, loads,
                                          (unsigned long long *)ends);
  return cudaGetLastError();
}
