#include "fiber.h"

#include <stdint.h>

#ifdef EMULATOR_UCONTEXT

void fiber_prepare(fiber *to, void *stack_low, size_t stack_bytes, void (*entry)(void)) {
  getcontext(&to->context);
  to->context.uc_stack.ss_sp = stack_low;
  to->context.uc_stack.ss_size = stack_bytes;
  to->context.uc_link = NULL;
  makecontext(&to->context, entry, 0);
}

void fiber_switch(fiber *from, const fiber *to) { swapcontext(&from->context, &to->context); }

#else

// The words that fiber_switch pops, which of them is the address at which to continue, and the words
// above them: on x86-64 a function starts with its caller's address on the stack, 8 bytes off alignment.
#ifdef __x86_64__
enum { SAVED_WORDS = 7, ENTRY_WORD = 6, WORDS_ABOVE = 1 };
#else
enum { SAVED_WORDS = 20, ENTRY_WORD = 11, WORDS_ABOVE = 0 };
#endif

void fiber_prepare(fiber *to, void *stack_low, size_t stack_bytes, void (*entry)(void)) {
  const uintptr_t top = ((uintptr_t)stack_low + stack_bytes) & ~(uintptr_t)15;
  uintptr_t *words = (uintptr_t *)top - SAVED_WORDS - WORDS_ABOVE;
  for (int i = 0; i < SAVED_WORDS + WORDS_ABOVE; i++) words[i] = 0;
  words[ENTRY_WORD] = (uintptr_t)entry;
  to->stack_pointer = words;
}

#endif
