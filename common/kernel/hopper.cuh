// The instructions that Hopper brings (sm_90a), for barriers that count bytes, the copy engine (TMA), wgmma
// and register budgets. Most functions stand for one instruction. The numbers in the comments are sections of
// the PTX ISA, release 9.0.
#ifndef HOPPER_CUH
#define HOPPER_CUH

#include "attention.h"
#include "ptx.cuh"
#include "timeline.cuh"
#include "wgmma.cuh"
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>

#ifndef __CUDACC__
#include "hopper_functions.h" // of the emulator: the same functions, without PTX
#else

// --- barriers in shared memory: 9.7.13.15, "mbarrier" --------------------------------------------
//
// A barrier goes through phases. A phase is complete when as many threads have arrived as the barrier was
// created for, and all announced bytes have arrived as well; then the next phase begins. A thread waits for
// the end of a phase with a given parity: 0 for the first phase, 1 for the second, 0 for the third. The wait
// returns as long as the phase under way has the other parity, so a wait for parity 1 on a new barrier returns at once.
typedef uint64_t barrier;

__device__ __forceinline__ void barrier_create(barrier *barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

// Creates the barriers of a ring of stages.
template <int COUNT>
__device__ __forceinline__ void barrier_create_all(barrier (&barriers)[COUNT], unsigned arrivals) {
  for (int i = 0; i < COUNT; i++) barrier_create(&barriers[i], arrivals);
}

// Makes new barriers visible to the copy engine. The threads of the block need a __syncthreads() besides,
// before they use the barriers. 9.7.13.4, "fence".
__device__ __forceinline__ void barriers_created() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void barrier_arrive(barrier *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

// Arrives, and announces `bytes` bytes that the copy engine will write in this phase.
__device__ __forceinline__ void barrier_arrive_expecting(barrier *barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

// Returns when the phase with this parity is complete. The writes of other threads before they arrived, and
// those of the copy engine, are then visible to the caller.
__device__ __forceinline__ void barrier_wait(barrier *barrier, unsigned parity TIMELINE_SITE) {
  TIMELINE_BEGIN
  asm volatile("{.reg .pred complete;\n"
               "again_%=: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
               "@complete bra done_%=;\n"
               "bra again_%=;\n"
               "done_%=:}" ::"r"(shared_address(barrier)),
               "r"(parity)
               : "memory");
  TIMELINE_END(BARRIER_WAIT)
}

// --- the copy engine: 9.7.9.27.1.2, "cp.async.bulk.tensor" ---------------------------------------

// Starts to copy a box of a 4-D tensor to shared memory; the first element of the box is at (column, row,
// head, batch). The barrier counts the bytes. The part of the box past the end of the tensor arrives as
// zeros.
__device__ __forceinline__ void copy_box(void *smem, const CUtensorMap *map, barrier *barrier,
                                         int column, int row, int head, int batch TIMELINE_SITE) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(smem)),
               "l"(map), "r"(shared_address(barrier)), "r"(column), "r"(row), "r"(head), "r"(batch)
               : "memory");
  TIMELINE_AT_FIRST(COPY, column == 0) // one event for all panels of a tile
}

// --- products of a warp group: 9.7.15, "wgmma" ---------------------------------------------------

// Orders accesses to registers. It must come before the first product, and between a use of registers by the
// warps and a product that uses the same registers.
__device__ __forceinline__ void wgmma_fence(TIMELINE_FIRST_SITE) {
  TIMELINE_AT(PRODUCT)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// Makes the thread's own writes to shared memory visible to wgmma and to the copy engine, which access it in
// another way than the threads (the async proxy). The other threads of the block need a __syncthreads()
// besides. 9.7.13.4, "fence".
__device__ __forceinline__ void writes_for_wgmma() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Makes sure that what threads have read from shared memory has been read before the copies that the calling thread
// starts next write there, since the copy engine accesses it in another way than the threads (the async proxy). A
// barrier must stand between the reads of the other threads and this call. 9.7.13.4, "fence".
__device__ __forceinline__ void reads_before_copies() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Closes the products that the warp group has queued since the last commit into a group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Waits until at most the NEWEST newest groups are still under way. The registers `d`, which the older groups
// write, must not be used before. The empty asm makes the compiler believe that this call writes them.
template <int NEWEST, int COUNT>
__device__ __forceinline__ void wgmma_wait(float (&d)[COUNT] TIMELINE_SITE) {
  TIMELINE_BEGIN
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(NEWEST) : "memory");
#pragma unroll
  for (int i = 0; i < COUNT; i++) asm volatile("" : "+f"(d[i])::"memory");
  TIMELINE_END_OF(NEWEST ? TIMELINE_PRODUCT_WAIT_1 : TIMELINE_PRODUCT_WAIT)
}

// --- roles within a block ------------------------------------------------------------------------

// Returns true in exactly one lane of the warp; all lanes call it together. After it the compiler knows that
// one lane is active. Under `if (threadIdx.x == 0)` it does not know this, and writes a loop over the lanes
// around a copy. 9.7.13.14, "elect.sync".
__device__ __forceinline__ bool elect_lane() {
  unsigned elected;
  asm volatile("{.reg .pred elected;\n"
               "elect.sync _|elected, 0xffffffff;\n"
               "selp.u32 %0, 1, 0, elected;}"
               : "=r"(elected));
  return elected;
}

// Named barriers for `threads` threads of the block have the numbers 1 to 15; __syncthreads() uses number 0.
// A barrier opens when `threads` threads have arrived, and only those that called wait are held. 9.7.13.1,
// "bar".
__device__ __forceinline__ void named_barrier_wait(int number, int threads TIMELINE_SITE) {
  TIMELINE_BEGIN
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
  TIMELINE_END(TURN_WAIT)
}
__device__ __forceinline__ void named_barrier_arrive(int number, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}
// All of the threads wait, and each learns whether `value` is true in any of them.
__device__ __forceinline__ bool named_barrier_any(int number, int threads, bool value) {
  unsigned any;
  asm volatile("{.reg .pred given, any;\n"
               "setp.ne.u32 given, %3, 0;\n"
               "bar.red.or.pred any, %1, %2, given;\n"
               "selp.u32 %0, 1, 0, any;}"
               : "=r"(any)
               : "r"(number), "r"(threads), "r"((unsigned)value)
               : "memory");
  return any;
}

// Change how many registers each thread of the warp group may use, a multiple of 8 from 24 to 256.
// take_registers waits until other warp groups have given enough away. 9.7.19.5, "setmaxnreg".
template <int REGISTERS>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}
template <int REGISTERS>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

#endif // __CUDACC__

// --- the registers of a producer and of 1 to 4 consumers, which are warp groups ------------------
//
// A multiprocessor has 65,536, which the launch divides equally among all threads. The producer gives most of its share
// away, and the consumers take it. With two consumers each thread has 168 at first, and later a thread of the producer has
// 24 and one of a consumer 240: 3 * 168 = 24 + 2 * 240. One consumer has enough from the start.

template <int CONSUMERS>
__device__ __forceinline__ void take_registers_of_producer() {
  if constexpr (CONSUMERS > 1) give_registers<(CONSUMERS == 2 ? 24 : 32)>();
}
template <int CONSUMERS>
__device__ __forceinline__ void take_registers_of_consumer() {
  if constexpr (CONSUMERS > 1)
    take_registers<(CONSUMERS == 2 ? 240 : CONSUMERS == 3 ? 160 : 112)>();
}

// --- a ring of stages ----------------------------------------------------------------------------

// Holds a place in a ring of stages, and the parity of the lap, which is one pass through all stages.
template <int STAGES>
struct ring_place {
  int stage = 0;
  unsigned parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      parity ^= 1;
    }
  }
};

// --- tiles in shared memory ----------------------------------------------------------------------

static constexpr int PANEL = 64;          // columns, 128 bytes, the most that TMA can swizzle
static constexpr int WARPGROUP_ROWS = 64; // rows of Q and O in one wgmma

// Returns the tiles in a block's dynamic shared memory, from the first multiple of 1024 bytes on: the swizzle
// repeats every 1024 bytes, and is computed from the address. A block needs ALIGNED_BYTES<tiles> for them.
template <typename tiles>
__device__ __forceinline__ tiles &aligned_tiles(void *shared_memory) {
  TIMELINE_ENTER
  return *(tiles *)((unsigned char *)shared_memory + (-shared_address(shared_memory) & 1023));
}
template <typename tiles>
static constexpr size_t ALIGNED_BYTES = sizeof(tiles) + 1024;

// Starts the copies of a tile, panel by panel, from row `row` of a head. One thread calls it, which has
// announced the bytes to the barrier.
template <int PANELS, int ROWS, typename Element>
__device__ __forceinline__ void load_tile(Element (&smem)[PANELS][ROWS][PANEL],
                                          const CUtensorMap *map, barrier *barrier, int row,
                                          int head, int batch TIMELINE_SITE) {
  for (int panel = 0; panel < PANELS; panel++)
    copy_box(smem[panel], map, barrier, panel * PANEL, row, head, batch TIMELINE_PASS);
}

// Fills the next stage of a ring with the tile that begins at row `row` of a head, as soon as the stage is
// empty. One thread calls it. A stage is filled once and emptied once in each lap of the ring, so phase n of both of
// its barriers belongs to lap n. The caller waits until the stage was emptied in the lap before, whose parity is the
// other one; in the first lap such a wait returns at once. A stage may have more panels than the PANELS that are
// copied.
template <int PANELS, int COUNT, typename Tile>
__device__ __forceinline__ void fill_stage(Tile (&stages)[COUNT], barrier (&full)[COUNT],
                                           barrier (&empty)[COUNT], ring_place<COUNT> &ring,
                                           const CUtensorMap *map, int row, int head,
                                           int batch TIMELINE_SITE) {
  barrier_wait(&empty[ring.stage], ring.parity ^ 1 TIMELINE_PASS);
  barrier_arrive_expecting(&full[ring.stage], PANELS * sizeof(stages[0][0]));
  for (int panel = 0; panel < PANELS; panel++)
    copy_box(stages[ring.stage][panel], map, &full[ring.stage], panel * PANEL, row, head,
             batch TIMELINE_PASS);
  ring.advance();
}

// Describes a tile in shared memory whose rows are 64 elements, 128 bytes, in the 128-byte swizzle. The copy
// engine writes this layout with CU_TENSOR_MAP_SWIZZLE_128B, and swizzled() computes it in step 08. Groups of
// 8 rows are 1024 bytes apart. `panel_bytes` is the distance to the next 64 columns of a wider matrix
// B [16, N]; for other matrices it is ignored. The tile starts at a multiple of 1024 bytes.
// 9.7.15.5.1.2.2, "Matrix Descriptor Format".
__device__ __forceinline__ uint64_t matrix_descriptor(const void *tile, unsigned panel_bytes) {
  const uint64_t address = shared_address(tile);
  const uint64_t swizzle_128_bytes = 1;
  return (address & 0x3ffff) >> 4 | (uint64_t)(panel_bytes >> 4) << 16 |
         (uint64_t)(1024 >> 4) << 32 | swizzle_128_bytes << 62;
}

// --- host: CUDA driver API, "Tensor Map Object Management" ---------------------------------------

// Returns the driver's function that encodes a tensor map, or NULL if the driver is too old. The program asks
// for it at run time, so that it need not be linked with libcuda.
static decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  void *function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                       cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) {
    return nullptr;
  }
  return (decltype(&cuTensorMapEncodeTiled))function;
}

// Describes a contiguous [batch, heads, rows, head_dim] tensor of 16-bit elements for copy_box, in boxes of
// box_rows x PANEL columns with the 128-byte swizzle.
static inline cudaError_t describe_tensor(CUtensorMap *map, attention_dtype dtype,
                                          const void *tensor, int batch, int heads, int rows,
                                          int head_dim, int box_rows) {
  static const auto encode = tensor_map_encoder();
  if (!encode) return cudaErrorNotSupported;
  const cuuint64_t sizes[4] = {(cuuint64_t)head_dim, (cuuint64_t)rows, (cuuint64_t)heads,
                               (cuuint64_t)batch};
  const cuuint64_t row_bytes = sizes[0] * 2;
  const cuuint64_t strides[3] = {row_bytes, row_bytes * sizes[1], row_bytes * sizes[1] * sizes[2]};
  const cuuint32_t box[4] = {PANEL, (cuuint32_t)box_rows, 1, 1};
  const cuuint32_t every_element[4] = {1, 1, 1, 1};
  const CUresult result = encode(
      map,
      dtype == ATTENTION_FP16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
      4, (void *)tensor, sizes, strides, box, every_element, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

struct tensor_maps {
  CUtensorMap Q, K, V;
};

// Describes the three inputs: Q in boxes of tile::BLOCK_M rows, K and V in boxes of tile::BLOCK_N rows.
template <typename tile>
static cudaError_t describe_tensors(tensor_maps *maps, const attention_args *args) {
  const attention_shape &shape = args->shape;
  cudaError_t error = describe_tensor(&maps->Q, shape.dtype, args->q, shape.batch, shape.heads,
                                      shape.seq_q, shape.head_dim, tile::BLOCK_M);
  if (error == cudaSuccess)
    error = describe_tensor(&maps->K, shape.dtype, args->k, shape.batch, shape.kv_heads,
                            shape.seq_kv, shape.head_dim, tile::BLOCK_N);
  if (error == cudaSuccess)
    error = describe_tensor(&maps->V, shape.dtype, args->v, shape.batch, shape.kv_heads,
                            shape.seq_kv, shape.head_dim, tile::BLOCK_N);
  return error;
}

#endif
