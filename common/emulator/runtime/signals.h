// Turns a signal raised by a kernel's instruction into a fault of its launch.
#ifndef SIGNALS_H
#define SIGNALS_H

#include "block.h"

// Installs the handlers, for the whole process. A signal outside kernels goes to the handler that
// was there before.
void signals_install(void);

// Gives the calling worker a stack of its own to handle signals on: a fiber may have used up its.
bool signals_prepare_worker(void);

#endif
