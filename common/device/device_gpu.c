// A GPU neither counts for us nor lets us choose its schedule.
#include "device/device.h"

device_counts device_counts_read(void) { return (device_counts){0}; }

void device_counts_reset(void) {}

uint64_t device_findings(void) { return 0; }

bool device_visit_kernels(const void *function,
                          void (*visit)(const char *name, bool launched, void *context),
                          void *context) {
  (void)function, (void)visit, (void)context;
  return false;
}

bool device_set_schedule(uint64_t seed) {
  (void)seed;
  return false;
}
