// Compiled anew, with STEP_SOURCE defined, for each step whose source is not the one in steps/.
#include "attention.h"

const char *attention_source(void) { return STEP_SOURCE; }
