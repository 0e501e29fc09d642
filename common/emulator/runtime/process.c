#define _GNU_SOURCE // pthread_atfork
#include "process.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool too_late;
static atomic_bool said;

static void in_child(void) { too_late = true; }

static void begin(void) { pthread_atfork(NULL, NULL, in_child); }

bool process_too_late(void) {
  pthread_once(&once, begin);
  if (too_late && !atomic_exchange(&said, true))
    fputs("========= CUDA cannot be used in this process: it is the child of a fork(), and its "
          "parent had called CUDA before. A GPU refuses that as well. Call fork() before the first "
          "call of CUDA, or start another program with exec().\n",
          stderr);
  return too_late;
}
