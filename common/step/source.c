// This file is compiled once for each step whose source is not the one in steps/, with STEP_SOURCE
// defined.
#include "attention.h"

const char *attention_source(void) { return STEP_SOURCE; }
