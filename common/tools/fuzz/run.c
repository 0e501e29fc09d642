#define _GNU_SOURCE // MAP_ANONYMOUS, strsignal
#include "fuzz/run.h"

#include "device/device.h"
#include "trial/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HANG_SECONDS = 60, POLL_MILLISECONDS = 2 };

// Memory in which the child writes its progress, which stays when the child dies.
typedef struct {
  atomic_size_t done, refused;
  atomic_bool ended; // by itself, not because a step's code ended the process
  fuzz_problem problem;
  error_text message;
} shared_report;

// The problems that the child runs: the one given, or else `count` problems of a seed, from number `first` on.
typedef struct {
  const fuzz_problem *given;
  uint64_t seed, first;
  size_t count;
  double seconds;
  bool quiet;
} assignment;

double run_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static run_verdict try_problem(const attention_step *linked, const fuzz_problem *problem,
                               error_text *message) {
  attention_step step = *linked;
  trial trial;
  check_result result;
  device_set_schedule(problem->schedule);
  if (!step_configure(&step, problem->configuration, message)) return RUN_UNABLE;
  const char *reason = step.unsupported(&problem->shape);
  if (reason) {
    fail(message, "%s", reason);
    return RUN_REFUSED;
  }
  if (!trial_create(&trial, &problem->shape, message)) return RUN_UNABLE;
  trial.o_alone = problem->o_alone;
  inputs_fill(&trial.shape, problem->inputs, INPUTS_Q, problem->seed, trial.q);
  inputs_fill(&trial.shape, problem->inputs, INPUTS_K, problem->seed, trial.k);
  inputs_fill(&trial.shape, problem->inputs, INPUTS_V, problem->seed, trial.v);
  run_verdict verdict = RUN_PASSED;
  if (!trial_upload(&trial, message) || !trial_reference(&trial, message)) {
    verdict = RUN_UNABLE;
  } else if (!trial_run(&trial, &step, NULL, message)) {
    verdict = RUN_FAILED;
  } else if (!trial_check(&trial, &result)) {
    *message = result.message;
    verdict = RUN_FAILED;
  }
  trial_free(&trial);
  return verdict;
}

// Ends the child.
static void run_child(const attention_step *step, const assignment *task, shared_report *report) {
  const double started = run_seconds();
  device_info device;
  if (task->quiet) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) dup2(nowhere, STDERR_FILENO);
  }
  setenv("LAB_LIMIT", "20", 0); // so that what is endless is named, before HANG_SECONDS are over
  run_verdict verdict = device_open(&device, &report->message) ? RUN_PASSED : RUN_UNABLE;
  for (size_t i = 0;
       verdict == RUN_PASSED && i < task->count && run_seconds() - started < task->seconds; i++) {
    report->problem =
        task->given ? *task->given : problem_random(step, task->seed, task->first + i);
    verdict = try_problem(step, &report->problem, &report->message);
    if (verdict == RUN_REFUSED) {
      atomic_fetch_add(&report->refused, 1);
      verdict = RUN_PASSED;
    }
    if (verdict == RUN_PASSED) atomic_fetch_add(&report->done, 1);
  }
  atomic_store(&report->ended, true);
  _exit((int)verdict);
}

// Waits until the child ends, or kills it when one problem takes too long. Returns false after
// that.
static bool wait_for(pid_t child, const shared_report *report, int *status) {
  double moved = run_seconds();
  size_t done = 0;
  while (waitpid(child, status, WNOHANG) != child) {
    const size_t now_done = atomic_load(&report->done);
    if (now_done != done) moved = run_seconds();
    done = now_done;
    if (run_seconds() - moved > HANG_SECONDS) {
      kill(child, SIGKILL);
      waitpid(child, status, 0);
      return false;
    }
    nanosleep(&(struct timespec){.tv_nsec = POLL_MILLISECONDS * 1000000L}, NULL);
  }
  return true;
}

static run_outcome run(const attention_step *step, const assignment *task) {
  run_outcome outcome = {.verdict = RUN_UNABLE};
  shared_report *report =
      mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (report == MAP_FAILED) {
    fail(&outcome.message, "cannot share memory with a child: %s", strerror(errno));
    return outcome;
  }
  fflush(NULL); // or the child would print it again
  const pid_t child = fork();
  if (child == 0) run_child(step, task, report);
  int status = 0;
  if (child < 0) {
    fail(&report->message, "cannot start a process: %s", strerror(errno));
  } else if (!wait_for(child, report, &status)) {
    outcome.verdict = RUN_FAILED;
    fail(&report->message, "it hangs: no end after %d s", HANG_SECONDS);
  } else if (WIFSIGNALED(status)) {
    outcome.verdict = RUN_FAILED;
    fail(&report->message, "it crashes: %s", strsignal(WTERMSIG(status)));
  } else if (atomic_load(&report->ended)) {
    outcome.verdict = (run_verdict)WEXITSTATUS(status);
  } else { // the step's code, or a sanitizer of the compiler, has ended the process
    outcome.verdict = RUN_FAILED;
    fail(&report->message, "it ends the process, with exit status %d", WEXITSTATUS(status));
  }
  outcome.done = atomic_load(&report->done);
  outcome.refused = atomic_load(&report->refused);
  outcome.problem = report->problem;
  outcome.message = report->message;
  munmap(report, sizeof *report);
  return outcome;
}

run_outcome run_random(const attention_step *step, uint64_t seed, uint64_t first, size_t count,
                       double seconds, bool quiet) {
  const assignment task = {
      .seed = seed, .first = first, .count = count, .seconds = seconds, .quiet = quiet};
  return run(step, &task);
}

run_outcome run_problem(const attention_step *step, const fuzz_problem *problem, bool quiet) {
  const assignment task = {.given = problem, .count = 1, .seconds = INFINITY, .quiet = quiet};
  return run(step, &task);
}
