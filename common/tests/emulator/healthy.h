// For tests of faults: a launch without a fault. It works before a faulty one, and again when the device has been reset.
#ifndef HEALTHY_H
#define HEALTHY_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

bool healthy_launch(void); // false: its result is wrong

#ifdef __cplusplus
}
#endif

#endif
