// A kernel that converts halves in the expression that loads them.
#ifndef CONVERSIONS_H
#define CONVERSIONS_H

#ifdef __cplusplus
extern "C" {
#endif

// Runs a kernel whose loads are all in one line of conversions.cu: 2 halves for each of 64 terms, by one warp. Returns
// the line, or -1 when it fails.
int conversions_run(void);

#ifdef __cplusplus
}
#endif
#endif
