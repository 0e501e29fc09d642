// The runtime API's graphs (CUDA Runtime API reference, "Graph Management"): their nodes run one after the other, in an
// order that their edges allow. Included by <cuda_runtime_api.h>. C and C++.
#ifndef EMULATOR_DETAIL_GRAPH_FUNCTIONS_H
#define EMULATOR_DETAIL_GRAPH_FUNCTIONS_H

typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
struct cudaKernelNodeParams {
  void *func;
  dim3 gridDim;
  dim3 blockDim;
  unsigned int sharedMemBytes;
  void **kernelParams;
  void **extra;
};
struct cudaHostNodeParams {
  cudaHostFn_t fn;
  void *userData;
};
struct cudaMemsetParams {
  void *dst;
  size_t pitch;
  unsigned int value;
  unsigned int elementSize;
  size_t width;
  size_t height;
};
struct cudaPitchedPtr {
  void *ptr;
  size_t pitch, xsize, ysize;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
typedef struct cudaArray *cudaArray_t;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  struct cudaPos srcPos;
  struct cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  struct cudaPos dstPos;
  struct cudaPitchedPtr dstPtr;
  struct cudaExtent extent;
  enum cudaMemcpyKind kind;
};

EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                                enum cudaStreamCaptureMode mode);
EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                               enum cudaStreamCaptureStatus *status);
EMULATOR_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned int flags);
EMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t graph);
EMULATOR_API cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph);
EMULATOR_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *after, size_t count,
                                                const struct cudaKernelNodeParams *parameters);
EMULATOR_API cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *after, size_t count,
                                              const struct cudaHostNodeParams *parameters);
EMULATOR_API cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *after, size_t count,
                                                const struct cudaMemsetParams *parameters);
EMULATOR_API cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *after, size_t count,
                                                const struct cudaMemcpy3DParms *parameters);
EMULATOR_API cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *after, size_t count,
                                                  void *destination, const void *source,
                                                  size_t bytes, enum cudaMemcpyKind kind);
EMULATOR_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *after, size_t count);
EMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                           size_t *count);
EMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *made, cudaGraph_t graph,
                                                       unsigned long long flags);
EMULATOR_API cudaError_t cudaGraphUpload(cudaGraphExec_t made, cudaStream_t stream);
EMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t made, cudaStream_t stream);
EMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t made);
EMULATOR_API cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t made, cudaGraphNode_t node, const struct cudaKernelNodeParams *parameters);

// ---- Graphs in graphs, and graphs that change ----------------------------------------------------

enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateError = 1,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
  cudaGraphExecUpdateErrorNodeTypeChanged = 3
};
typedef struct cudaGraphExecUpdateResultInfo {
  enum cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
} cudaGraphExecUpdateResultInfo;

// The child's nodes are copied.
EMULATOR_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *after, size_t count,
                                                    cudaGraph_t child);
typedef struct {
  unsigned char from_port, to_port, type, reserved[5];
} cudaGraphEdgeData;
EMULATOR_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                  const cudaGraphNode_t *to, size_t count);
EMULATOR_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t made, cudaGraph_t graph,
                                             cudaGraphExecUpdateResultInfo *info);

// ---- Memory of a graph: it has its place from the moment its node is added, until the graph goes --

enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType { cudaMemHandleTypeNone = 0 };
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
struct cudaMemAccessDesc {
  struct cudaMemLocation location;
  enum cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void *win32SecurityAttributes;
  size_t maxSize;
};
struct cudaMemAllocNodeParams {
  struct cudaMemPoolProps poolProps;
  const struct cudaMemAccessDesc *accessDescs;
  size_t accessDescCount;
  size_t bytesize;
  void *dptr; // the answer
};
EMULATOR_API cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool,
                                           const struct cudaMemPoolProps *wanted);
// Whose kernels may use a pool's memory. Here it changes nothing: cudaDeviceEnablePeerAccess decides.
EMULATOR_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool,
                                              const struct cudaMemAccessDesc *who, size_t count);

enum cudaGraphMemAttributeType {
  cudaGraphMemAttrUsedMemCurrent = 0,
  cudaGraphMemAttrUsedMemHigh = 1,
  cudaGraphMemAttrReservedMemCurrent = 2,
  cudaGraphMemAttrReservedMemHigh = 3
};
EMULATOR_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *after, size_t count,
                                                  struct cudaMemAllocNodeParams *parameters);
EMULATOR_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                 const cudaGraphNode_t *after, size_t count,
                                                 void *pointer);
// The value is a number of bytes, of type size_t, of all graphs' memory.
EMULATOR_API cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                        enum cudaGraphMemAttributeType attribute,
                                                        void *value);
EMULATOR_API cudaError_t cudaDeviceGraphMemTrim(int device);

#endif
