// Small recordings for the tests of the whole program, and what they expect of it.
#ifndef RECORDINGS_H
#define RECORDINGS_H

#include "tests/driver/program.h"
#include <sys/stat.h>

#define HEADER                                                                                     \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,check,o_"     \
  "error,o_bound,lse_error,workspace_bytes,samples,median_ms,ci_low_ms,ci_high_ms,p5_ms,p95_ms,"   \
  "tflops,rounds,throttled,run_clock_mhz,driver,cuda,memory_clock_mhz,power_before_w,"             \
  "power_after_w,power_limit_w,temperature_before_c,temperature_after_c,commit,date\n"
#define SAMPLES_HEADER                                                                             \
  "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,commit,date," \
  "round,microseconds\n"

typedef struct {
  FILE *rows, *samples;
  const char *device, *driver, *commit, *limit;
  int sm_clock, throttled;
} writer;

static inline writer begin(const char *name) {
  char path[64];
  writer writer = {.device = "NVIDIA H200",
                   .driver = "580.1",
                   .commit = "abc",
                   .limit = "700",
                   .sm_clock = 1980};
  snprintf(path, sizeof path, "%s.csv", name);
  writer.rows = fopen(path, "w");
  snprintf(path, sizeof path, "%s-samples.csv", name);
  writer.samples = fopen(path, "w");
  cr_assert(writer.rows && writer.samples);
  fputs("# a comment\n" HEADER, writer.rows);
  fputs(SAMPLES_HEADER, writer.samples);
  return writer;
}

static inline void end(const writer *writer) {
  fclose(writer->rows);
  fclose(writer->samples);
}

// A row of `count` rounds of two launches: their median is `microseconds`, and a thousandth more each time.
// 0 rounds: skipped. `key` is what stands in front of `check`, and the second that of the samples.
static inline void add_keys(const writer *writer, const char *key, const char *samples_key,
                            size_t count, double microseconds) {
  fputs(key, writer->rows);
  if (count == 0) {
    fputs(",skipped,,,,,,,,,,,,,,", writer->rows);
  } else {
    fprintf(writer->rows, ",ok,1e-4,1e-3,1e-6,0,%zu,1,1,1,1,1,1,%zu,%d,%d", 2 * count, count,
            writer->throttled, writer->sm_clock);
    for (size_t i = 0; i < count; i++) {
      const double median = microseconds * (1 + (double)i / 1000);
      fprintf(writer->samples, "%s,%s,2026-11-20T14:38:37Z,%zu,%.3f %.3f\n", samples_key,
              writer->commit, i, median - 1, median + 1);
    }
  }
  fprintf(writer->rows, ",%s,13.0,3201,120,300,%s,40,50,%s,2026-11-20T14:38:37Z\n", writer->driver,
          writer->limit, writer->commit);
}

static inline void add_key(const writer *writer, const char *key, size_t count,
                           double microseconds) {
  add_keys(writer, key, key, count, microseconds);
}

static inline void add(const writer *writer, const char *step, int seq, size_t count,
                       double microseconds) {
  char key[160];
  snprintf(key, sizeof key, "%s,,%s,fp16,1,32,32,%d,%d,64,1", step, writer->device, seq, seq);
  add_key(writer, key, count, microseconds);
}

// A recording of two steps and two shapes, of which one row may be slower.
static inline void record(const char *name, double factor) {
  const writer writer = begin(name);
  add(&writer, "05_wmma", 512, 20, 100);
  add(&writer, "05_wmma", 1024, 20, 400);
  add(&writer, "06_cp_async", 512, 20, 70);
  add(&writer, "06_cp_async", 1024, 20, 300 * factor);
  end(&writer);
}

static inline void expect_words(const program_result *result, int status,
                                const char *const words[]) {
  cr_expect_eq(result->status, status, "it ended with %d: %s%s", result->status, result->out,
               result->err);
  for (size_t i = 0; words[i]; i++) {
    cr_expect(strstr(result->out, words[i]), "\"%s\" is missing:\n%s", words[i], result->out);
  }
}
#define EXPECT(result, status, ...)                                                                \
  expect_words(&(result), status, (const char *const[]){__VA_ARGS__, NULL})

static inline void expect_warning(const program_result *result, const char *warning) {
  cr_expect(strstr(result->err, warning), "\"%s\" is missing:\n%s", warning, result->err);
}

// Both have one date: they were timed together and are compared round by round. `b` has another date.
static inline void record_apart(const char *name, double factor) {
  record(name, factor);
  char command[256];
  snprintf(command, sizeof command, "sed -i s/T14:38:37Z/T15:00:00Z/ %s.csv %s-samples.csv", name,
           name);
  cr_assert_eq(system(command), 0);
}

#endif
