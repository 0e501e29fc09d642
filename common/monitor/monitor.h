// The GPU's clock and power while something is measured, as the driver's library NVML tells them.
#ifndef MONITOR_H
#define MONITOR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// What was read at one moment; NaN, and no reason, where there is no GPU or NVML does not tell.
typedef struct {
  double sm_clock_mhz;
  double power_w; // of this moment where the GPU tells that, else of the last second
  bool held_back; // NVML's reasons say that power, heat or the board lower the clock
} monitor_reading;

// Of device 0 of CUDA. Takes less than a millisecond; the first call opens NVML.
monitor_reading monitor_read(void);

// NVML's reasons for a clock below the highest, nvmlClocksEventReasons, of which these lower it against the
// program's will: the power cap, slow-downs by hardware or heat, and the power brake.
bool monitor_reasons_hold_back(unsigned long long reasons);

#ifdef __cplusplus
}
#endif

#endif
