// Faults of kernels: how they are reported, and how the worker leaves the launch.
#ifndef FAULT_H
#define FAULT_H

#include "block.h"

// sigsetjmp(worker->lead->abandoned) returns these to a worker whose launch ended early.
enum { ABANDONED_QUIETLY = 1, ABANDONED_BY_SIGNAL = 2, ABANDONED_BY_LIMIT = 3 };

// Makes `error` the sticky error; all workers then leave the launch. False when it was already abandoned.
bool fault_abandon(worker *worker, cudaError_t error);

// Leaves the block unfinished, from any of the worker's stacks.
__attribute__((noreturn)) void fault_leave(worker *worker);

// No thread of the block can run: reports which threads wait where, and leaves.
__attribute__((noreturn)) void fault_deadlock(worker *worker);

// The same for the cluster of which `lead` runs the blocks.
__attribute__((noreturn)) void fault_cluster_deadlock(worker *lead);

// The command that looks for faults in the step whose kernel runs, such as "make step04 sanitize". Returns
// `command`.
const char *fault_sanitize_command(const worker *worker, char command[64]);

// The block has written behind the end of dynamic shared memory: says where, and leaves.
__attribute__((noreturn)) void fault_written_behind(worker *worker);

// A thread of the block has written below its stack, whose guard page stacks_join has opened: says so, and leaves.
__attribute__((noreturn)) void fault_stack_spilled(worker *worker);

// The running thread has reached `site` while lanes with the same mask wait in another operation.
__attribute__((noreturn)) void fault_mixed_operations(worker *worker, const rendezvous *meeting,
                                                      const emulator_site *site);

// Reports worker->signal, after ABANDONED_BY_SIGNAL.
void fault_report_signal(worker *worker);

// Reports a block that does not come to its end, after ABANDONED_BY_LIMIT.
void fault_report_limit(worker *worker);

// The parts of a report, formatted as compute-sanitizer's: a title, then indented lines.
// Only the first fault of a launch is reported: begin returns false for later ones. Between
// begin and end no other thread writes to stderr. `error` becomes the sticky error.
bool fault_report_begin(worker *worker, cudaError_t error);
__attribute__((format(printf, 1, 2))) void fault_report_title(const char *format, ...);
__attribute__((format(printf, 1, 2))) void fault_report_line(const char *format, ...);
void fault_report_source(const char *file, int line); // the text of the line, if the file exists
void fault_report_thread(const worker *worker);       // the running thread
void fault_report_others(const worker *worker);       // those that wait, have exited, or could run
// The line of the instruction at the address, in the kernel, the stand-in headers or the library.
void fault_report_instruction(const worker *worker, uintptr_t instruction);
void fault_report_end(const worker *worker, cudaError_t error);

#endif
