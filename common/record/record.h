// What a recorded number needs beside it to be worth anything: the machine, its state, the source.
#ifndef RECORD_H
#define RECORD_H

#include "device/device.h"

// Writes lines that begin with "# ", as CSV readers skip them: GPU, driver, CUDA versions, clocks,
// power, temperature and power limit as nvidia-smi gives them, git commit and date. `when` says at
// which point of the run, such as "before". The commit is that of the environment variable
// LAB_COMMIT, else what git says of the current folder, else "unknown".
void record_write(FILE *file, const device_info *device, const char *when);

#endif
