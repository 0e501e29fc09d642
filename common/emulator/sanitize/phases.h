// Which phases of the mbarriers each thread has waited for (phases.c). For barriers that are no mbarriers these do nothing.
#ifndef SANITIZE_PHASES_H
#define SANITIZE_PHASES_H

#include "observer.h"

void phases_forget(void); // a block begins
void phases_create(worker *worker, const void *barrier);
void phases_arrive(worker *worker, const void *barrier, const emulator_site *site);
void phases_complete(worker *worker, const void *barrier); // before order_phase_complete
void phases_waited(worker *worker, const void *barrier);   // what observer_phase_look has begun

#endif
