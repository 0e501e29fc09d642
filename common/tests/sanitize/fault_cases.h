// For the tests of the sanitizer: a kernel with a fault must be reported with the
// lines, the threads and the memory that take part, and with nothing else; its twin
// without the fault must give no report. Both run in several orders of threads.
#ifndef FAULT_CASES_H
#define FAULT_CASES_H

#include "emulator.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 5, SAYS_MAX = 8 };

typedef struct {
  const char *name;
  fault_run run;
  const char *says[SAYS_MAX]; // in this order, whatever the order of threads
  unsigned repeats;           // reports beyond the first
} fault_case;

// Returns the run's stderr; free it. Each run is a process of its own, since a fault is reported only once.
static inline char *report_of(const fault_case *fault, bool broken, uint64_t seed) {
  FILE *file = tmpfile();
  cr_assert_not_null(file);
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(file), STDERR_FILENO);
    emulator_set_seed(seed);
    fault->run(broken);
    fflush(stderr);
    _exit(emulator_findings() == (broken ? 1 + fault->repeats : 0) ? 0 : 1);
  }
  int status;
  cr_assert_eq(waitpid(child, &status, 0), child);
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  rewind(file);
  char *text = calloc((size_t)length + 1, 1);
  cr_assert_eq(fread(text, 1, (size_t)length, file), (size_t)length);
  fclose(file);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0,
            "%s, %s, seed %d: not %u findings, or the process died:\n%s", fault->name,
            broken ? "broken" : "right", (int)seed, broken ? 1 + fault->repeats : 0, text);
  return text;
}

static inline void expect_report(const fault_case *fault, uint64_t seed) {
  char *report = report_of(fault, true, seed);
  const char *rest = report;
  for (int i = 0; i < SAYS_MAX && fault->says[i] != NULL; i++) {
    const char *found = strstr(rest, fault->says[i]);
    cr_assert_not_null(found, "%s, seed %d: the report lacks \"%s\":\n%s", fault->name, (int)seed,
                       fault->says[i], report);
    rest = found + strlen(fault->says[i]);
  }
  free(report);
}

static inline void run_cases(const fault_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      expect_report(&cases[i], seed);
      char *report = report_of(&cases[i], false, seed);
      cr_assert_str_empty(report, "%s without its fault, seed %d:\n%s", cases[i].name, (int)seed,
                          report);
      free(report);
    }
  }
}

#define CASE(run, ...)                                                                             \
  { #run, run, {__VA_ARGS__ }, 0 }
#define RUN_CASES(cases) run_cases(cases, sizeof cases / sizeof cases[0])

#endif
