// Stand-in for NCCL's <nccl.h>: communicators whose ranks are emulated devices of one process (EMU_GPUS), with the names
// and values of NCCL 2 (NCCL API reference). C17 and C++17.
//
// As in NCCL a call only queues its work on the stream. A collective delivers as late as the streams allow, see
// runtime/queue.h. Calls that do not match are reported on stderr with ranks and lines, and end the communicator with
// an error; so does a wait for a call that never comes, after EMU_NCCL_LIMIT seconds at most.
#ifndef NCCL_H
#define NCCL_H

#include "cuda_runtime_api.h"

#define NCCL_MAJOR        2
#define NCCL_MINOR        19
#define NCCL_PATCH        0
#define NCCL_VERSION_CODE 21900

#define NCCL_UNIQUE_ID_BYTES 128

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ncclComm *ncclComm_t;

typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;

typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4 } ncclRedOp_t;

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9
} ncclDataType_t;

EMULATOR_API ncclResult_t ncclGetVersion(int *version);
EMULATOR_API const char *ncclGetErrorString(ncclResult_t result);
// The last sentence that the emulator has reported about a communicator; `comm` may be NULL.
EMULATOR_API const char *ncclGetLastError(ncclComm_t comm);

// Communicators. A rank is on the device that the host thread uses when it calls.
EMULATOR_API ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
EMULATOR_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int ranks, ncclUniqueId id, int rank);
EMULATOR_API ncclResult_t ncclCommInitAll(ncclComm_t *comms, int count, const int *devices);
EMULATOR_API ncclResult_t ncclCommFinalize(ncclComm_t comm);
EMULATOR_API ncclResult_t ncclCommDestroy(ncclComm_t comm);
EMULATOR_API ncclResult_t ncclCommAbort(ncclComm_t comm);
EMULATOR_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error);
EMULATOR_API ncclResult_t ncclCommCount(const ncclComm_t comm, int *count);
EMULATOR_API ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int *device);
EMULATOR_API ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank);

// Between these, calls are collected, and begin together.
EMULATOR_API ncclResult_t ncclGroupStart(void);
EMULATOR_API ncclResult_t ncclGroupEnd(void);

EMULATOR_API ncclResult_t ncclSend(const void *send, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, cudaStream_t stream);
EMULATOR_API ncclResult_t ncclRecv(void *receive, size_t count, ncclDataType_t type, int peer,
                                   ncclComm_t comm, cudaStream_t stream);
EMULATOR_API ncclResult_t ncclAllGather(const void *send, void *receive, size_t count,
                                        ncclDataType_t type, ncclComm_t comm, cudaStream_t stream);
EMULATOR_API ncclResult_t ncclAllReduce(const void *send, void *receive, size_t count,
                                        ncclDataType_t type, ncclRedOp_t reduction, ncclComm_t comm,
                                        cudaStream_t stream);
EMULATOR_API ncclResult_t ncclReduceScatter(const void *send, void *receive, size_t count,
                                            ncclDataType_t type, ncclRedOp_t reduction,
                                            ncclComm_t comm, cudaStream_t stream);
EMULATOR_API ncclResult_t ncclBroadcast(const void *send, void *receive, size_t count,
                                        ncclDataType_t type, int root, ncclComm_t comm,
                                        cudaStream_t stream);

#ifdef __cplusplus
}
#endif
#endif
