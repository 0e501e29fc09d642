// Prints the manual page of a step's program.
#ifndef HELP_H
#define HELP_H

#include <stdio.h>

// `program` is the name under which the reader called it; name and summary are the step's.
void help_print(FILE *out, const char *program, const char *name, const char *summary);

#endif
