// Host threads that wait for calls which never come.
#ifndef STUCK_H
#define STUCK_H

#include "queue.h"

// Nothing can be done towards the moment before a host thread calls the emulator again. Returns true if that will not
// happen, because all host threads that could call wait themselves, have ended, or have not called for a while; then
// the ranks and their calls are reported. With the lock held. `waiting`: the caller would wait, else it only asks.
bool stuck_for_good(moment when, bool waiting);

#endif
