// Writes a finding as sentences, formatted as compute-sanitizer's.
#ifndef SANITIZE_REPORT_H
#define SANITIZE_REPORT_H

#include "findings.h"
#include "places.h"

// Writes the report to stderr. `places` has one entry for each party.
void report_finding(const launch *launch, const finding *found, const place_text *places,
                    uint64_t more);

// Writes the lines that say where something happened. `name` is the function's where that is not known.
void report_place(const char *name, const char *what, const place_text *place);

#endif
