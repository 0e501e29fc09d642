// Clusters in inline PTX, copies to all blocks of a cluster, and stmatrix.
#include "hopper.cuh"

// Each block adds its rank to a number in the other one's shared memory.
__global__ void __cluster_dims__(2, 1, 1) add_ranks(unsigned *out) {
  __shared__ unsigned number;
  unsigned rank, remote;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) number = 10 * rank;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(shared(&number)), "r"(rank ^ 1));
  if (threadIdx.x == 0)
    asm volatile("red.shared::cluster.add.u32 [%0], %1;" ::"r"(remote), "r"(rank + 1) : "memory");
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (threadIdx.x == 0) out[blockIdx.x] = number;
}

FEATURE(inline_ptx_of_clusters,
        "barrier.cluster, mapa, ld, st, red and atom of shared::cluster, the special registers of "
        "clusters",
        "") {
  unsigned *out;
  CHECK(cudaMallocManaged(&out, 2 * sizeof *out));
  add_ranks<<<2, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  return out[0] == 2 && out[1] == 11;
}

// The first block loads a tile for both. Neither ends before the other one has said that it has read the tile.
__global__ void __cluster_dims__(2, 1, 1)
    share_tile(const __grid_constant__ CUtensorMap map, __nv_bfloat16 *out) {
  __shared__ alignas(1024) __nv_bfloat16 tile[ROWS * DEPTH];
  __shared__ uint64_t full, read;
  unsigned rank, remote;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared(&full)));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(shared(&read)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
  if (threadIdx.x == 0)
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&full)),
                 "n"(sizeof tile)
                 : "memory");
  if (threadIdx.x == 0 && rank == 0)
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                 "multicast::cluster [%0], [%1, {%3, %3}], [%2], %4;" ::"r"(shared(tile)),
                 "l"(&map), "r"(shared(&full)), "r"(0), "h"(static_cast<unsigned short>(3))
                 : "memory");
  wait_for(&full, 0);
  for (int i = threadIdx.x; i < ROWS * DEPTH; i += blockDim.x) // in the 128-byte swizzle
    out[rank * ROWS * DEPTH + i] =
        tile[i / DEPTH * DEPTH + ((i % DEPTH / 8) ^ (i / DEPTH % 8)) * 8 + i % 8];
  __syncthreads();
  if (threadIdx.x < 2) {
    asm("mapa.shared::cluster.u32 %0, %1, %2;"
        : "=r"(remote)
        : "r"(shared(&read)), "r"(threadIdx.x));
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(remote)
                 : "memory");
  }
  wait_for(&read, 0);
}

FEATURE(barriers_of_clusters,
        "mbarrier.arrive in another block, cp.async.bulk.tensor with multicast::cluster",
        "sanitize and count: one sentence") {
  product<__nv_bfloat16> it;
  if (!prepare(it)) return false;
  __nv_bfloat16 *out;
  CHECK(cudaMallocManaged(&out, 2 * ROWS * DEPTH * sizeof *out));
  share_tile<<<2, 128>>>(it.A_map, out);
  CHECK(cudaDeviceSynchronize());
  return memcmp(out, it.A, ROWS * DEPTH * sizeof *out) == 0 &&
         memcmp(out + ROWS * DEPTH, it.A, ROWS * DEPTH * sizeof *out) == 0;
}

// Four 8x8 matrices, whose elements tell where they should be: stored together, transposed, and as two, one and one.
__global__ void store_matrices(unsigned short *out) {
  __shared__ alignas(16) unsigned short plain[4][8][8], transposed[4][8][8], parts[4][8][8];
  const unsigned lane = threadIdx.x, row = lane / 4, column = lane % 4 * 2;
  unsigned r[4];
  for (unsigned m = 0; m < 4; m++) r[m] = (m * 64 + row * 8 + column) * 0x10001 + 0x10000;
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared(plain[lane / 8][lane % 8])),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  asm volatile("stmatrix.sync.aligned.x4.trans.m8n8.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared(transposed[lane / 8][lane % 8])),
               "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])
               : "memory");
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(
                   shared(parts[lane / 8 % 2][lane % 8])),
               "r"(r[0]), "r"(r[1])
               : "memory");
  for (int m = 2; m < 4; m++)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(shared(parts[m][lane % 8])),
        "r"(r[m])
        : "memory");
  __syncwarp();
  for (unsigned i = lane; i < 256; i += 32) {
    out[i] = plain[i / 64][i / 8 % 8][i % 8];
    out[256 + i] = transposed[i / 64][i % 8][i / 8 % 8];
    out[512 + i] = parts[i / 64][i / 8 % 8][i % 8];
  }
}

FEATURE(stmatrix, "stmatrix x1, x2, x4 and trans", "") {
  unsigned short *out;
  CHECK(cudaMallocManaged(&out, 768 * sizeof *out));
  store_matrices<<<1, 32>>>(out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 768; i++)
    if (out[i] != i % 256) return false;
  return true;
}
