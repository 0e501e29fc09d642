// The hooks that a mode leaves out: weak, so that its own take their place.
#define _GNU_SOURCE
#define OBSERVER_DEFAULTS
#include "observer.h"
