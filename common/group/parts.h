// The functions that the parts of the group share.
#ifndef GROUP_PARTS_H
#define GROUP_PARTS_H

#include "group/group.h"
#include <nccl.h>

// Returns a time in seconds, whose beginning means nothing.
double group_seconds(void);

// Tells whether NCCL has done `what`. The sentence says what NCCL reports.
bool group_nccl_ok(ncclResult_t result, ncclComm_t comm, const char *what, error_text *error);

#endif
