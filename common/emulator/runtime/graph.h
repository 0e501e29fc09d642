// Graphs of operations, and the capture of a stream into one. A capture takes every operation that the host thread
// gives a stream until it ends; the order of the calls is an order that streams and events allow.
#ifndef GRAPH_H
#define GRAPH_H

#include "emulator.h"

#include <stdbool.h>

// Does the calling host thread capture? Then its operations are added to the graph, and not done.
bool graph_capturing(void);
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
