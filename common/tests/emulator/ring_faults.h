// Kernels that arrive once too often at a barrier that counts bytes, or never at one that is waited for, for
// hopper_faults.cu, which includes this file.
#ifndef RING_FAULTS_H
#define RING_FAULTS_H

// A ring of one stage, which thread 0 fills and a warp reads, with one mistake.
enum ring_fault {
  ALL_LANES_ARRIVE,
  TWO_LANES_ARRIVE,
  NOT_AWAITED,
  PARITY_OF_FULL,
  SAME_PARITY,
  PARITY_OF_EMPTY,
  NOT_EMPTIED
};

__global__ void filling_kernel(const CUtensorMap *map, ring_fault kind) {
  __shared__ half tiles[1][1][ROWS][PANEL];
  __shared__ barrier full[1], empty[1];
  if (threadIdx.x == 0) {
    barrier_create_all(full, 1);
    barrier_create_all(empty, 1);
    barriers_created();
  }
  __syncthreads();
  ring_place<1> ring;
  for (int lap = 0; lap < 3 && threadIdx.x == 0; lap++) {
    MARK, fill_stage<1>(tiles, full, empty, ring, map, 0, 0, 0);
    if (kind == PARITY_OF_EMPTY) ring.parity = 0;
  }
  for (int lap = 0; lap < 3 && threadIdx.x >= 32; lap++) {
    const int parity = kind == SAME_PARITY ? 1 : (lap + (kind == PARITY_OF_FULL)) % 2;
    if (kind != NOT_AWAITED) barrier_wait(&full[0], parity);
    const unsigned lanes = kind == ALL_LANES_ARRIVE   ? 32
                           : kind == TWO_LANES_ARRIVE ? 2
                           : kind == NOT_EMPTIED      ? 0
                                                      : 1;
    if (threadIdx.x < 32 + lanes) barrier_arrive(&empty[0]);
  }
}

// Thread 0 arrives again behind a copy of which too few bytes were announced.
__global__ void late_arrival_kernel(const CUtensorMap *map) {
  __shared__ half tile[ROWS][PANEL];
  __shared__ barrier full[2];
  if (threadIdx.x == 0) {
    barrier_create_all(full, 1);
    barriers_created();
    for (int i = 0; i < 2; i++) {
      barrier_arrive_expecting(&full[i], i == 0 ? 16 : BOX_BYTES);
      copy_box(tile, map, &full[i], 0, 0, 0, 0);
    }
  }
  __syncthreads();
  barrier_wait(&full[1 - threadIdx.x], 0); // the copies come when both threads wait
  barrier_arrive(&full[0]);
}

#endif
