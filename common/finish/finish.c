#define _GNU_SOURCE
#include "finish/finish.h"

#include "error/error.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pid_t process; // the one whose end counts, not a child
static volatile bool finished;

static void expect_finished(void) {
  if (finished || getpid() != process) return;
  static const char sentence[] =
      "error: the process was ended before the program had finished: something in it, such as the "
      "step's code, called exit\n";
  // This does not use stdio with its buffers and locks, because any thread may run it at any
  // moment.
  if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0) _exit(EXIT_BAD_INPUT);
  _exit(EXIT_CHECK_FAILED);
}

static bool write_mark(const char *path, error_text *error) {
  FILE *file = fopen(path, "a");
  const bool good = file && fputs("finished\n", file) >= 0;
  return ((!file || fclose(file) == 0) && good) ||
         fail(error, "cannot write %s, which LAB_FINISHED names: %s", path, strerror(errno));
}

static bool flush_output(error_text *error) {
  return (fflush(stdout) == 0 && !ferror(stdout)) ||
         fail(error, "writing to standard output failed: %s", strerror(errno));
}

int finish_run(int (*program)(int argc, char **argv), int argc, char **argv) {
  process = getpid();
  // The variable is removed from the environment, because a program that a step's code starts is
  // not this one.
  const char *named = getenv("LAB_FINISHED");
  char *path = named && *named ? strdup(named) : NULL;
  unsetenv("LAB_FINISHED");
  error_text error;
  bool good = (!named || !*named || path) || fail(&error, "not enough memory");
  good = good && ((atexit(expect_finished) == 0 && at_quick_exit(expect_finished) == 0) ||
                  fail(&error, "not enough memory"));
  int status = good ? program(argc, argv) : EXIT_BAD_INPUT;
  finished = true;
  good = good && (status != EXIT_OK || flush_output(&error)) && (!path || write_mark(path, &error));
  if (!good) {
    fprintf(stderr, "error: %s\n", error.text);
    status = EXIT_BAD_INPUT;
  }
  free(path);
  return status;
}
