// Empty hooks for the modes that do not define them; they are weak, so that a mode's own replace them.
#define _GNU_SOURCE
#define OBSERVER_DEFAULTS
#include "observer.h"
