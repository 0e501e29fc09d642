// A finding in words, in compute-sanitizer's look.
#ifndef SANITIZE_REPORT_H
#define SANITIZE_REPORT_H

#include "findings.h"
#include "places.h"

// Writes the report to stderr. `places`: one for each party.
void report_finding(const launch *launch, const finding *found, const place_text *places,
                    uint64_t more);

#endif
