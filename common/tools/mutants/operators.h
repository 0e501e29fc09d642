// The operators, each of which makes one kind of small fault.
#ifndef OPERATORS_H
#define OPERATORS_H

#include "mutants/mutant.h"

// Appends the mutants of all operators that begin at this token. The caller leaves out the tokens at which none may
// begin.
void operators_apply(const source *file, size_t token, mutant_list *mutants);

#endif
