// Tests what a reader sees on a terminal while something takes long, and that nothing of it is left or goes into a file.
#define _GNU_SOURCE
#include "progress/progress.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool terminal;
int isatty(int file) { return file == STDERR_FILENO && terminal; }

// Returns what one call writes to stderr: progress_show with so much done, or progress_end.
static const char *shown(progress *bar, size_t done, bool ends) {
  static char text[512];
  FILE *file = tmpfile();
  const int kept = dup(STDERR_FILENO);
  cr_assert(file && kept >= 0 && fflush(stderr) == 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  if (ends)
    progress_end(bar);
  else
    progress_show(bar, done);
  fflush(stderr);
  cr_assert(dup2(kept, STDERR_FILENO) >= 0 && close(kept) == 0);
  rewind(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

// A bar that was begun 1000 seconds ago, so that no wait of the test's own counts.
static progress begun(size_t total) {
  progress bar = progress_start("work", total);
  bar.started -= 1000;
  return bar;
}

Test(progress, says_how_much_is_done_and_left) {
  terminal = true;
  progress bar = begun(80);
  cr_expect_str_eq(shown(&bar, 20, false), "\rwork:  25 %, about 3000 s left\033[K");
  cr_expect_str_empty(shown(&bar, 40, false), "it was drawn just now");
  bar.last_draw -= 1;
  cr_expect_str_eq(shown(&bar, 80, false), "\rwork: 100 %, about 0 s left\033[K");
  cr_expect_str_eq(shown(&bar, 0, true), "\r\033[K");
  bar = begun(0); // of nothing all is done
  cr_expect_str_eq(shown(&bar, 0, false), "\rwork: 100 %, about 0 s left\033[K");
}

// Short work shows nothing, and so has nothing to wipe away.
Test(progress, is_quiet_in_the_first_second) {
  terminal = true;
  progress bar = progress_start("work", 80);
  bar.started += 100; // whatever the machine does meanwhile
  cr_expect_str_empty(shown(&bar, 20, false));
  cr_expect_str_empty(shown(&bar, 0, true));
}

Test(progress, writes_nothing_into_a_file) {
  terminal = false;
  progress bar = begun(80);
  cr_expect_str_empty(shown(&bar, 20, false));
  cr_expect_str_empty(shown(&bar, 0, true));
}
