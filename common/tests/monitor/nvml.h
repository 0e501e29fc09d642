// Stands in for NVIDIA's management library in the test of the monitor: two GPUs, which say what the test sets.
#ifndef NVML_H
#define NVML_H

typedef struct {
  const char *bus_id;
  unsigned sm_clock_mhz, milliwatts;
  unsigned instant_milliwatts; // 0: this GPU has no such field
  unsigned long long reasons;
  int status; // of each query; 0 is success
} nvml_gpu;

extern nvml_gpu nvml_gpus[2];

#endif
