// A wait or an atomic operation puts accesses in order, and some come too late for it. Lines that a report must name have
// the mark "<-".
#include "device_floats.h"
#include "faults.h"
#include "hopper.cuh"

#include <cuda_pipeline.h>

#define RUN(kernel, threads)                                                                       \
  if (broken) kernel<false><<<1, threads>>>(device_floats(threads));                               \
  if (!broken) kernel<true><<<1, threads>>>(device_floats(threads));

// Thread 32 writes before its arrival for the phase that the others wait for, or before the one for the next phase.
template <bool right>
__global__ void next_phase_kernel(float *out) {
  __shared__ barrier full;
  __shared__ float value;
  if (threadIdx.x == 0) barrier_create(&full, 2);
  __syncthreads();
  if (threadIdx.x == 64) barrier_arrive(&full);
  if (threadIdx.x == 32) {
    if (right) value = 1;
    barrier_arrive(&full);
    barrier_wait(&full, 0);
    if (!right) value = 1; // <- next phase write
    barrier_arrive(&full);
  } else if (threadIdx.x == 0) {
    for (int i = 0; i < 20; i++) __nanosleep(1000);
    barrier_wait(&full, 0);
    out[0] = value; // <- next phase read
  }
}
void phase_arrived_for_next(bool broken) { RUN(next_phase_kernel, 96) }

// Thread 32 arrives for the first phase, which does not tell it that this phase is over, and waits for the second one.
template <bool right>
__global__ void arriver_kernel(float *out) {
  __shared__ barrier full, seen;
  if (threadIdx.x == 0) barrier_create(&full, 2);
  if (threadIdx.x == 0) barrier_create(&seen, 1);
  __syncthreads();
  if (threadIdx.x == 0 || threadIdx.x == 32) barrier_arrive(&full);
  if (threadIdx.x == 32) {
    if (right) barrier_wait(&full, 0);
    barrier_arrive(&seen);
    for (int i = 0; !right && i < 20; i++) __nanosleep(1000);
    barrier_wait(&full, 1); // <- arriver wait
    out[0] = 1;
  } else if (threadIdx.x % 32 == 0) {
    barrier_wait(&full, 0);
    if (threadIdx.x == 0) barrier_wait(&seen, 0);
    barrier_arrive(&full);
  }
}
void phase_left_out_by_arriver(bool broken) { RUN(arriver_kernel, 96) }

// A thread that looks at the flag comes only behind what the other one has done before it raised the flag.
template <bool right>
__global__ void raised_kernel(float *out) {
  __shared__ int flag;
  __shared__ float value;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    if (right) value = 1;
    atomicExch(&flag, 1);
    if (!right) value = 1; // <- raised write
  } else if (threadIdx.x == 32) {
    while (atomicAdd(&flag, 0) == 0) {
    }
    out[0] = value; // <- raised read
  }
}
void flag_raised_early(bool broken) { RUN(raised_kernel, 64) }

// Lines of two files are two lines, whatever their numbers are.
template <bool right>
__global__ void files_kernel(float *out) {
  if (threadIdx.x < 32) __syncthreads("one.cuh", 7);
  if (threadIdx.x >= 32) __syncthreads(right ? "one.cuh" : "two.cuh", 7);
  out[threadIdx.x] = 1;
}
void barrier_in_other_file(bool broken) { RUN(files_kernel, 64) }

// Threads that have ended miss each barrier from then on. It is reported once.
template <bool right>
__global__ void leave_kernel(float *out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = 1;
  if (right) __syncthreads();
  if (threadIdx.x >= 50) return;
  if (!right) __syncthreads();               // <- missed by those
  out[threadIdx.x] = tile[63 - threadIdx.x]; // <- read of theirs
  __syncthreads();
}
void barrier_missed_on_and_on(bool broken) { RUN(leave_kernel, 64) }

// An access that is too early for a copy does not stand for a race in other lines.
template <bool right>
__global__ void both_kernel(float *out) {
  __shared__ float copied[64], written[64];
  __pipeline_memcpy_async(&copied[threadIdx.x], &out[threadIdx.x], 4);
  __pipeline_commit();
  if (right) __pipeline_wait_prior(0);
  const float early = copied[threadIdx.x]; // <- both
  __pipeline_wait_prior(0);
  written[threadIdx.x] = early; // <- both
  if (right) __syncthreads();
  out[threadIdx.x] = written[63 - threadIdx.x]; // <- both
}
void race_beside_early_read(bool broken) { RUN(both_kernel, 64) }
