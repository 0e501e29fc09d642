// Stamps: each wrapper of an instruction that waits, arrives, copies or multiplies writes down when its warp was
// there, and from which line it was called. They exist only in a build with LAB_TIMELINE, which `make step14
// timeline` makes; without it the words below stand for nothing, and the machine code is the same as without them.
//
//   TIMELINE_SITE          a last parameter: the line of the call; TIMELINE_FIRST_SITE where there is no other
//   TIMELINE_PASS          a last argument: the line that the caller was called from
//   TIMELINE_BEGIN         before an instruction that may wait
//   TIMELINE_END(KIND)     after it: one event, from the begin to now
//   TIMELINE_AT(KIND)      an event without a duration; TIMELINE_AT_FIRST(KIND, first) only where `first` is set
//
// The kinds are those of timeline.h.
#ifndef TIMELINE_CUH
#define TIMELINE_CUH

#if !defined(LAB_TIMELINE) || !defined(__CUDACC__)

#define TIMELINE_SITE
#define TIMELINE_FIRST_SITE
#define TIMELINE_PASS
#define TIMELINE_BEGIN
#define TIMELINE_END(KIND)
#define TIMELINE_END_OF(kind)
#define TIMELINE_AT(KIND)
#define TIMELINE_AT_FIRST(KIND, first)

#else

#include "timeline/timeline.h"
#include <cuda_pipeline.h>
#include <mma.h>

// A place in the source, which the compiler makes a constant.
struct timeline_site {
  unsigned number;
  __device__ constexpr timeline_site(const char *file, int line)
      : number(timeline_site_number(file, line)) {}
};

#define TIMELINE_HERE timeline_site(__builtin_FILE(), __builtin_LINE())
#define TIMELINE_FIRST_SITE timeline_site site = TIMELINE_HERE
#define TIMELINE_SITE , TIMELINE_FIRST_SITE
#define TIMELINE_PASS , site
#define TIMELINE_BEGIN const unsigned timeline_begin = clock();
#define TIMELINE_END(KIND) TIMELINE_END_OF(TIMELINE_##KIND)
#define TIMELINE_END_OF(kind) timeline_stamp(timeline_begin, clock(), kind, site);
#define TIMELINE_AT_FIRST(KIND, first) if (first) TIMELINE_AT(KIND)
#define TIMELINE_AT(KIND)                                                                          \
  {                                                                                                \
    const unsigned timeline_now = clock();                                                         \
    timeline_stamp(timeline_now, timeline_now, TIMELINE_##KIND, site);                             \
  }

static __constant__ timeline_plan timeline_wanted;

// They read the multiprocessor that the warp runs on, and the warp's place there. Neither changes.
__device__ __forceinline__ unsigned timeline_multiprocessor() {
  unsigned number;
  asm("mov.u32 %0, %%smid;" : "=r"(number));
  return number;
}
__device__ __forceinline__ unsigned timeline_place() {
  unsigned number;
  asm("mov.u32 %0, %%warpid;" : "=r"(number));
  return number;
}

// Lane 0 writes the event to the warp's ring. The time of the end chooses the slot, so that no counter is read, which
// the warp would have to wait for. The count goes to memory without a reply, too. There is no branch, so that a stamp
// may stand between a wgmma.fence and the products behind it.
__device__ __forceinline__ void timeline_stamp(unsigned begin, unsigned end, unsigned kind,
                                               timeline_site site) {
  const unsigned multiprocessor = timeline_multiprocessor() - timeline_wanted.first;
  const bool wanted =
      threadIdx.x % 32 == 0 && multiprocessor < timeline_wanted.multiprocessors;
  const unsigned ring = multiprocessor * TIMELINE_WARPS + timeline_place();
  const unsigned slot = end / TIMELINE_SLOT_CLOCKS & (timeline_wanted.slots - 1);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  asm volatile("{.reg .pred wanted;\n"
               "setp.ne.u32 wanted, %0, 0;\n"
               "@wanted st.global.v4.u32 [%1], {%3, %4, %5, %6};\n"
               "@wanted red.global.add.u32 [%2], 1;}" ::"r"((unsigned)wanted),
               "l"(timeline_wanted.events + (size_t)ring * timeline_wanted.slots + slot),
               "l"(timeline_wanted.counts + ring), "r"(begin), "r"(end),
               "r"(site.number << 5 | kind), "r"(block << 5 | threadIdx.x / 32));
}

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
#define __syncthreads() timeline_syncthreads()
#define __pipeline_commit() timeline_pipeline_commit()
#define __pipeline_wait_prior(newest) timeline_pipeline_wait(newest)

// The fragments of K are its columns, those of V its rows; which of them a warp loads tells which product it is at.
namespace nvcuda::wmma {
template <typename Fragment, typename... Arguments>
__device__ __forceinline__ void timeline_load(timeline_site, Fragment &fragment,
                                              const Arguments &...arguments) {
  load_matrix_sync(fragment, arguments...);
}
template <typename Element, typename... Arguments>
__device__ __forceinline__ void
timeline_load(timeline_site site, fragment<matrix_b, 16, 16, 16, Element, col_major> &fragment,
              const Arguments &...arguments) {
  TIMELINE_AT(SCORES)
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
#define load_matrix_sync(...) timeline_load(TIMELINE_HERE, __VA_ARGS__)

#endif // LAB_TIMELINE

#endif
