// Tests the capture of streams into a graph: which streams take part in it, and which calls it does not permit (CUDA C++
// Programming Guide, "Creating a Graph Using Stream Capture").
#include "device_array.h"
#include "semantics.h"

__global__ void add_kernel(unsigned *x, unsigned value) { *x += value; }
__constant__ unsigned factor;
__global__ void multiply_kernel(unsigned *x) { *x *= factor; }

static cudaStream_t stream_of(unsigned flags) {
  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, flags);
  return stream;
}

static cudaEvent_t event_of() {
  cudaEvent_t event;
  cudaEventCreate(&event);
  return event;
}

static bool launch(cudaGraph_t graph, cudaStream_t stream, unsigned times) {
  cudaGraphExec_t ready;
  bool good = cudaGraphInstantiate(&ready, graph, 0) == cudaSuccess;
  for (unsigned i = 0; i < times; i++) good = good && cudaGraphLaunch(ready, stream) == cudaSuccess;
  return good && cudaStreamSynchronize(stream) == cudaSuccess;
}

bool capture_of_one_stream(error_text *error) {
  device_array<unsigned> x(1), y(1);
  const cudaStream_t captured = stream_of(cudaStreamNonBlocking);
  const cudaStream_t other = stream_of(cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed);
  add_kernel<<<1, 1, 0, captured>>>(x.data(), 1);
  add_kernel<<<1, 1, 0, other>>>(y.data(), 10);
  const cudaError_t waited = cudaStreamSynchronize(other);
  if (cudaStreamEndCapture(captured, &graph) != cudaSuccess || waited != cudaSuccess)
    return fail(error, "the other stream disturbs the capture: %s", cudaGetErrorName(waited));
  if (x.host()[0] != 0 || y.host()[0] != 10)
    return fail(error, "x is %u and not 0, or y is %u and not 10", x.host()[0], y.host()[0]);
  if (!launch(graph, captured, 3)) return fail(error, "the graph cannot be launched");
  return (x.host()[0] == 3 && y.host()[0] == 10) ||
         fail(error, "x is %u and not 3, or y is %u and not 10", x.host()[0], y.host()[0]);
}

// A stream takes part from the event on that it waits for, and its work must be joined.
bool capture_of_a_fork(error_text *error) {
  device_array<unsigned> x(1);
  const cudaStream_t first = stream_of(cudaStreamNonBlocking);
  const cudaStream_t second = stream_of(cudaStreamNonBlocking);
  const cudaEvent_t fork = event_of(), join = event_of();
  for (int joined = 1; joined >= 0; joined--) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal);
    add_kernel<<<1, 1, 0, first>>>(x.data(), 1);
    cudaEventRecord(fork, first);
    cudaStreamWaitEvent(second, fork, 0);
    add_kernel<<<1, 1, 0, second>>>(x.data(), 10);
    cudaEventRecord(join, second);
    if (joined) cudaStreamWaitEvent(first, join, 0);
    add_kernel<<<1, 1, 0, joined ? first : second>>>(x.data(), 100);
    const cudaError_t end = cudaStreamEndCapture(first, &graph);
    cudaGetLastError();
    if (!joined)
      return (end == cudaErrorStreamCaptureUnjoined && graph == nullptr) ||
             fail(error, "unjoined work ends with %s", cudaGetErrorName(end));
    if (end != cudaSuccess) return fail(error, "joined work ends with %s", cudaGetErrorName(end));
    if (!launch(graph, first, 2) || x.host()[0] != 222)
      return fail(error, "x is %u and not 222", x.host()[0]);
  }
  return false;
}

// A constant is copied when the graph is launched, to the device and back.
bool capture_of_a_symbol(error_text *error) {
  device_array<unsigned> x(1);
  const cudaStream_t stream = stream_of(cudaStreamNonBlocking);
  unsigned *value;
  cudaGraph_t graph;
  cudaMallocHost(&value, 2 * sizeof *value);
  value[0] = value[1] = 2;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  add_kernel<<<1, 1, 0, stream>>>(x.data(), 5);
  cudaMemcpyToSymbolAsync(factor, value, sizeof *value, 0, cudaMemcpyHostToDevice, stream);
  multiply_kernel<<<1, 1, 0, stream>>>(x.data());
  cudaMemcpyFromSymbolAsync(value + 1, factor, sizeof *value, 0, cudaMemcpyDeviceToHost, stream);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) return fail(error, "the end fails");
  *value = 3;
  if (value[1] != 2) return fail(error, "a copy was done at once");
  return (launch(graph, stream, 1) && x.host()[0] == 15 && value[1] == 3) ||
         fail(error, "x is %u and not 15, or the copy is %u and not 3", x.host()[0], value[1]);
}

// Each call is refused with its error, and makes the capture invalid.
bool capture_refuses(error_text *error) {
  device_array<unsigned> x(1);
  const cudaStream_t stream = stream_of(cudaStreamDefault);
  const cudaEvent_t captured = event_of(), before = event_of();
  unsigned host;
  void *memory;
  cudaEventRecord(before, stream);
  for (int i = 0; i < 9; i++) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    add_kernel<<<1, 1, 0, stream>>>(x.data(), 1);
    cudaEventRecord(captured, stream);
    cudaError_t got = cudaSuccess, wanted = cudaErrorStreamCaptureUnsupported;
    if (i == 0) got = cudaStreamSynchronize(stream);
    if (i == 1) got = cudaStreamQuery(stream);
    if (i == 2) got = cudaDeviceSynchronize();
    if (i == 3) got = cudaMalloc(&memory, 4);
    if (i >= 4) wanted = cudaErrorStreamCaptureImplicit;
    if (i == 4) got = cudaMemcpy(&host, x.data(), 4, cudaMemcpyDeviceToHost);
    if (i == 5) got = (add_kernel<<<1, 1>>>(x.data(), 1), cudaGetLastError());
    if (i >= 6) wanted = cudaErrorCapturedEvent;
    if (i == 6) got = cudaEventSynchronize(captured);
    if (i == 7) got = cudaEventQuery(captured);
    if (i == 8)
      got = cudaStreamWaitEvent(stream, before, 0), wanted = cudaErrorStreamCaptureIsolation;
    const cudaError_t end = cudaStreamEndCapture(stream, &graph);
    cudaGetLastError();
    if (got != wanted) return fail(error, "call %d gives %s", i, cudaGetErrorName(got));
    if (end != cudaErrorStreamCaptureInvalidated)
      return fail(error, "behind call %d the end gives %s", i, cudaGetErrorName(end));
  }
  return x.host()[0] == 0 || fail(error, "a kernel ran");
}
