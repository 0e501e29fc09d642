// A kernel of two clusters of two blocks, whose counts are known.
#ifndef COUNT_CLUSTERS_H
#define COUNT_CLUSTERS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
// Launches it once and waits. False when that fails. In the second the kernel itself says the size of its clusters.
bool clusters_run(void);
bool clusters_run_declared(void);
// Another kernel: the first thread of each block ends, and the others come to the barrier once.
bool clusters_run_without_first(void);
#ifdef __cplusplus
}
#endif
#endif
