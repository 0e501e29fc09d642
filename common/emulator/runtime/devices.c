#include "devices.h"

#include "emulator.h"
#include "environment.h"
#include "errors.h"

#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int current;
static atomic_bool enabled[DEVICES_MAX][DEVICES_MAX]; // [device][owner of the memory]
static atomic_bool shared[DEVICES_MAX][DEVICES_MAX];  // the same, for the owner's pool
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int count;
static bool peers;

static void read_settings(void) {
  count = (int)environment_number("EMU_GPUS", 1, 1, DEVICES_MAX);
  peers = environment_number("EMU_PEER_ACCESS", 1, 0, 1) == 1;
}

int devices_count(void) {
  pthread_once(&once, read_settings);
  return count;
}

bool devices_several(void) { return devices_count() > 1; }

int devices_current(void) { return current; }

static _Thread_local int driver_depth;
static atomic_bool runtime_used;

void devices_enter_driver(void) { driver_depth++; }
void devices_leave_driver(void) { driver_depth--; }
bool devices_in_driver(void) { return driver_depth > 0; }
bool devices_runtime_used(void) { return runtime_used; }

void devices_use_runtime(void) {
  if (!devices_in_driver()) runtime_used = true;
}

bool devices_reach(int device, int owner) {
  return device == owner || enabled[device][owner] || shared[device][owner];
}

bool devices_share(int device, int owner, bool may) {
  if (!peers) return false;
  shared[device][owner] = may;
  return true;
}

void devices_forget_peers(int device) {
  for (int owner = 0; owner < DEVICES_MAX; owner++) enabled[device][owner] = false;
}

static bool exists(int device) { return device >= 0 && device < devices_count(); }

cudaError_t cudaGetDeviceCount(int *number) {
  RETURN_IF_STICKY();
  if (number == NULL) return errors_record(cudaErrorInvalidValue);
  *number = devices_count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device) {
  RETURN_IF_STICKY();
  if (device == NULL) return errors_record(cudaErrorInvalidValue);
  *device = current;
  return cudaSuccess;
}

// A host thread may leave a device whose kernel has faulted, and the faulted one may be selected again.
cudaError_t cudaSetDevice(int device) {
  if (!exists(device)) {
    RETURN_IF_STICKY();
    return errors_record(cudaErrorInvalidDevice);
  }
  current = device;
  devices_use_runtime();
  return errors_record(errors_sticky());
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  RETURN_IF_STICKY();
  if (can == NULL) return errors_record(cudaErrorInvalidValue);
  if (!exists(device) || !exists(peer)) return errors_record(cudaErrorInvalidDevice);
  *can = peers && device != peer;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  RETURN_IF_STICKY();
  if (flags != 0) return errors_record(cudaErrorInvalidValue);
  if (!exists(peer) || peer == current) return errors_record(cudaErrorInvalidDevice);
  if (!peers) return errors_record(cudaErrorPeerAccessUnsupported);
  if (atomic_exchange(&enabled[current][peer], true))
    return errors_record(cudaErrorPeerAccessAlreadyEnabled);
  return cudaSuccess;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  RETURN_IF_STICKY();
  if (!exists(peer)) return errors_record(cudaErrorInvalidDevice);
  if (!atomic_exchange(&enabled[current][peer], false))
    return errors_record(cudaErrorPeerAccessNotEnabled);
  return cudaSuccess;
}
