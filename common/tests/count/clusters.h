// A kernel of two clusters of two blocks, whose counts are known.
#ifndef COUNT_CLUSTERS_H
#define COUNT_CLUSTERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
// Launches it once and waits. False when that fails.
bool clusters_run(void);
#ifdef __cplusplus
}
#endif
#endif
