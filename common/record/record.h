// The conditions of a measurement: the machine, its state and the source. A recorded number means little
// without them.
#ifndef RECORD_H
#define RECORD_H

#include "csv/line.h"
#include "device/device.h"

// The state of the GPU at one moment, as nvidia-smi gives it. An empty text or NaN stands for a value that it
// does not give. On the emulator this is so for all values.
typedef struct {
  char driver[32]; // version, such as "580.159.04"
  double sm_clock_mhz;
  double memory_clock_mhz;
  double power_w;
  double power_limit_w;
  double temperature_c;
} record_state;

// The software that a number was measured with, and the time.
typedef struct {
  char cuda[16]; // version of the runtime, such as "13.0"
  // The commit when the program started: that of LAB_COMMIT in the environment, else that of git, else "unknown".
  char commit[128];
  char date[32]; // ISO 8601, UTC, such as "2026-11-20T14:26:19Z"
} record_origin;

// The conditions of one measurement: the state before it and after it, and the software.
typedef struct {
  record_state before, after;
  record_origin origin;
} record_conditions;

// Reads the state with nvidia-smi, which takes about a tenth of a second on a GPU.
record_state record_read_state(const device_info *device);

// Parses the line that nvidia-smi prints for the fields that record_read_state asks for.
record_state record_parse_state(const char *line);

// Reads the commit. A program that measures calls this first of all, because a commit that is made while it runs does
// not change what was compiled, and its steps are loaded at the beginning.
void record_begin(void);

// Returns the origin with the date of now, and the commit of record_begin.
record_origin record_read_origin(void);

// Adds the columns driver, cuda, sm_clock_before_mhz, sm_clock_after_mhz, memory_clock_mhz (after),
// power_before_w, power_after_w, power_limit_w (after), temperature_before_c, temperature_after_c,
// commit and date. They end every line of the lab's records; only the emulator's counts may come behind them.
void record_add_columns(csv_line *line, const record_conditions *conditions);

// Writes the device, the versions of CUDA and the origin as lines that begin with "# ", which CSV readers skip; of a
// GPU also the beginning of its UUID and its state. `when` says at which point of the run that was, such as "before".
void record_write(FILE *file, const device_info *device, const char *when,
                  const record_state *state);

#endif
