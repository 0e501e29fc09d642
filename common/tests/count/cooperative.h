// A cooperative kernel whose counts are known.
#ifndef COUNT_COOPERATIVE_H
#define COUNT_COOPERATIVE_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
// Launches it once, with 4 blocks of 64 threads, and waits. False when that fails, or a result is wrong.
bool cooperative_run(void);
#ifdef __cplusplus
}
#endif
#endif
