// Numbers from environment variables.
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdint.h>

// Ends the process with status 2, after the sentence that says what is wrong with a setting. It leaves out the functions
// of atexit, one of which would say that the step's code called exit (common/finish).
__attribute__((noreturn)) void environment_refuse(void);

// The variable's value; `otherwise` when it is unset or empty. When it is not a whole number from
// `least` to `most`: prints the sentence that says so and ends with environment_refuse.
uint64_t environment_number(const char *variable, uint64_t otherwise, uint64_t least,
                            uint64_t most);

// The same for seconds, such as 0.5; the value is a number from 0 to a million.
double environment_seconds(const char *variable, double otherwise);

#endif
