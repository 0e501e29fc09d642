// Reads the GPU's clock and power during a measurement, from the driver's library NVML.
#ifndef MONITOR_H
#define MONITOR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The values that were read at one moment. They are NaN, and held_back is false, without a GPU or where NVML
// gives no value.
typedef struct {
  double sm_clock_mhz;
  double power_w; // of this moment where the GPU tells that, else of the last second
  bool held_back; // NVML's reasons say that power, heat or the board lower the clock
} monitor_reading;

// Reads the values of CUDA's device 0. It takes less than a millisecond; the first call opens NVML.
monitor_reading monitor_read(void);

// Reads the values of CUDA's devices 0 to count - 1, of MONITOR_MOST_DEVICES at most. Where they work together, the slowest
// decides the time: the clock is the lowest, the power the highest, and held_back is true where one of them is held back.
enum { MONITOR_MOST_DEVICES = 64 };
monitor_reading monitor_read_devices(int count);

// Returns the reading of two GPUs that work together. A value that one of them does not give is that of the other.
monitor_reading monitor_together(monitor_reading a, monitor_reading b);

// Tells whether NVML's reasons for a clock below the highest, nvmlClocksEventReasons, contain one that slows
// the program down against its will. These are the power cap, slow-downs by hardware or heat, and the power
// brake.
bool monitor_reasons_hold_back(unsigned long long reasons);

#ifdef __cplusplus
}
#endif

#endif
