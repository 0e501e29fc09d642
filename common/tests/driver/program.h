// For tests: runs the program that an environment variable names, and keeps its output.
#ifndef PROGRAM_H
#define PROGRAM_H

#include "command_line.h"
#include "temporary_folder.h"
#include <limits.h>
#include <sys/wait.h>

typedef struct {
  int status;     // exit status; -1 when a signal ended it
  char out[8192]; // standard output, cut at the end
  char err[4096]; // standard error
} program_result;

static char program_path[PATH_MAX];

// Finds the program, which is named relative to the folder that the tests start in, and enters a
// folder of the test's own. Skips the test when nothing is named.
static inline void program_find(const char *variable) {
  const char *named = getenv(variable);
  if (!named) cr_skip_test("%s names no program to test, such as build/cpu/step04", variable);
  cr_assert(realpath(named, program_path), "%s is %s, and there is no such file", variable, named);
  temporary_folder_enter();
}

static inline void program_read(FILE *file, char *text, size_t size) {
  rewind(file);
  text[fread(text, 1, size - 1, file)] = '\0';
  fclose(file);
}

// Runs the program with the arguments, split at spaces, and waits. Its standard output goes to the
// file `out_path` when that is not NULL.
static inline program_result program_run_to(const char *out_path, const char *arguments) {
  command_line line;
  command_line_split(&line, program_path, arguments);
  FILE *out = out_path ? fopen(out_path, "w+") : tmpfile();
  FILE *err = tmpfile();
  cr_assert(out && err, "no temporary file");
  const pid_t child = fork();
  if (child == 0) {
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    execv(program_path, line.argv);
    _exit(127);
  }
  int status = 0;
  cr_assert(child > 0 && waitpid(child, &status, 0) == child, "the program could not be started");
  program_result result = {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  program_read(out, result.out, sizeof result.out);
  program_read(err, result.err, sizeof result.err);
  return result;
}

static inline program_result program_run(const char *arguments) {
  return program_run_to(NULL, arguments);
}

static inline bool program_begins(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

// The program failed as bad input does: exit status 2, one sentence on stderr, nothing on stdout.
static inline void program_expect_refused(const char *arguments, const char *start) {
  const program_result result = program_run(arguments);
  cr_expect_eq(result.status, 2, "'%s' ended with %d: %s", arguments, result.status, result.err);
  cr_expect(program_begins(result.err, start), "'%s' said: %s\nexpected: %s", arguments, result.err,
            start);
  cr_expect_str_eq(strchrnul(result.err, '\n'), "\n", "not one line: %s", result.err);
  cr_expect_str_empty(result.out, "'%s' printed: %s", arguments, result.out);
}

static inline program_result program_expect_good(const char *arguments) {
  const program_result result = program_run(arguments);
  cr_assert_eq(result.status, 0, "'%s' ended with %d: %s", arguments, result.status, result.err);
  cr_expect_str_empty(result.err, "'%s' said: %s", arguments, result.err);
  cr_expect(!strchr(result.out, '\033'), "escape codes in a file: %s", result.out);
  return result;
}

#endif
