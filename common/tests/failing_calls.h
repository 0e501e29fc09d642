// Calls of CUDA that fail on demand. A launch makes several of them on the host, and a step must return the error of
// each.
#ifndef FAILING_CALLS_H
#define FAILING_CALLS_H

#include <stdbool.h>

// Lets one call from here on fail instead of doing its work: the next one if `number` is 1.
void failing_calls_begin(int number);

// Ends that. Returns the name of the function whose call has failed, or NULL where there were fewer calls.
const char *failing_calls_end(void);

// Tells whether this call is the one to fail. A test that stands in for a function of another library asks this in it.
bool failing_call(const char *name);

// Defines a function that stands in for the one of this name in a library, and fails on demand with FAILURE.
#define FAILING_FUNCTION(TYPE, FAILURE, NAME, PARAMETERS, ARGUMENTS)                               \
  FAILING_FUNCTION_THAT(, TYPE, FAILURE, NAME, PARAMETERS, ARGUMENTS)

// The same for one that executes a statement first.
#define FAILING_FUNCTION_THAT(FIRST, TYPE, FAILURE, NAME, PARAMETERS, ARGUMENTS)                   \
  TYPE NAME PARAMETERS {                                                                           \
    static void *found;                                                                            \
    TYPE(*real) PARAMETERS;                                                                        \
    FIRST                                                                                          \
    if (!found) found = dlsym(RTLD_NEXT, #NAME);                                                   \
    memcpy(&real, &found, sizeof real);                                                            \
    return failing_call(#NAME) ? FAILURE : real ARGUMENTS;                                         \
  }

#endif
