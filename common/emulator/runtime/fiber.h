// A fiber is a stack and the registers that a function call preserves. The switch is in
// fiber_switch.S for x86-64 and aarch64, and uses ucontext(3) elsewhere or with -DEMULATOR_UCONTEXT.
#ifndef FIBER_H
#define FIBER_H

#include <stddef.h>

#if !defined(EMULATOR_UCONTEXT) && !defined(__x86_64__) && !defined(__aarch64__)
#define EMULATOR_UCONTEXT
#endif

#ifdef EMULATOR_UCONTEXT
#include <ucontext.h>
typedef struct {
  ucontext_t context;
} fiber;
#else
typedef struct {
  void *stack_pointer; // the registers are on the stack; first member: fiber_switch.S reads it
} fiber;
#endif

// Makes `to` a fiber that calls `entry` on the given stack when it is first switched to. `entry`
// must not return.
void fiber_prepare(fiber *to, void *stack_low, size_t stack_bytes, void (*entry)(void));

// Saves the running fiber in `from` and continues with `to`. Both must belong to this OS
// thread, because the compiler keeps addresses of thread-local variables across calls.
void fiber_switch(fiber *from, const fiber *to);

#endif
