// A context is a device and a word that it lives. What belongs to a context on a GPU, its memory and modules, belongs to
// the device here, and stays when the context is destroyed.
#include "context.h"

#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct CUctx_st {
  int device;
  atomic_bool destroyed; // threads may still have it on their stacks, so that it is never freed
};

enum { STACK_MAX = 64 };
static _Thread_local struct {
  CUcontext at[STACK_MAX];
  size_t count;
} stack;

static atomic_bool initialised;
static struct CUctx_st primary[DEVICES_MAX];

CUresult cuInit(unsigned int flags) {
  if (process_too_late()) return CUDA_ERROR_NOT_INITIALIZED;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  initialised = true;
  return CUDA_SUCCESS;
}

CUresult context_driver_ready(void) {
  return initialised || devices_runtime_used() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

static CUcontext current(void) { return stack.count > 0 ? stack.at[stack.count - 1] : NULL; }

CUresult context_ready(void) {
  const CUresult ready = context_driver_ready();
  if (ready != CUDA_SUCCESS) return ready;
  if (current() == NULL) return devices_runtime_used() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
  return current()->destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

static bool exists(CUdevice device) { return device >= 0 && device < devices_count(); }

// The thread's device follows its context.
static CUresult follow(void) {
  return current() != NULL ? CALL_RUNTIME(cudaSetDevice(current()->device)) : CUDA_SUCCESS;
}

static CUresult push(CUcontext context) {
  if (stack.count == STACK_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
  stack.at[stack.count++] = context;
  return follow();
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *params, unsigned int flags,
                     CUdevice device) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  const bool with_params =
      params != NULL && (params->execAffinityParams != NULL || params->numExecAffinityParams != 0 ||
                         params->cigParams != NULL);
  if (context == NULL || flags > 0x1F) return CUDA_ERROR_INVALID_VALUE;
  if (with_params) return CUDA_ERROR_NOT_SUPPORTED;
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = calloc(1, sizeof **context);
  if (*context == NULL) return CUDA_ERROR_OUT_OF_MEMORY;
  (*context)->device = device;
  return push(*context);
}

static bool is_primary(const struct CUctx_st *context) {
  return context >= primary && context < primary + DEVICES_MAX;
}

static void pop(void) {
  stack.count--;
  follow();
}

CUresult cuCtxDestroy(CUcontext context) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (context == NULL || is_primary(context)) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  const CUresult result = CALL_RUNTIME(cudaDeviceSynchronize());
  context->destroyed = true;
  if (current() == context) pop();
  return result;
}

CUresult cuCtxPushCurrent(CUcontext context) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (context == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  return context->destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : push(context);
}

CUresult cuCtxPopCurrent(CUcontext *context) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (current() == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != NULL) *context = current();
  pop();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (context != NULL && context->destroyed) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (stack.count > 0) pop();
  return context != NULL ? push(context) : CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
  *context = current();
  if (*context == NULL && devices_runtime_used()) {
    *context = &primary[devices_current()];
    (*context)->device = devices_current();
  }
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) { return IN_CONTEXT(cudaGetDevice(device)); }

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
  (void)context;
  if (version == NULL) return CUDA_ERROR_INVALID_VALUE;
  *version = 3020; // the API of contexts has this version since CUDA 3.2
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) { return IN_CONTEXT(cudaDeviceSynchronize()); }

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
  if (peer == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  return IN_CONTEXT(cudaDeviceEnablePeerAccess(peer->device, flags));
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  if (peer == NULL) return CUDA_ERROR_INVALID_CONTEXT;
  return IN_CONTEXT(cudaDeviceDisablePeerAccess(peer->device));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (context_driver_ready() != CUDA_SUCCESS) return context_driver_ready();
  if (context == NULL) return CUDA_ERROR_INVALID_VALUE;
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  primary[device].device = device;
  *context = &primary[device];
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return exists(device) ? context_driver_ready() : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  if (!exists(device)) return CUDA_ERROR_INVALID_DEVICE;
  const int before = devices_current();
  CALL_RUNTIME(cudaSetDevice(device));
  const CUresult result = CALL_RUNTIME(cudaDeviceReset());
  CALL_RUNTIME(cudaSetDevice(before));
  return result;
}
