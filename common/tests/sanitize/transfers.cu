// Kernels that do not wait for a transfer of another stream or device. Lines that a report must name have the mark "<-".
#include "faults.h"

#include <cuda_runtime.h>
#include <nccl.h>
#include <stdlib.h>

enum { N = 64, BYTES = N * sizeof(float) };

__global__ void use_kernel(const float *in, float *out) {
  out[threadIdx.x] = in[threadIdx.x] + 1; // <- use
}

static float *floats(int device, int count) {
  float *data;
  cudaSetDevice(device);
  cudaMalloc(&data, count * sizeof(float));
  cudaMemset(data, 0, count * sizeof(float));
  cudaDeviceSynchronize();
  return data;
}

static cudaStream_t stream_of(int device) {
  cudaStream_t stream;
  cudaSetDevice(device);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

// `later` goes on when `earlier` has come to this point.
static void wait_for(cudaStream_t earlier, cudaStream_t later) {
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaEventRecord(event, earlier);
  cudaStreamWaitEvent(later, event, 0);
  cudaEventDestroy(event);
}

void copy_not_waited_for(bool broken) {
  float *from = floats(1, N), *to = floats(0, N), *out = floats(0, N);
  const cudaStream_t copies = stream_of(0), computes = stream_of(0);
  cudaMemcpyPeerAsync(to, 0, from, 1, BYTES, copies); // <- peer copy
  if (!broken) wait_for(copies, computes);
  use_kernel<<<1, N, 0, computes>>>(to, out);
  cudaDeviceSynchronize();
}

// Memory that nothing has written before the copies. The first one is under way, and explains why what the second one will
// write is read too early as well.
void copy_to_fresh_memory(bool broken) {
  float *from = floats(1, N), *out = floats(0, N), *to;
  cudaMalloc(&to, BYTES);
  const cudaStream_t copies = stream_of(0), computes = stream_of(0);
  cudaMemcpyPeerAsync(to, 0, from, 1, BYTES / 2, copies); // <- fresh copy
  cudaMemcpyPeerAsync(to + N / 2, 0, from + N / 2, 1, BYTES / 2, copies);
  if (!broken) wait_for(copies, computes);
  use_kernel<<<1, N, 0, computes>>>(to, out);
  cudaDeviceSynchronize();
}

// The host does not wait for cudaMemset, nor for a copy within a device.
void fill_not_waited_for(bool broken) {
  float *in = floats(0, N), *out = floats(0, N);
  cudaMemset(in, 1, BYTES); // <- fill
  if (!broken) cudaDeviceSynchronize();
  use_kernel<<<1, N, 0, stream_of(0)>>>(in, out);
  cudaDeviceSynchronize();
}
void copy_within_device(bool broken) {
  float *from = floats(0, N), *to = floats(0, N), *in = floats(0, N);
  cudaMemcpy(to, from, BYTES, cudaMemcpyDeviceToDevice); // <- copy within
  use_kernel<<<1, N, 0, broken ? stream_of(0) : 0>>>(in, from);
  cudaDeviceSynchronize();
}

// The kernel writes what a copy still reads.
void source_overwritten(bool broken) {
  float *from = floats(0, N), *to = floats(1, N), *in = floats(0, N);
  const cudaStream_t copies = stream_of(0), computes = stream_of(0);
  cudaMemcpyPeerAsync(to, 1, from, 0, BYTES, copies); // <- peer copy
  if (!broken) wait_for(copies, computes);
  use_kernel<<<1, N, 0, computes>>>(in, from);
  cudaDeviceSynchronize();
}

// A collective of one host thread for both ranks.
void gather_not_waited_for(bool broken) {
  ncclComm_t comms[2];
  cudaStream_t streams[2];
  float *mine[2], *all[2], *out = floats(0, N);
  ncclCommInitAll(comms, 2, NULL);
  for (int rank = 0; rank < 2; rank++) {
    mine[rank] = floats(rank, N);
    all[rank] = floats(rank, 2 * N);
    streams[rank] = stream_of(rank);
  }
  ncclGroupStart();
  for (int rank = 0; rank < 2; rank++) {
    ncclAllGather(mine[rank], all[rank], N, ncclFloat, comms[rank], streams[rank]); // <- gather
  }
  ncclGroupEnd();
  const cudaStream_t computes = stream_of(0);
  if (!broken) wait_for(streams[0], computes);
  use_kernel<<<1, N, 0, computes>>>(all[0], out);
  for (int rank = 0; rank < 2; rank++) {
    cudaSetDevice(rank);
    cudaDeviceSynchronize();
  }
}

void send_buffer_overwritten(bool broken) {
  ncclComm_t comms[2];
  cudaStream_t streams[2];
  float *memory[2], *in = floats(0, N);
  ncclCommInitAll(comms, 2, NULL);
  for (int rank = 0; rank < 2; rank++) {
    memory[rank] = floats(rank, N);
    streams[rank] = stream_of(rank);
  }
  ncclGroupStart();
  ncclSend(memory[0], N, ncclFloat, 1, comms[0], streams[0]); // <- send
  ncclRecv(memory[1], N, ncclFloat, 0, comms[1], streams[1]);
  ncclGroupEnd();
  const cudaStream_t computes = stream_of(0);
  if (!broken) wait_for(streams[0], computes);
  use_kernel<<<1, N, 0, computes>>>(in, memory[0]);
  for (int rank = 0; rank < 2; rank++) {
    cudaSetDevice(rank);
    cudaDeviceSynchronize();
  }
}

__global__ void poll_kernel(const float *slice, int *flag, float *out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) __nanosleep(100);
  }
  __syncthreads();
  out[threadIdx.x] = slice[threadIdx.x]; // <- polled
}

// The flag must come behind the slice.
void flag_too_early(bool broken) {
  float *from = floats(1, N), *slice = floats(0, N), *out = floats(0, N);
  int *flag = (int *)floats(0, 1), *one = (int *)floats(0, 1);
  const cudaStream_t copies = stream_of(0), computes = stream_of(0);
  cudaMemset(one, 1, sizeof *one);
  cudaDeviceSynchronize();
  poll_kernel<<<1, N, 0, computes>>>(slice, flag, out);
  if (broken) cudaMemcpyAsync(flag, one, sizeof *flag, cudaMemcpyDeviceToDevice, copies);
  cudaMemcpyPeerAsync(slice, 0, from, 1, BYTES, copies); // <- slice
  if (!broken) cudaMemcpyAsync(flag, one, sizeof *flag, cudaMemcpyDeviceToDevice, copies);
  cudaDeviceSynchronize();
}

void other_device(bool broken) {
  float *in = floats(1, N), *out = floats(0, N);
  if (!broken) cudaDeviceEnablePeerAccess(1, 0);
  use_kernel<<<1, N>>>(in, out);
  cudaDeviceSynchronize();
}
