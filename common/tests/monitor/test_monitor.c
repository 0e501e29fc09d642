// Tests what the monitor makes of the answers of NVIDIA's management library, for which nvml.c stands.
#include "monitor/monitor.h"

#include "device/device.h"
#include "nvml.h"
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

// In place of that of the emulator, whose GPUs have no address.
bool device_bus_id(int device, char *text, size_t size) {
  return device < 2 && snprintf(text, size, "0000:0%d:00.0", device) > 0;
}

static void begin(void) {
  nvml_gpus[0] = (nvml_gpu){"0000:00:00.0", 1980, 500500, 0, 0, 0};
  nvml_gpus[1] = (nvml_gpu){"0000:01:00.0", 1755, 640000, 699250, 0x4, 0};
}

TestSuite(monitor, .init = begin);

// MHz of the multiprocessors, and watts: the mean of the last second where the GPU does not tell those of the moment.
Test(monitor, reads_clock_power_and_reasons) {
  const monitor_reading first = monitor_read();
  cr_expect_eq(first.sm_clock_mhz, 1980);
  cr_expect_float_eq(first.power_w, 500.5, 1e-9);
  cr_expect_not(first.held_back);
  nvml_gpus[0].reasons = 0x1; // idle
  nvml_gpus[0].instant_milliwatts = 612000;
  cr_expect_float_eq(monitor_read().power_w, 612, 1e-9);
  cr_expect_not(monitor_read().held_back);
  nvml_gpus[0].reasons = 0x20; // heat
  cr_expect(monitor_read().held_back);
}

// Each GPU is asked by its own address. The slowest clock and the largest power count.
Test(monitor, reads_several_gpus) {
  const monitor_reading one = monitor_read_devices(1), both = monitor_read_devices(2);
  cr_expect(one.sm_clock_mhz == 1980 && !one.held_back);
  cr_expect_eq(both.sm_clock_mhz, 1755);
  cr_expect_float_eq(both.power_w, 699.25, 1e-9);
  cr_expect(both.held_back);
}

// A value that a query does not tell is not known, and is no 0.
Test(monitor, knows_nothing_where_a_query_fails) {
  nvml_gpus[0].status = nvml_gpus[1].status = 999;
  nvml_gpus[1].instant_milliwatts = 0;
  const monitor_reading both = monitor_read_devices(2);
  cr_expect(isnan(both.sm_clock_mhz) && isnan(both.power_w) && !both.held_back);
}

Test(monitor, knows_nothing_of_a_gpu_that_is_not_there) {
  nvml_gpus[0].bus_id = "0000:0a:00.0";
  const monitor_reading reading = monitor_read();
  cr_expect(isnan(reading.sm_clock_mhz) && isnan(reading.power_w) && !reading.held_back);
}
