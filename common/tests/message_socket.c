// Linked into each test program. Criterion's processes send their messages through /tmp/criterion_PID.sock, where PID is the
// number of the program's process. The file stays when a program is killed, and only its owner can remove it. So where one
// of another user has the number of this process, no test could run; then the program goes on in a child, which has another
// number.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool number_is_taken(void) {
  char path[64];
  snprintf(path, sizeof path, "/tmp/criterion_%lld.sock", (long long)getpid());
  return unlink(path) != 0 && errno != ENOENT;
}

// Runs before main, and not in the process of a test, which finds BXFI_MAP.
__attribute__((constructor)) static void take_free_number(void) {
  if (getenv("BXFI_MAP")) return;
  for (int tries = 0; tries < 100 && number_is_taken(); tries++) {
    const pid_t child = fork();
    if (child < 0) return; // Criterion says what it cannot do
    if (child > 0) {
      int status = 0;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
  }
}
