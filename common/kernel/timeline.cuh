// Stamps: each wrapper of an instruction that waits, arrives, copies or multiplies writes down when its warp was
// there, and from which line it was called. They exist only in a build with LAB_TIMELINE, which `make step14
// timeline` makes; without it the words below stand for nothing, and the machine code is the same as without them.
//
//   TIMELINE_SITE          a last parameter: the line of the call; TIMELINE_FIRST_SITE where there is no other
//   TIMELINE_PASS          a last argument: the line that the caller was called from; TIMELINE_PASS_FIRST likewise
//   TIMELINE_ENTER         where a kernel begins
//   TIMELINE_BEGIN         before an instruction that may wait
//   TIMELINE_END(KIND)     after it: one event, from the begin to now
//   TIMELINE_AT(KIND)      an event without a duration; TIMELINE_AT_FIRST(KIND, first) only where `first` is set
//   TIMELINE_MMA(KIND)     the same in a step with products by mma.sync, which have no wait that tells their end
//   TIMELINE_SHARED_BYTES  the static shared memory that stamps take beside what the kernel takes
//
// The kinds are those of timeline.h.
#ifndef TIMELINE_CUH
#define TIMELINE_CUH

#if !defined(LAB_TIMELINE) || !defined(__CUDACC__)

#define TIMELINE_SHARED_BYTES 0
#define TIMELINE_ENTER
#define TIMELINE_SITE
#define TIMELINE_FIRST_SITE
#define TIMELINE_PASS
#define TIMELINE_PASS_FIRST
#define TIMELINE_BEGIN
#define TIMELINE_END(KIND)
#define TIMELINE_END_OF(kind)
#define TIMELINE_AT(KIND)
#define TIMELINE_AT_FIRST(KIND, first)
#define TIMELINE_MMA(KIND)

#else

#include "timeline/timeline.h"
#include <cuda_pipeline.h>
#include <mma.h>

// A place in the source. `consteval`, for which a build with stamps is in C++20, makes the compiler compute the number;
// otherwise each stamp would go through the letters of the file's name.
struct timeline_site {
  unsigned number;
};
__host__ __device__ consteval unsigned timeline_number(const char *file, int line) {
  return timeline_site_number(file, line);
}

#define TIMELINE_HERE                                                                              \
  timeline_site { timeline_number(__builtin_FILE(), __builtin_LINE()) }
#define TIMELINE_FIRST_SITE   timeline_site site = TIMELINE_HERE
#define TIMELINE_SITE         , TIMELINE_FIRST_SITE
#define TIMELINE_PASS         , site
#define TIMELINE_PASS_FIRST   site
#define TIMELINE_BEGIN        const unsigned timeline_begin = timeline_clock();
#define TIMELINE_END(KIND)    TIMELINE_END_OF(TIMELINE_##KIND)
#define TIMELINE_END_OF(kind) timeline_stamp(timeline_begin, timeline_clock(), kind, site);
#define TIMELINE_AT_FIRST(KIND, first)                                                             \
  if (first) TIMELINE_AT(KIND)
#if LAB_TIMELINE == 2
#define TIMELINE_MMA(KIND)
#else
#define TIMELINE_MMA(KIND) TIMELINE_AT(KIND)
#endif
#define TIMELINE_AT(KIND)                                                                          \
  {                                                                                                \
    const unsigned timeline_now = timeline_clock();                                                \
    timeline_stamp(timeline_now, timeline_now, TIMELINE_##KIND, site);                             \
  }

static __constant__ timeline_plan timeline_wanted;

__device__ __forceinline__ unsigned timeline_clock() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  return now;
}

// Returns the slot of a time in a ring.
__device__ __forceinline__ unsigned timeline_slot(unsigned ring, unsigned time) {
  return ring + (time / TIMELINE_SLOT_CLOCKS & (timeline_wanted.slots - 1));
}

// Finds the ring that the lane's warp writes into, and writes there which warp it is. Returns the ring's first slot,
// counted from timeline_wanted.events on; 0 where the lane writes none: lanes but the first, warps that are not asked
// for, and those of other multiprocessors. To read the special registers takes a hundred clocks.
__device__ __forceinline__ unsigned timeline_find_ring() {
  unsigned multiprocessor, place;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(place));
  multiprocessor -= timeline_wanted.first;
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x % 32 != 0 || (warp & timeline_wanted.warps_between) != 0 ||
      multiprocessor >= timeline_wanted.multiprocessors)
    return 0;
  const unsigned ring = (multiprocessor * TIMELINE_WARPS + place) * (timeline_wanted.slots + 1) + 1;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned now = timeline_clock();
  timeline_wanted.events[timeline_slot(ring, now)] = {now, now, TIMELINE_BEGIN_OF_WARP,
                                                      block << 5 | warp};
  return ring;
}

#if LAB_TIMELINE == 2
#define TIMELINE_SHARED_BYTES 0

// A kernel with wgmma calls aligned_tiles() first. There it finds its ring, once, and keeps it and the number of its
// events in registers of PTX, which all stamps after it see.
__device__ __forceinline__ void timeline_enter() {
  const unsigned ring = timeline_find_ring();
  asm volatile(".reg .u32 timeline_ring, timeline_count;\n"
               "mov.u32 timeline_ring, %0;\n"
               "mov.u32 timeline_count, 0;" ::"r"(ring));
}

// Writes an event to the warp's ring. The time of its end chooses the slot, so that no position is read, which the warp
// would have to wait for. There is no branch, because a stamp may stand between two products.
__device__ __forceinline__ void timeline_stamp(unsigned begin, unsigned end, unsigned kind,
                                               timeline_site site) {
  unsigned ring;
  asm volatile("mov.u32 %0, timeline_ring;" : "=r"(ring));
  asm volatile("{.reg .pred wanted;\n"
               ".reg .u64 event;\n"
               "add.u32 timeline_count, timeline_count, 1;\n"
               "setp.ne.u32 wanted, %0, 0;\n"
               "mad.wide.u32 event, %1, 16, %2;\n"
               "@wanted st.global.v4.u32 [event], {%3, %4, %5, timeline_count};}" ::"r"(ring),
               "r"(timeline_slot(ring, end)), "l"(timeline_wanted.events), "r"(begin), "r"(end),
               "r"(site.number << 5 | kind));
}

#else
#define TIMELINE_SHARED_BYTES 128 // of a block, for `rings`

// Other kernels have no place where all begin. They find the ring again at each wait, and keep it in shared memory for
// the stamps of their products, of which there are many.
__device__ __forceinline__ void timeline_enter() {}

__device__ __forceinline__ void timeline_stamp(unsigned begin, unsigned end, unsigned kind,
                                               timeline_site site) {
  static __shared__ unsigned rings[32]; // of the block's warps
  static_assert(sizeof rings == TIMELINE_SHARED_BYTES, "allow_shared_memory counts them");
  const bool of_product = kind == TIMELINE_SOFTMAX || kind == TIMELINE_OUTPUT;
  const unsigned ring =
      of_product ? (threadIdx.x % 32 == 0 ? rings[threadIdx.x / 32] : 0) : timeline_find_ring();
  if (!of_product && threadIdx.x % 32 == 0) rings[threadIdx.x / 32] = ring;
  if (ring == 0) return;
  timeline_wanted.events[timeline_slot(ring, end)] = {begin, end, site.number << 5 | kind, 0};
  atomicAdd(&timeline_wanted.events[ring - 1].begin, 1);
}

#endif

#define TIMELINE_ENTER                timeline_enter();

// The step that is linked with this file records from the next launch on.
extern "C" cudaError_t attention_timeline(const timeline_plan *plan) {
  return cudaMemcpyToSymbol(timeline_wanted, plan, sizeof *plan);
}

// --- the official functions that a step calls by their own names ---------------------------------

__device__ __forceinline__ void timeline_syncthreads(timeline_site site = TIMELINE_HERE) {
  TIMELINE_BEGIN
  __syncthreads();
  TIMELINE_END(BLOCK_WAIT)
}
__device__ __forceinline__ void timeline_pipeline_commit(timeline_site site = TIMELINE_HERE) {
  __pipeline_commit();
  TIMELINE_AT(COPY)
}
__device__ __forceinline__ void timeline_pipeline_wait(size_t newest,
                                                       timeline_site site = TIMELINE_HERE) {
  TIMELINE_BEGIN
  __pipeline_wait_prior(newest);
  TIMELINE_END(COPY_WAIT)
}
#define __syncthreads()               timeline_syncthreads()
#define __pipeline_commit()           timeline_pipeline_commit()
#define __pipeline_wait_prior(newest) timeline_pipeline_wait(newest)

// A load of a fragment of V tells that the warp is at the product of P and V.
namespace nvcuda::wmma {
template <typename Fragment, typename... Arguments>
__device__ __forceinline__ void timeline_load(timeline_site, Fragment &fragment,
                                              const Arguments &...arguments) {
  load_matrix_sync(fragment, arguments...);
}
template <typename Element, typename... Arguments>
__device__ __forceinline__ void
timeline_load(timeline_site site, fragment<matrix_b, 16, 16, 16, Element, row_major> &fragment,
              const Arguments &...arguments) {
  TIMELINE_AT(OUTPUT)
  load_matrix_sync(fragment, arguments...);
}
} // namespace nvcuda::wmma
#define load_matrix_sync(...)         timeline_load(TIMELINE_HERE, __VA_ARGS__)

#endif // LAB_TIMELINE

#endif
