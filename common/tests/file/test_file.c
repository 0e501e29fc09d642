#define _GNU_SOURCE
#include "file/file.h"

#include "tests/driver/temporary_folder.h"
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(file, .init = temporary_folder_enter, .fini = temporary_folder_leave, .timeout = 60);

static void put(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static unsigned mode_of(const char *path) {
  struct stat status;
  cr_assert(stat(path, &status) == 0, "there is no %s", path);
  return (unsigned)status.st_mode & 07777;
}

static void expect_size(const char *path, off_t bytes) {
  struct stat status;
  cr_assert(stat(path, &status) == 0, "there is no %s", path);
  cr_expect_eq(status.st_size, bytes, "%s has %ld bytes", path, (long)status.st_size);
}

static void write_or_fail(const char *path, const char *text) {
  error_text error;
  cr_assert(file_write(path, text, strlen(text), &error), "%s", error.text);
}

Test(file, a_new_file_follows_the_umask_and_an_old_one_keeps_its_mode) {
  umask(027);
  write_or_fail("new", "text");
  cr_expect_eq(mode_of("new"), 0640);
  const unsigned modes[] = {0600, 0644, 0666, 0400, 0755};
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
    cr_assert(chmod("new", modes[i]) == 0);
    write_or_fail("new", "other text");
    cr_expect_eq(mode_of("new"), modes[i], "%o became %o", modes[i], mode_of("new"));
  }
  cr_expect_eq(temporary_folder_count(), 1);
}

// Lets the signal end this process, and leave no core file in its folder. A test that runs in the background or under
// nohup has inherited that some signals are ignored, which file_write respects.
static void end_by_default(int number) {
  signal(number, SIG_DFL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

// The file under the name is whole at any time; after the process was ended, no other file is left.
static void expect_nothing_left(int number, useconds_t after) {
  enum {
    BYTES = 1 << 20
  }; // a busy disk takes seconds to write more out, and a signal waits for that
  put("target", "old");
  int ends[2];
  char ready = 0;
  cr_assert_eq(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    end_by_default(number);
    if (write(ends[1], &ready, 1) != 1) _exit(1);
    alarm(60); // it ends by itself where the test has been ended in the middle
    char *bytes = calloc(1, BYTES);
    error_text error;
    while (bytes && file_write("target", bytes, BYTES, &error)) {
    }
    _exit(1);
  }
  // A signal that comes before the child is ready would be lost where it is ignored, and the child would go on for ever.
  close(ends[1]);
  cr_assert_eq(read(ends[0], &ready, 1), 1);
  close(ends[0]);
  usleep(after);
  int status = 0;
  cr_assert(kill(child, number) == 0 && waitpid(child, &status, 0) == child);
  cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == number, "%s did not end it: %d",
            strsignal(number), status);
  struct stat target;
  cr_assert(stat("target", &target) == 0);
  cr_expect(target.st_size == 3 || target.st_size == BYTES, "%ld bytes", (long)target.st_size);
  cr_expect_eq(temporary_folder_count(), 1, "%s left a file behind", strsignal(number));
}

Test(file, signals_leave_nothing_behind) {
  const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (size_t i = 0; i < 12; i++) expect_nothing_left(signals[i % 4], 5000 + 3000 * i);
}

// A signal that arrives while open creates the file could be handled before the program knows of the file. This
// definition takes the place of the C library's, and sends such a signal when a test asks for it.
static int signal_within_open;
static mode_t mode_given; // to the last call that may make a file

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  if (flags & O_CREAT) mode_given = mode;
  const int descriptor = openat(AT_FDCWD, path, flags, mode);
  if (signal_within_open && flags & O_CREAT) raise(signal_within_open);
  return descriptor;
}

Test(file, a_signal_while_the_file_is_created_leaves_nothing_behind) {
  put("target", "old");
  const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
    const pid_t child = fork();
    if (child == 0) {
      end_by_default(signals[i]);
      signal_within_open = signals[i];
      write_or_fail("target", "new");
      _exit(0);
    }
    int status = 0;
    cr_assert(waitpid(child, &status, 0) == child);
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == signals[i], "%s did not end it: %d",
              strsignal(signals[i]), status);
    cr_expect_eq(temporary_folder_count(), 1, "%s left a file behind", strsignal(signals[i]));
  }
}

// Others who may not read the old file may not read the new one while it is written, either.
Test(file, the_new_file_is_made_for_the_readers_of_the_old_one) {
  umask(0);
  write_or_fail("secret", "text");
  cr_expect_eq(mode_given, 0666, "%o", mode_given);
  cr_assert(chmod("secret", 0600) == 0);
  write_or_fail("secret", "other text");
  cr_expect_eq(mode_given, 0600, "%o", mode_given);
}

// These take the place of the C library's, too. A disk may tell only in the end that it is full or broken.
static bool fsync_fails, close_fails;
static int interruptions; // of write that are left

int fsync(int descriptor) {
  if (fsync_fails) return errno = EIO, -1;
  return (int)syscall(SYS_fsync, descriptor);
}

int close(int descriptor) {
  const int result = (int)syscall(SYS_close, descriptor);
  if (close_fails) return errno = EDQUOT, -1;
  return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (interruptions > 0) return interruptions--, errno = EINTR, -1;
  return syscall(SYS_write, descriptor, bytes, count);
}

Test(file, a_disk_that_fails_in_the_end_leaves_the_old_file) {
  static const char *const sentences[] = {"cannot write a: Input/output error",
                                          "cannot write a: Disk quota exceeded"};
  put("a", "old");
  for (int i = 0; i < 2; i++) {
    error_text error = {""};
    fsync_fails = i == 0;
    close_fails = i == 1;
    const bool written = file_write("a", "newer", 5, &error);
    fsync_fails = close_fails = false;
    cr_expect(!written);
    cr_expect_str_eq(error.text, sentences[i], "%s", error.text);
    expect_size("a", 3);
    cr_expect_eq(temporary_folder_count(), 1);
  }
}

Test(file, a_write_that_is_interrupted_is_made_again) {
  interruptions = 2;
  write_or_fail("a", "text");
  cr_expect_eq(interruptions, 0);
  expect_size("a", 4);
}

Test(file, a_name_is_tried_without_a_trace) {
  error_text error;
  cr_expect(file_can_write("new", &error), "%s", error.text);
  cr_expect_eq(temporary_folder_count(), 0);
  put("old", "text");
  cr_expect(file_can_write("old", &error), "%s", error.text);
  expect_size("old", 4);
  cr_expect_eq(temporary_folder_count(), 1);
  cr_expect(!file_can_write("none/new", &error));
  cr_expect_str_eq(error.text, "cannot write none/new: No such file or directory: name a file in a "
                               "folder that can be written");
}

// As under nohup.
Test(file, a_signal_that_the_caller_ignores_does_not_disturb) {
  put("target", "old");
  signal(SIGHUP, SIG_IGN);
  signal_within_open = SIGHUP;
  write_or_fail("target", "newer");
  signal_within_open = 0;
  expect_size("target", 5);
  cr_expect_eq(temporary_folder_count(), 1);
}

static volatile sig_atomic_t signals_seen;
static void count_signal(int signal) { signals_seen += signal == SIGINT; }

Test(file, the_signals_are_the_callers_again) {
  signal(SIGINT, count_signal);
  signal(SIGTERM, SIG_IGN);
  write_or_fail("a", "text");
  raise(SIGINT);
  raise(SIGTERM);
  cr_expect_eq(signals_seen, 1);
}

Test(file, a_pipe_or_a_folder_is_not_read) {
  error_text error;
  cr_assert(mkfifo("pipe", 0600) == 0 && mkdir("folder", 0700) == 0);
  const int lowest = dup(0); // of the descriptors that are free
  close(lowest);
  cr_expect_null(file_open("pipe", &error));
  cr_expect_str_eq(error.text, "pipe is a pipe or a device: save its contents to an ordinary file "
                               "and name that");
  cr_expect_null(file_open("/dev/zero", &error));
  cr_expect_null(file_open("folder", &error));
  cr_expect_str_eq(error.text, "folder is a folder: name a file in it");
  cr_expect_null(file_open("none", &error));
  cr_expect_str_eq(error.text, "cannot open none: No such file or directory");
  const int next = dup(0); // as before, or what was refused is still open
  cr_expect_eq(next, lowest);
  close(next);
  put("file", "x");
  FILE *file = file_open("file", &error);
  cr_assert(file, "%s", error.text);
  cr_expect_eq(fgetc(file), 'x');
  fclose(file);
}

Test(file, names_of_one_file) {
  put("a", "");
  put("b", "");
  cr_assert(mkdir("folder", 0700) == 0 && symlink("folder", "other") == 0);
  cr_assert(symlink("a", "soft") == 0 && link("a", "hard") == 0 && symlink("soft", "twice") == 0);
  char here[4096], absolute[4200];
  cr_assert(getcwd(here, sizeof here));
  snprintf(absolute, sizeof absolute, "%s/folder/../a", here);
  const char *const same[][2] = {{"a", "a"},
                                 {"a", "./a"},
                                 {"a", absolute},
                                 {"a", "soft"},
                                 {"hard", "soft"},
                                 {"twice", "folder/../hard"},
                                 {"new", "./new"},
                                 {"new", "folder/../new"},
                                 {"folder/new", "other/new"}};
  const char *const others[][2] = {{"a", "b"},          {"soft", "b"},        {"new", "folder/new"},
                                   {"new", "other"},    {"new", "a"},         {"new", "newer"},
                                   {"none/new", "new"}, {"none/n", "none/n"}, {"", "a"},
                                   {"/proc", "/sys"}}; // which have one number on Linux
  for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
    cr_expect(file_same(same[i][0], same[i][1]), "%s, %s", same[i][0], same[i][1]);
    cr_expect(file_same(same[i][1], same[i][0]), "%s, %s", same[i][1], same[i][0]);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
    cr_expect_not(file_same(others[i][0], others[i][1]), "%s, %s", others[i][0], others[i][1]);
  }
}
