// Graphs of operations, and the capture of streams into one. A capture takes every operation that its host thread gives
// one of its streams until it ends: the stream in which it began, and each stream that waits for an event of such a
// stream. The order of the calls is an order that streams and events allow.
#ifndef GRAPH_H
#define GRAPH_H

#include "emulator.h"

#include <stdbool.h>

// Is the stream captured by the calling host thread? Then the operation that the caller has for it is added to the graph,
// and not done.
bool graph_takes(cudaStream_t stream);

// They return an error if a capture of the calling host thread does not permit the call, and then the capture is invalid:
// an operation of the legacy stream, which would wait for captured streams; a wait for a stream, or for the device; a
// call that may wait, such as cudaMalloc; a wait for an event of a capture.
cudaError_t graph_refuses_implicit(cudaStream_t stream);
cudaError_t graph_refuses_wait(cudaStream_t stream);
cudaError_t graph_refuses_wait_for_all(void);
cudaError_t graph_refuses_unsafe_call(void);
cudaError_t graph_refuses_event(cudaEvent_t event);

// An event is recorded in a stream, or a stream is to wait for it. If that is a part of a capture they do it, and *done
// becomes true.
void graph_capture_record(cudaEvent_t event, cudaStream_t stream, bool *done);
cudaError_t graph_capture_wait(cudaStream_t stream, cudaEvent_t event, bool *done);

cudaError_t graph_capture_launch(const emulator_launch_request *request);
cudaError_t graph_capture_copy(void *destination, const void *source, size_t bytes,
                               enum cudaMemcpyKind kind);
cudaError_t graph_capture_fill(void *destination, int value, size_t bytes);
cudaError_t graph_capture_malloc(void **pointer, size_t bytes);
cudaError_t graph_capture_free(void *pointer);
cudaError_t graph_capture_host(cudaHostFn_t function, void *data);

// The program frees memory. Is it a graph's, which keeps it (see graph_memory.c)?
bool graph_memory_free(const void *pointer);

#endif
