// Turns a signal raised by a kernel's instruction into a fault of its launch.
#ifndef SIGNALS_H
#define SIGNALS_H

#include "block.h"

#include <signal.h>

// Installs the handlers, for the whole process. A signal outside kernels goes to the handler that
// was there before.
void signals_install(void);

// Called in a handler: describes the cause of the signal. `state` is the handler's third argument.
signal_record signals_describe(int signal, const siginfo_t *info, const void *state);

// Gives the worker, whose thread calls this, a separate stack on which to handle signals,
// because a fiber may have used up its own stack. False when there is no memory for it.
bool signals_prepare_worker(worker *worker);

#endif
