// nvcc compiles a source twice, once for the host, where __CUDA_ARCH__ is not defined, and once for the device. The
// emulator compiles it once. So where the two preprocessed texts differ, this makes one text of them:
//   a function of the device's side keeps the device's body, and one of the host the host's;
//   a function of both, and a constexpr one, gets both bodies, and asks which side calls it:
//     { if (::emulator::in_kernel()) { device's } else { host's } }
//   outside of functions stands the device's code and what only the host has; where both sides have something, the
//   host's is left out, and one warning says so.
#ifndef TWO_SIDES_H
#define TWO_SIDES_H

#include "emulator/rewrite/text_buffer.h"

typedef struct {
  const char *text;
  size_t length;
} preprocessed_text;

// Appends the joined text to `out`. `path` is the source's name for messages.
void two_sides_join(const char *path, preprocessed_text device, preprocessed_text host,
                    text_buffer *out);

#endif
