// GNU's longjmp with _FORTIFY_SOURCE mistakes a jump from a signal stack for a corrupted stack.
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "signals.h"

#include "caller.h"
#include "devices.h"
#include "errors.h"
#include "fault.h"
#include "memory.h"
#include "plural.h"
#include "shared_memory.h"

#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#ifdef __aarch64__
#include <asm/sigcontext.h>
#endif

static const int handled[] = {SIGSEGV, SIGBUS, SIGFPE};
enum { HANDLED = sizeof handled / sizeof handled[0], SIGNAL_STACK_BYTES = 64 * 1024 };
static struct sigaction previous[HANDLED];

// ---- In the handler -----------------------------------------------------------------------------

#ifdef __x86_64__
// Whether the instruction is a vector move that requires an aligned address. On x86-64 the signal
// for a misaligned address is the same as for one outside the address space, and has no address.
// Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, MOVAPS,
// MOVDQA, MOVNTPS, MOVNTDQ and sections 2.3 (VEX) and 2.7 (EVEX).
static bool is_aligned_move(const unsigned char *code) {
  while (*code == 0x66 || *code == 0xF2 || *code == 0xF3 || *code >> 4 == 4) code++; // prefixes
  int opcode;
  switch (*code) {
  case 0x0F: opcode = code[1]; break;
  case 0xC5: opcode = code[2]; break;
  case 0xC4: opcode = code[3]; break;
  case 0x62: opcode = code[4]; break;
  default: return false;
  }
  return opcode == 0x28 || opcode == 0x29 || opcode == 0x6F || opcode == 0x7F || opcode == 0x2B ||
         opcode == 0xE7;
}
#endif

#ifdef __aarch64__
// Whether the instruction wrote: bit WnR of the exception syndrome, which Linux puts among the saved registers (Arm
// Architecture Reference Manual, "ESR_EL1"; asm/sigcontext.h). An emulator of processors, such as older versions of QEMU,
// may leave it out.
static const char *access_of(const mcontext_t *registers) {
  enum { WRITE = 1 << 6 };
  const struct _aarch64_ctx *record = (const void *)registers->__reserved;
  while (record->magic != 0 && record->magic != ESR_MAGIC)
    record = (const void *)((const char *)record + record->size);
  if (record->magic == 0) return "access";
  return ((const struct esr_context *)(const void *)record)->esr & WRITE ? "write" : "read";
}
#endif

signal_record signals_describe(int signal, const siginfo_t *info, const void *state) {
  const ucontext_t *context = state;
  signal_record record = {.signal = signal,
                          .address = (uintptr_t)info->si_addr,
                          .access = "access",
                          .misaligned = signal == SIGBUS && info->si_code == BUS_ADRALN};
#if defined(__x86_64__)
  const greg_t *registers = context->uc_mcontext.gregs;
  enum { GENERAL_PROTECTION = 13, WRITE = 2 };
  record.instruction = (uintptr_t)registers[REG_RIP];
  record.stack = (uintptr_t)registers[REG_RSP];
  record.no_address = signal == SIGSEGV && registers[REG_TRAPNO] == GENERAL_PROTECTION;
  if (record.no_address) {
    record.misaligned = is_aligned_move((const unsigned char *)record.instruction);
  } else if (signal == SIGSEGV) {
    record.access = registers[REG_ERR] & WRITE ? "write" : "read";
  }
#elif defined(__aarch64__)
  record.instruction = (uintptr_t)context->uc_mcontext.pc;
  record.stack = (uintptr_t)context->uc_mcontext.sp;
  if (signal == SIGSEGV) record.access = access_of(&context->uc_mcontext);
#else
  (void)context;
#endif
  return record;
}

static void pass_on(int signal, siginfo_t *info, void *context) {
  for (int i = 0; i < HANDLED; i++) {
    if (handled[i] != signal) continue;
    if (previous[i].sa_flags & SA_SIGINFO) {
      previous[i].sa_sigaction(signal, info, context);
    } else if (previous[i].sa_handler == SIG_DFL || previous[i].sa_handler == SIG_IGN) {
      sigaction(signal, &previous[i], NULL); // the instruction runs again and ends the process
    } else {
      previous[i].sa_handler(signal);
    }
  }
}

static _Thread_local caller_chain calls; // that had led to the instruction
static _Thread_local bool taking_calls;  // an overwritten stack may raise a second signal there

static void handle(int signal, siginfo_t *info, void *context) {
  worker *worker = current_worker;
  if (worker == NULL || emulator_current == NULL) {
    pass_on(signal, info, context);
    return;
  }
  if (taking_calls) {
    calls.count = 0;
    taking_calls = false;
    siglongjmp(worker->lead->abandoned, ABANDONED_BY_SIGNAL);
  }
  worker->signal = signals_describe(signal, info, context);
  taking_calls = true;
  caller_take(&calls);
  taking_calls = false;
  if (worker->guessing != NULL) { // the line is that of the atomic function
    worker->signal.instruction = (uintptr_t)worker->guessing - 1;
    worker->signal.access = "atomic operation";
  }
  siglongjmp(worker->lead->abandoned,
             ABANDONED_BY_SIGNAL); // to the worker's own stack, which reports
}

void signals_install(void) {
  // SA_NODEFER is set because a jump leaves the handler, which must not leave the signal blocked.
  struct sigaction action = {.sa_sigaction = handle,
                             .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < HANDLED; i++) sigaction(handled[i], &action, &previous[i]);
}

bool signals_prepare_worker(worker *worker) {
  worker->signal_stack = malloc(SIGNAL_STACK_BYTES);
  const stack_t stack = {.ss_sp = worker->signal_stack, .ss_size = SIGNAL_STACK_BYTES};
  return stack.ss_sp != NULL && sigaltstack(&stack, NULL) == 0;
}

// ---- The report ---------------------------------------------------------------------------------

static cudaError_t error_of(const signal_record *signal) {
  if (signal->signal == SIGFPE) return cudaErrorLaunchFailure;
  return signal->misaligned ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress;
}

// Whether the address is in memory of a device that the kernel's device cannot reach (memory_close_to).
static bool out_of_reach(const worker *worker, uintptr_t address, memory_allocation *entry) {
  return memory_find((const void *)address, entry) && entry->kind == MEMORY_DEVICE &&
         !devices_reach(worker->launch->device, entry->device);
}

// Whether the thread has used up its stack. A function may use a few bytes below its stack pointer: 128 in the System V ABI
// of x86-64 ("red zone"). A stack pointer that is further up says that an index has left an array of a thread.
static bool stack_used_up(const worker *worker, const signal_record *signal) {
  const uintptr_t RED_ZONE = 128;
  return stacks_hold(&worker->stacks, signal->address) &&
         signal->stack < (uintptr_t)worker->running->stack->low + RED_ZONE;
}

// Whether an index has left an array of the thread. A wild pointer may point to the stacks of threads as well, but hardly so
// near to that of the thread itself.
static bool left_array(const worker *worker, const signal_record *signal) {
  const uintptr_t from = signal->address, to = signal->stack;
  return stacks_hold(&worker->stacks, from) &&
         (from > to ? from - to : to - from) < 2 * worker->stacks.slot_bytes;
}

// The block of the cluster in whose shared memory the address is, where the worker's block must not access it.
static const worker *other_block(const worker *worker, uintptr_t address) {
  const struct worker *owner = cluster_owner(worker, (const void *)address);
  return owner != worker ? owner : NULL;
}

static void report_other_block(const worker *owner, const signal_record *signal) {
  const uint3 block = owner->block.block_index;
  if (owner->parked.ended) {
    fault_report_title("Invalid __shared__ %s: block (%u,%u,%u), whose shared memory it is, has "
                       "ended",
                       signal->access, block.x, block.y, block.z);
    return;
  }
  const size_t asked = owner->launch->request->dynamic_shared_bytes;
  const size_t behind = signal->address - ((uintptr_t)owner->block.dynamic_shared + asked);
  fault_report_title("Invalid __shared__ %s: %zu byte%s past the end of the dynamic shared memory "
                     "of block (%u,%u,%u) (%zu byte%s asked for at the launch)",
                     signal->access, behind, plural(behind), block.x, block.y, block.z, asked,
                     plural(asked));
}

static void report_title(const worker *worker, const signal_record *signal) {
  const uintptr_t NULL_PAGES = 64 * 1024;
  const uintptr_t address = signal->address;
  memory_allocation entry;
  if (signal->signal == SIGFPE) {
    fault_report_title("Integer division by zero: a GPU would go on with an undefined result");
  } else if (signal->misaligned) {
    // On aarch64 this signal comes of atomic operations, which may be of fewer bytes.
    fault_report_title("Misaligned access%s: its address must be a multiple of its size",
                       signal->signal == SIGBUS ? "" : " of 16 bytes or more");
  } else if (signal->no_address) {
    fault_report_title("Invalid access: no memory can have this address; was the pointer read "
                       "before it was written?");
  } else if (stack_used_up(worker, signal)) {
    fault_report_title("Stack overflow: a thread has %d KiB of stack", FIBER_STACK_BYTES / 1024);
  } else if (left_array(worker, signal)) {
    fault_report_title("Invalid __local__ %s: far outside of the arrays and registers of a thread",
                       signal->access);
  } else if (other_block(worker, address) != NULL) {
    report_other_block(other_block(worker, address), signal);
  } else if (shared_memory_overrun(worker, address)) {
    const uintptr_t start = (uintptr_t)worker->block.dynamic_shared;
    const size_t asked = worker->launch->request->dynamic_shared_bytes;
    const size_t behind = address - (start + asked);
    fault_report_title("Invalid __shared__ %s: %zu byte%s past the end of dynamic shared memory "
                       "(%zu byte%s asked for at the launch)",
                       signal->access, behind, plural(behind), asked, plural(asked));
  } else if (address < NULL_PAGES) {
    fault_report_title("Invalid %s at address 0x%zx: a null pointer", signal->access, address);
  } else if (out_of_reach(worker, address, &entry)) {
    fault_report_title("Invalid %s at address 0x%zx: byte %zu of an allocation of %zu byte%s of "
                       "device %d, without peer access from device %d, where the kernel runs",
                       signal->access, address, address - entry.start, entry.bytes,
                       plural(entry.bytes), entry.device, worker->launch->device);
  } else {
    char place[128];
    memory_describe(address, place, sizeof place);
    fault_report_title("Invalid %s at address 0x%zx: %s", signal->access, address, place);
  }
}

static void report_site(const emulator_site *site) {
  char caller[CALLER_TEXT];
  fault_report_line("at %s in %s:%d", site->operation, site->file, site->line);
  fault_report_source(site->file, site->line);
  caller_of_chain(&calls, site->line, caller);
  if (caller[0] != '\0') fault_report_line("    %s", caller);
}

void fault_report_signal(worker *worker) {
  const signal_record *signal = &worker->signal;
  const struct worker *owner = other_block(worker, signal->address);
  // An H100 returns this error for other blocks' shared memory.
  const cudaError_t error = owner != NULL ? cudaErrorLaunchFailure : error_of(signal);
  if (!fault_report_begin(worker, error)) return;
  report_title(worker, signal);
  if (worker->accessing != NULL) {
    report_site(worker->accessing);
  } else {
    fault_report_instruction(worker, caller_in_program(&calls, signal->instruction));
  }
  fault_report_thread(worker);
  memory_allocation entry;
  const bool unreached = out_of_reach(worker, signal->address, &entry);
  if (unreached) {
    fault_report_line("hint: call cudaDeviceEnablePeerAccess(%d, 0) while device %d is current, or "
                      "copy the data with cudaMemcpyPeerAsync",
                      entry.device, worker->launch->device);
  }
  if (owner != NULL && owner->parked.ended) {
    fault_report_line("hint: a block must not end while others use its shared memory: "
                      "cluster.sync() as the last statement of all of them keeps it");
  }
#ifndef EMULATOR_OBSERVED
  if (!unreached && error == cudaErrorIllegalAddress && !stack_used_up(worker, signal)) {
    char command[64];
    fault_report_line(
        "hint: %s looks at each access, and finds those as well that stay inside of mapped memory",
        fault_sanitize_command(worker, command));
  }
#endif
  fault_report_end(worker, error);
}
