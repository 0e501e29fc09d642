#define _GNU_SOURCE
#include "record/record.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

// The first line that a command prints, or "unknown" when it fails.
static void first_line(const char *command, char *line, size_t size) {
  FILE *output = popen(command, "r");
  const bool read = output && fgets(line, (int)size, output);
  const bool good = output && pclose(output) == 0 && read;
  if (!good) snprintf(line, size, "unknown");
  line[strcspn(line, "\n")] = '\0';
}

static void write_gpu_state(FILE *file, const char *when) {
  static const char fields[] = "driver_version,clocks.sm,clocks.mem,power.draw,power.limit,"
                               "temperature.gpu";
  char command[256];
  char state[256];
  snprintf(command, sizeof command, "nvidia-smi -i 0 --query-gpu=%s --format=csv,noheader 2>&1",
           fields);
  first_line(command, state, sizeof state);
  fprintf(file, "# %s: %s = %s\n", when, fields, state);
}

void record_write(FILE *file, const device_info *device, const char *when) {
  int driver = 0;
  int runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  fprintf(file, "# %s: device = %s, compute capability %d.%d, %d multiprocessors", when,
          device->name, device->compute_capability / 10, device->compute_capability % 10,
          device->multiprocessors);
  fprintf(file, ", CUDA runtime %d.%d, driver API %d.%d\n", runtime / 1000, runtime % 1000 / 10,
          driver / 1000, driver % 1000 / 10);
  if (!device->emulated) write_gpu_state(file, when);

  char commit[128];
  const char *given = getenv("LAB_COMMIT");
  if (given && given[0]) {
    snprintf(commit, sizeof commit, "%s", given);
  } else {
    first_line("git describe --always --dirty 2>/dev/null", commit, sizeof commit);
  }
  char date[32];
  const time_t now = time(NULL);
  strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  fprintf(file, "# %s: commit = %s, date = %s\n", when, commit, date);
}
