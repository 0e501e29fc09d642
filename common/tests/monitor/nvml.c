#include "nvml.h"

#include <string.h>

// NVIDIA Management Library API Reference, "Device Enums" and "Field Value Enums".
enum { SUCCESS, NOT_SUPPORTED = 3, NOT_FOUND = 6, CLOCK_SM = 1, POWER_INSTANT = 186 };

// nvmlFieldValue_t
typedef struct {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  union {
    double of_double;
    unsigned of_unsigned;
  } value;
} field_value;

nvml_gpu nvml_gpus[2];

int nvmlInit_v2(void);
int nvmlInit_v2(void) { return SUCCESS; }

int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvml_gpu **gpu);
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvml_gpu **gpu) {
  for (int i = 0; i < 2; i++) {
    *gpu = &nvml_gpus[i];
    if (nvml_gpus[i].bus_id && strcmp(nvml_gpus[i].bus_id, id) == 0) return SUCCESS;
  }
  return NOT_FOUND;
}

int nvmlDeviceGetClockInfo(const nvml_gpu *gpu, int type, unsigned *mhz);
int nvmlDeviceGetClockInfo(const nvml_gpu *gpu, int type, unsigned *mhz) {
  *mhz = type == CLOCK_SM ? gpu->sm_clock_mhz : 1; // those of graphics and memory are others
  return gpu->status;
}

int nvmlDeviceGetPowerUsage(const nvml_gpu *gpu, unsigned *milliwatts);
int nvmlDeviceGetPowerUsage(const nvml_gpu *gpu, unsigned *milliwatts) {
  *milliwatts = gpu->milliwatts;
  return gpu->status;
}

int nvmlDeviceGetFieldValues(const nvml_gpu *gpu, int count, field_value *values);
int nvmlDeviceGetFieldValues(const nvml_gpu *gpu, int count, field_value *values) {
  for (int i = 0; i < count; i++) {
    const int known = values[i].field == POWER_INSTANT && gpu->instant_milliwatts > 0;
    values[i].status = known ? SUCCESS : NOT_SUPPORTED;
    values[i].value.of_unsigned = gpu->instant_milliwatts;
  }
  return gpu->status;
}

// The name that drivers before 535 have for the reasons.
int nvmlDeviceGetCurrentClocksThrottleReasons(const nvml_gpu *gpu, unsigned long long *reasons);
int nvmlDeviceGetCurrentClocksThrottleReasons(const nvml_gpu *gpu, unsigned long long *reasons) {
  *reasons = gpu->reasons;
  return gpu->status;
}
