// Kernels that keep a tensor map where the copy engine cannot read it, and where it can, for test_map_faults.c. Only the
// emulator runs them.
#ifndef MAP_FAULTS_H
#define MAP_FAULTS_H

#include "healthy.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

// The map is in:
void fault_map_by_value(void);  // a parameter without __grid_constant__, beside one that has it
void fault_map_in_local(void);  // a local copy of a parameter
void fault_map_passed_on(void); // a copy that a function is given
void fault_map_in_shared(void);
void fault_map_misaligned(void);

// Each returns whether the copy has arrived. The map is in:
bool map_in_parameter(void); // the second of two, each with __grid_constant__
bool map_in_struct(void);    // a member of a parameter of a kernel that is a template
bool map_in_constant(void);
bool map_in_global(void);

#ifdef __cplusplus
}
#endif
#endif
