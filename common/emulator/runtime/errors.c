#include "errors.h"

#include "devices.h"
#include "emulator.h"
#include "observer.h"
#include "process.h"

#include <stdatomic.h>
#include <stdbool.h>

static _Thread_local cudaError_t last_error = cudaSuccess;
static _Atomic cudaError_t sticky_error[DEVICES_MAX]; // of each device; 0 is cudaSuccess

static bool failures_are_faults;

void emulator_take_failures_for_faults(void) { failures_are_faults = true; }

// Some errors answer a question of the program, and what has left the sticky one has a report of its own.
static bool is_failure(cudaError_t error) {
  return error != cudaErrorNotReady && error != cudaErrorGraphExecUpdateFailure &&
         error != cudaErrorPeerAccessAlreadyEnabled && error != errors_sticky();
}

void errors_note(cudaError_t error, const char *why) {
  if (error == cudaSuccess || devices_in_driver()) return;
  last_error = error;
  if (failures_are_faults && is_failure(error)) observer_call_failed(error, why);
}

cudaError_t emulator_record_error(cudaError_t error) { return errors_record(error); }

cudaError_t errors_sticky_of(int device) { return sticky_error[device]; }

cudaError_t errors_sticky(void) {
  return process_too_late() ? cudaErrorInitializationError : errors_sticky_of(devices_current());
}

void errors_set_sticky(int device, cudaError_t error) {
  cudaError_t none = cudaSuccess;
  atomic_compare_exchange_strong(&sticky_error[device], &none, error);
}

void errors_reset(void) {
  sticky_error[devices_current()] = cudaSuccess;
  last_error = cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void) {
  // Without errors_sticky(), since to ask for an error is not yet a use of CUDA.
  const cudaError_t sticky = errors_sticky_of(devices_current());
  return sticky != cudaSuccess ? sticky : last_error;
}

cudaError_t cudaGetLastError(void) {
  const cudaError_t error = cudaPeekAtLastError();
  last_error = cudaSuccess;
  return error;
}

// CUDA Runtime API reference, cudaGetErrorName and cudaGetErrorString.
#define EACH_ERROR(ERROR)                                                                          \
  ERROR(cudaSuccess, "no error")                                                                   \
  ERROR(cudaErrorInvalidValue, "invalid argument")                                                 \
  ERROR(cudaErrorMemoryAllocation, "out of memory")                                                \
  ERROR(cudaErrorInitializationError, "initialization error")                                      \
  ERROR(cudaErrorCudartUnloading, "driver shutting down")                                          \
  ERROR(cudaErrorInvalidConfiguration, "invalid configuration argument")                           \
  ERROR(cudaErrorInvalidPitchValue, "invalid pitch argument")                                      \
  ERROR(cudaErrorInvalidSymbol, "invalid device symbol")                                           \
  ERROR(cudaErrorInvalidHostPointer, "invalid host pointer")                                       \
  ERROR(cudaErrorInvalidDevicePointer, "invalid device pointer")                                   \
  ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy")                      \
  ERROR(cudaErrorInsufficientDriver,                                                               \
        "CUDA driver version is insufficient for CUDA runtime version")                            \
  ERROR(cudaErrorMissingConfiguration, "__global__ function call is not configured")               \
  ERROR(cudaErrorInvalidDeviceFunction, "invalid device function")                                 \
  ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected")                                   \
  ERROR(cudaErrorInvalidDevice, "invalid device ordinal")                                          \
  ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid")                             \
  ERROR(cudaErrorDeviceUninitialized, "invalid device context")                                    \
  ERROR(cudaErrorMapBufferObjectFailed, "mapping of buffer object failed")                         \
  ERROR(cudaErrorAlreadyMapped, "resource already mapped")                                         \
  ERROR(cudaErrorNoKernelImageForDevice,                                                           \
        "no kernel image is available for execution on the device")                                \
  ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered")                          \
  ERROR(cudaErrorUnsupportedLimit, "limit is not supported on this architecture")                  \
  ERROR(cudaErrorInvalidPtx, "a PTX JIT compilation failed")                                       \
  ERROR(cudaErrorUnsupportedPtxVersion,                                                            \
        "the provided PTX was compiled with an unsupported toolchain.")                            \
  ERROR(cudaErrorInvalidSource, "device kernel image is invalid")                                  \
  ERROR(cudaErrorFileNotFound, "file not found")                                                   \
  ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed")                    \
  ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS")          \
  ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle")                                 \
  ERROR(cudaErrorIllegalState, "the operation cannot be performed in the present state")           \
  ERROR(cudaErrorSymbolNotFound, "named symbol not found")                                         \
  ERROR(cudaErrorNotReady, "device not ready")                                                     \
  ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled")                       \
  ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled")                         \
  ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices")  \
  ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered")                       \
  ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch")                  \
  ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated")                         \
  ERROR(cudaErrorContextIsDestroyed, "context is destroyed")                                       \
  ERROR(cudaErrorAssert, "device-side assert triggered")                                           \
  ERROR(cudaErrorHostMemoryAlreadyRegistered,                                                      \
        "part or all of the requested memory range is already mapped")                             \
  ERROR(cudaErrorHostMemoryNotRegistered,                                                          \
        "pointer does not correspond to a registered memory region")                               \
  ERROR(cudaErrorHardwareStackError, "hardware stack error")                                       \
  ERROR(cudaErrorIllegalInstruction, "an illegal instruction was encountered")                     \
  ERROR(cudaErrorMisalignedAddress, "misaligned address")                                          \
  ERROR(cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space")    \
  ERROR(cudaErrorInvalidPc, "invalid program counter")                                             \
  ERROR(cudaErrorLaunchFailure, "unspecified launch failure")                                      \
  ERROR(cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch")               \
  ERROR(cudaErrorNotPermitted, "operation not permitted")                                          \
  ERROR(cudaErrorNotSupported, "operation not supported")                                          \
  ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing")     \
  ERROR(cudaErrorStreamCaptureInvalidated,                                                         \
        "operation failed due to a previous error during capture")                                 \
  ERROR(cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began")   \
  ERROR(cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work")                      \
  ERROR(cudaErrorStreamCaptureIsolation,                                                           \
        "dependency created on uncaptured work in another stream")                                 \
  ERROR(cudaErrorStreamCaptureImplicit,                                                            \
        "operation would make the legacy stream depend on a capturing blocking stream")            \
  ERROR(cudaErrorCapturedEvent,                                                                    \
        "operation not permitted on an event last recorded in a capturing stream")                 \
  ERROR(                                                                                           \
      cudaErrorGraphExecUpdateFailure,                                                             \
      "the graph update was not performed because it included changes which violated constraints " \
      "specific to instantiated graph update")                                                     \
  ERROR(cudaErrorInvalidClusterSize,                                                               \
        "a kernel launch error has occurred due to cluster misconfiguration")                      \
  ERROR(cudaErrorUnknown, "unknown error")

static const char unrecognized[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define NAME(code, text)                                                                           \
  case code: return #code;
    EACH_ERROR(NAME)
#undef NAME
  }
  return unrecognized;
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define TEXT(code, text)                                                                           \
  case code: return text;
    EACH_ERROR(TEXT)
#undef TEXT
  }
  return unrecognized;
}
