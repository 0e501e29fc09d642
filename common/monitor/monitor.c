// NVML comes with the driver, not with the toolkit. It is opened at run time when it is there, and the parts
// of its header that are used are written here. NVIDIA Management Library API Reference, "Device Queries" and
// "Field Value Enums".
#include "monitor/monitor.h"

#include "device/device.h"
#include <dlfcn.h>
#include <math.h>
#include <stddef.h>

typedef struct nvmlDevice *nvml_device;
enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_FI_DEV_POWER_INSTANT = 186 };

// nvmlFieldValue_t
typedef struct {
  unsigned field, scope;
  long long timestamp, latency;
  unsigned type;
  int status;
  union {
    double of_double;
    unsigned of_unsigned;
    unsigned long long of_long;
  } value;
} nvml_field;

typedef struct {
  bool tried; // whether `device` can be asked
  bool open;
  nvml_device device;
  int (*clock)(nvml_device device, int type, unsigned *mhz);
  int (*power)(nvml_device device, unsigned *milliwatts);
  int (*fields)(nvml_device device, int count, nvml_field *fields);
  int (*reasons)(nvml_device device, unsigned long long *reasons);
} nvml;

// Stores the address of the function of that name in a function pointer of any type.
static void find(void *library, const char *name, void *function) {
  *(void **)function = dlsym(library, name);
}

static nvml open_nvml(int device) {
  nvml nvml = {.tried = true};
  int (*start)(void) = NULL;
  int (*by_bus_id)(const char *id, nvml_device *device) = NULL;
  char bus_id[32];
  void *library =
      device_bus_id(device, bus_id, sizeof bus_id) ? dlopen("libnvidia-ml.so.1", RTLD_NOW) : NULL;
  if (!library) return nvml;
  find(library, "nvmlInit_v2", &start);
  find(library, "nvmlDeviceGetHandleByPciBusId_v2", &by_bus_id);
  find(library, "nvmlDeviceGetClockInfo", &nvml.clock);
  find(library, "nvmlDeviceGetPowerUsage", &nvml.power);
  find(library, "nvmlDeviceGetFieldValues", &nvml.fields);
  find(library, "nvmlDeviceGetCurrentClocksEventReasons", &nvml.reasons);
  if (!nvml.reasons) find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", &nvml.reasons);
  nvml.open = start && by_bus_id && start() == NVML_SUCCESS &&
              by_bus_id(bus_id, &nvml.device) == NVML_SUCCESS;
  return nvml;
}

static double read_power(const nvml *nvml) {
  nvml_field field = {.field = NVML_FI_DEV_POWER_INSTANT};
  if (nvml->fields && nvml->fields(nvml->device, 1, &field) == NVML_SUCCESS &&
      field.status == NVML_SUCCESS && field.value.of_unsigned > 0) {
    return field.value.of_unsigned * 1e-3;
  }
  unsigned milliwatts = 0;
  return nvml->power && nvml->power(nvml->device, &milliwatts) == NVML_SUCCESS ? milliwatts * 1e-3
                                                                               : NAN;
}

bool monitor_reasons_hold_back(unsigned long long reasons) {
  enum { POWER_CAP = 0x4, HARDWARE = 0x8, HEAT = 0x20, HARDWARE_HEAT = 0x40, POWER_BRAKE = 0x80 };
  return (reasons & (POWER_CAP | HARDWARE | HEAT | HARDWARE_HEAT | POWER_BRAKE)) != 0;
}

static monitor_reading read_device(int device) {
  static nvml devices[MONITOR_MOST_DEVICES];
  nvml *nvml = &devices[device];
  monitor_reading reading = {NAN, NAN, false};
  unsigned mhz = 0;
  unsigned long long reasons = 0;
  if (!nvml->tried) *nvml = open_nvml(device);
  if (!nvml->open) return reading;
  if (nvml->clock && nvml->clock(nvml->device, NVML_CLOCK_SM, &mhz) == NVML_SUCCESS) {
    reading.sm_clock_mhz = mhz;
  }
  if (nvml->reasons && nvml->reasons(nvml->device, &reasons) == NVML_SUCCESS) {
    reading.held_back = monitor_reasons_hold_back(reasons);
  }
  reading.power_w = read_power(nvml);
  return reading;
}

monitor_reading monitor_read(void) { return read_device(0); }

// fmin and fmax return the other number where one is NaN.
monitor_reading monitor_together(monitor_reading a, monitor_reading b) {
  return (monitor_reading){.sm_clock_mhz = fmin(a.sm_clock_mhz, b.sm_clock_mhz),
                           .power_w = fmax(a.power_w, b.power_w),
                           .held_back = a.held_back || b.held_back};
}

monitor_reading monitor_read_devices(int count) {
  monitor_reading all = {NAN, NAN, false};
  for (int i = 0; i < count && i < MONITOR_MOST_DEVICES; i++)
    all = monitor_together(all, read_device(i));
  return all;
}
