// The emulated devices: how many there are, which one a host thread uses, and who may access whose memory.
#ifndef DEVICES_H
#define DEVICES_H

#include <stdbool.h>

enum { DEVICES_MAX = 8 };

// The value of the environment variable EMU_GPUS; 1 when it is not set.
int devices_count(void);

// Whether there are several. Then operations on streams are queued (queue.h); on one device each has finished when
// the host's call returns.
bool devices_several(void);

// The device of the calling host thread, which cudaSetDevice chooses; 0 at first.
int devices_current(void);

// The runtime API makes a context by itself, and the driver API works in it too: devices_use_runtime notes that the
// program has called a function that does so, and devices_runtime_used tells it. Between devices_enter_driver and
// devices_leave_driver the thread is in a function of the driver API, which calls functions of the runtime; they make
// no context, and set no last error.
void devices_use_runtime(void);
bool devices_runtime_used(void);
void devices_enter_driver(void);
void devices_leave_driver(void);
bool devices_in_driver(void);

// The number of the PCI bus on which the device is alone; its domain and its number there are 0.
static inline int devices_bus(int device) { return device + 1; }

// Whether kernels of `device` may access memory of `owner`.
bool devices_reach(int device, int owner);

// Whether kernels of `device` may, without more ado, access memory of `owner`, as a pool's attribute says
// (cudaMemPoolSetAccess). Here that holds for all memory of the owner. False when the GPUs cannot.
bool devices_share(int device, int owner, bool may);

// cudaDeviceReset: the device forgets its peers.
void devices_forget_peers(int device);

#endif
