// Faults of kernels: the report, and leaving the launch.
#ifndef FAULT_H
#define FAULT_H

#include "block.h"

// What sigsetjmp(worker->abandoned) returns to a worker whose launch ended early.
enum { ABANDONED_QUIETLY = 1, ABANDONED_BY_SIGNAL = 2, ABANDONED_BY_LIMIT = 3 };

// Makes `error` the sticky error, and all workers leave the launch. False when it has been abandoned.
bool fault_abandon(worker *worker, cudaError_t error);

// Leaves the block unfinished, from any of the worker's stacks.
__attribute__((noreturn)) void fault_leave(worker *worker);

// Nobody in the block can run: reports who waits where, and leaves.
__attribute__((noreturn)) void fault_deadlock(worker *worker);

// The block has written behind the end of dynamic shared memory: says where, and leaves.
__attribute__((noreturn)) void fault_written_behind(worker *worker);

// The running thread comes to `site` while others with the same mask wait in another operation.
__attribute__((noreturn)) void fault_mixed_operations(worker *worker, const rendezvous *meeting,
                                                      const emulator_site *site);

// Reports worker->signal, after ABANDONED_BY_SIGNAL.
void fault_report_signal(worker *worker);

// Reports a block that does not come to its end, after ABANDONED_BY_LIMIT.
void fault_report_limit(worker *worker);

// The parts of a report, in compute-sanitizer's look: a title, then indented lines. Only the first
// fault of a launch is reported: begin returns false for others. Between begin and end nobody else
// writes to stderr. `error` becomes the sticky error.
bool fault_report_begin(worker *worker, cudaError_t error);
__attribute__((format(printf, 1, 2))) void fault_report_title(const char *format, ...);
__attribute__((format(printf, 1, 2))) void fault_report_line(const char *format, ...);
void fault_report_source(const char *file, int line); // its text, if the file is there
void fault_report_thread(const worker *worker);       // the running one
void fault_report_others(const worker *worker);       // those that wait, have exited, or could run
// The line of the instruction at the address: of kernel, stand-in headers or the library.
void fault_report_instruction(const worker *worker, uintptr_t instruction);
void fault_report_end(const worker *worker, cudaError_t error);

#endif
