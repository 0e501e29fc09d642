// GNU's longjmp with _FORTIFY_SOURCE mistakes a jump from a signal stack for a corrupted stack.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "limit.h"

#include "caller.h"
#include "code_line.h"
#include "environment.h"
#include "fault.h"
#include "signals.h"
#include "symbols.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

// A signal that programs may use and that gdb passes on silently.
enum { SIGNAL = SIGVTALRM, DEFAULT_SECONDS = 60 };

// All blocks of a cooperative launch run at the same time, each on a thread of its own, and those that wait for a block
// that never comes use the processor as well. Each would need its time in full. So they may take so many times the
// limit together.
enum { TOGETHER = 2 };

static double limit_seconds(void) {
  static double seconds = -1;
  if (seconds < 0) {
    seconds = environment_seconds("LAB_LIMIT", DEFAULT_SECONDS);
    if (seconds == 0) seconds = INFINITY;
  }
  return seconds;
}

// ---- On the worker's thread ---------------------------------------------------------------------

static void leave_block(int signal, siginfo_t *info, void *context) {
  worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL) return;
  if (!limit_reached(worker)) return; // it is late: its block is done
  const signal_record record = signals_describe(signal, info, context);
  launch *launch = worker->launch;
  const uintptr_t low = atomic_load(&launch->code_low), high = atomic_load(&launch->code_high);
  if (record.instruction >= low && record.instruction < high) {
    limit_leave(worker, record.instruction);
  }
}

static _Thread_local caller_chain left; // the calls that had led to the instruction

void limit_leave(worker *worker, uintptr_t instruction) {
  caller_take(&left);
  worker->signal = (signal_record){.instruction = instruction};
  siglongjmp(worker->lead->abandoned, ABANDONED_BY_LIMIT);
}

void limit_install(void) {
  // SA_NODEFER: as in signals.c. SA_RESTART: the library does not expect interrupted system calls.
  struct sigaction action = {.sa_sigaction = leave_block,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
  sigemptyset(&action.sa_mask);
  sigaction(SIGNAL, &action, NULL);
}

// `how` is SIG_BLOCK or SIG_UNBLOCK, for the calling thread.
static void mask_signal(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGNAL);
  pthread_sigmask(how, &set, NULL);
}

void limit_watch_worker(worker *worker) {
  mask_signal(SIG_UNBLOCK); // a thread begins with the mask of its creator
  worker->watch.block = 1;  // overdue is 0: no block is
}

void limit_watch_block(worker *worker) {
  // Only this thread writes it.
  const uint64_t block = atomic_load_explicit(&worker->watch.block, memory_order_relaxed);
  atomic_store_explicit(&worker->watch.block, block + 1, memory_order_release);
}

// ---- On the thread that waits for the launch ----------------------------------------------------

static double processor_seconds(pthread_t thread) {
  clockid_t clock;
  struct timespec time = {0};
  if (pthread_getcpuclockid(thread, &clock) == 0) clock_gettime(clock, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// This is called for the first worker that is overdue.
static void find_code(launch *launch) {
  symbol_table table;
  uintptr_t low = 0, high = 0;
  if (atomic_load(&launch->code_high) > 0 || !symbols_open(&table, launch->request->kernel)) return;
  if (symbols_section(&table, launch->request->kernel, &low, &high)) {
    atomic_store(&launch->code_low, low);
    atomic_store(&launch->code_high, high);
  }
  symbols_close(&table);
}

// Returns how long the worker's block has run, as far as it has been looked at.
static double block_seconds(worker *worker) {
  worker_watch *watch = &worker->watch;
  const uint64_t block = atomic_load(&watch->block);
  const double now = processor_seconds(watch->thread);
  if (block != watch->seen) {
    watch->seen = block;
    watch->seen_at = now;
  }
  return now - watch->seen_at;
}

static void leave(worker *worker, launch *launch) {
  find_code(launch);
  atomic_store(&worker->watch.overdue, worker->watch.seen);
  pthread_kill(worker->watch.thread, SIGNAL);
}

double limit_look(worker *workers, launch *launch) {
  const double seldom = 1, often = 0.001;
  if (launch == NULL) return fmin(seldom, limit_seconds() / 10);
  double all = 0;
  for (worker *worker = workers; worker != NULL; worker = worker->next)
    all += block_seconds(worker);
  if (launch->request->cooperative && all >= TOGETHER * limit_seconds())
    atomic_store(&launch->overdue, true);
  // Once one worker has left the launch, the others must leave it too.
  const bool every = atomic_load(&launch->overdue) || atomic_load(&launch->abandoned);
  bool overdue = false;
  for (worker *worker = workers; worker != NULL; worker = worker->next) {
    if (!every && block_seconds(worker) < limit_seconds()) continue;
    leave(worker, launch);
    overdue = true;
  }
  if (overdue) return often;
  return fmin(seldom, limit_seconds() / 10);
}

// ---- The report, on the worker's own stack ------------------------------------------------------

// Where the loop is in a function by itself, its line does not tell which of the calls is meant. Where the compiler has
// inlined the function, the line's own callers have been written.
static void report_caller(uintptr_t instruction) {
  code_line line;
  char caller[CALLER_TEXT];
  code_line_find((const void *)instruction, &line);
  caller_of_chain(&left, line.line, caller);
  if (caller[0] != '\0' && strcmp(caller, line.caller) != 0 && strcmp(caller, line.origin) != 0)
    fault_report_line("    %s", caller);
}

static void write_report(const worker *worker, cudaError_t error) {
  const uint3 block = worker->block.block_index;
  if (atomic_load(&worker->launch->overdue))
    fault_report_title("Launch timed out: the blocks of this cooperative launch have run for %g "
                       "seconds of processor time together, and block (%u,%u,%u) has not ended",
                       TOGETHER * limit_seconds(), block.x, block.y, block.z);
  else
    fault_report_title("Launch timed out: block (%u,%u,%u) has run for %g seconds of processor "
                       "time and has not ended",
                       block.x, block.y, block.z, limit_seconds());
  const uintptr_t instruction = caller_in_program(&left, worker->signal.instruction);
  fault_report_instruction(worker, instruction);
  report_caller(instruction);
  fault_report_thread(worker);
  fault_report_others(worker);
  fault_report_line("hint: does the loop at this line end, and each loop that calls this function? "
                    "What its condition compares must change from round to round");
  fault_report_line(
      "hint: if it waits for another thread, does that thread ever do what it waits for? "
      "Waiting must let it run: atomicAdd(flag, 0) and __nanosleep do");
  fault_report_line("hint: if the kernel is slow and not endless, allow each block more seconds: "
                    "LAB_LIMIT=%g (0: any number)",
                    10 * limit_seconds());
  fault_report_end(worker, error);
}

void fault_report_limit(worker *worker) {
  const cudaError_t error = cudaErrorLaunchTimeout;
  mask_signal(SIG_BLOCK); // the signal comes again and again, until the worker has left the launch
  if (fault_report_begin(worker, error)) write_report(worker, error);
  mask_signal(SIG_UNBLOCK);
}
