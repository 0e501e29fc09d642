// The end of a program that runs one step: the report, the sentences on stderr, and the exit status.
#ifndef OUTCOME_H
#define OUTCOME_H

#include "driver/report.h"
#include "step/step.h"
#include "trial/trial.h"

// Fills in what the report says of step, device, problem and inputs, and prints it as the options ask for.
void outcome_print(report *report, const attention_step *step, const device_info *device,
                   const options *options, const trial *trial);

// Says on stderr what is to be known of the run, and returns its exit status. `error` is the sentence of a run that
// failed, whose status is `status`, and else NULL.
int outcome_status(const report *report, const options *options, const error_text *error,
                   int status);

#endif
