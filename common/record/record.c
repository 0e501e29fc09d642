#define _GNU_SOURCE
#include "record/record.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Returns the first line that a command prints, or "unknown" when it fails.
static void first_line(const char *command, char *line, size_t size) {
  FILE *output = popen(command, "r");
  const bool read = output && fgets(line, (int)size, output);
  const bool good = output && pclose(output) == 0 && read;
  if (!good) snprintf(line, size, "unknown");
  line[strcspn(line, "\n")] = '\0';
}

// --- the GPU's state

static const char fields[] = "driver_version,clocks.sm,clocks.mem,power.draw,power.limit,"
                             "temperature.gpu";

// Returns the next of the fields, which are separated by commas, without the blanks around it; ""
// after the last.
static const char *next_field(char **rest) {
  char *field = *rest ? strsep(rest, ",") : "";
  while (isspace((unsigned char)*field)) field++;
  for (size_t length = strlen(field); length > 0 && isspace((unsigned char)field[length - 1]);) {
    field[--length] = '\0';
  }
  return field;
}

// Reads a field such as "1980 MHz"; a field such as "[N/A]" gives NaN.
static double next_number(char **rest) {
  const char *field = next_field(rest);
  char *end = NULL;
  const double value = strtod(field, &end);
  return end == field ? NAN : value;
}

record_state record_parse_state(const char *line) {
  char text[256];
  snprintf(text, sizeof text, "%s", line);
  char *rest = text;
  record_state state = {0};
  const char *driver = next_field(&rest);
  if (isdigit((unsigned char)*driver)) snprintf(state.driver, sizeof state.driver, "%.31s", driver);
  state.sm_clock_mhz = next_number(&rest);
  state.memory_clock_mhz = next_number(&rest);
  state.power_w = next_number(&rest);
  state.power_limit_w = next_number(&rest);
  state.temperature_c = next_number(&rest);
  return state;
}

// Asks nvidia-smi for fields of CUDA's device 0. Leaves the line as it is on the emulator.
static void query_gpu(const device_info *device, const char *asked, char *line, size_t size) {
  char command[256];
  char bus_id[32]; // nvidia-smi's own numbers do not follow CUDA_VISIBLE_DEVICES
  if (device->emulated || !device_bus_id(0, bus_id, sizeof bus_id)) return;
  snprintf(command, sizeof command, "nvidia-smi -i %s --query-gpu=%s --format=csv,noheader 2>&1",
           bus_id, asked);
  first_line(command, line, size);
}

record_state record_read_state(const device_info *device) {
  char line[256] = "";
  query_gpu(device, fields, line, sizeof line);
  return record_parse_state(line);
}

static void write_state(FILE *file, const char *when, const record_state *state) {
  fprintf(file, "# %s: %s = %s, %.0f MHz, %.0f MHz, %.2f W, %.2f W, %.0f\n", when, fields,
          state->driver[0] ? state->driver : "unknown", state->sm_clock_mhz,
          state->memory_clock_mhz, state->power_w, state->power_limit_w, state->temperature_c);
}

// --- where it comes from

static char commit_at_start[128];

void record_begin(void) {
  const char *given = getenv("LAB_COMMIT");
  if (given && given[0]) {
    snprintf(commit_at_start, sizeof commit_at_start, "%s", given);
  } else {
    first_line("git describe --always --dirty 2>/dev/null", commit_at_start,
               sizeof commit_at_start);
  }
}

record_origin record_read_origin(void) {
  record_origin origin;
  int runtime = 0;
  cudaRuntimeGetVersion(&runtime);
  snprintf(origin.cuda, sizeof origin.cuda, "%d.%d", runtime / 1000, runtime % 1000 / 10);
  if (!commit_at_start[0]) record_begin();
  snprintf(origin.commit, sizeof origin.commit, "%s", commit_at_start);
  const time_t now = time(NULL);
  strftime(origin.date, sizeof origin.date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  return origin;
}

void record_add_columns(csv_line *line, const record_conditions *conditions) {
  const record_state *before = &conditions->before;
  const record_state *after = &conditions->after;
  csv_line_text(line, "driver", after->driver);
  csv_line_text(line, "cuda", conditions->origin.cuda);
  csv_line_value(line, "sm_clock_before_mhz", 6, before->sm_clock_mhz);
  csv_line_value(line, "sm_clock_after_mhz", 6, after->sm_clock_mhz);
  csv_line_value(line, "memory_clock_mhz", 6, after->memory_clock_mhz);
  csv_line_value(line, "power_before_w", 6, before->power_w);
  csv_line_value(line, "power_after_w", 6, after->power_w);
  csv_line_value(line, "power_limit_w", 6, after->power_limit_w);
  csv_line_value(line, "temperature_before_c", 6, before->temperature_c);
  csv_line_value(line, "temperature_after_c", 6, after->temperature_c);
  csv_line_text(line, "commit", conditions->origin.commit);
  csv_line_text(line, "date", conditions->origin.date);
}

void record_write(FILE *file, const device_info *device, const char *when,
                  const record_state *state) {
  const record_origin origin = record_read_origin();
  int driver = 0;
  cudaDriverGetVersion(&driver);
  fprintf(file, "# %s: device = %s, compute capability %d.%d, %d multiprocessors", when,
          device->name, device->compute_capability / 10, device->compute_capability % 10,
          device->multiprocessors);
  fprintf(file, ", CUDA runtime %s, driver API %d.%d\n", origin.cuda, driver / 1000,
          driver % 1000 / 10);
  char uuid[64] =
      "unknown"; // its beginning tells two GPUs of one kind apart, which differ by some percent
  query_gpu(device, "uuid", uuid, sizeof uuid);
  if (!device->emulated) fprintf(file, "# %s: gpu = %.12s\n", when, uuid);
  if (!device->emulated) write_state(file, when, state);
  fprintf(file, "# %s: commit = %s, date = %s\n", when, origin.commit, origin.date);
}
