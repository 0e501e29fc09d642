// Finds who called a function whose line a report names, where the two lines may be in different files.
#ifndef CALLER_H
#define CALLER_H

#include "emulator.h"

enum { CALLER_TEXT = 256 };

// Writes "called from FILE:LINE": the next line outside of the site's file of those that have led to the site, or, where
// all are in that file, the line that called the site's function. Empty where that is not known. Call it on the stack of
// the thread that is at the site.
void caller_of(const emulator_site *site, char text[CALLER_TEXT]);

#endif
