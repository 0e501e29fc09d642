// libcu++'s names for the standard library: the emulator's code is host code, so they are the host's.
#ifndef EMULATOR_CUDA_DETAIL_STD_H
#define EMULATOR_CUDA_DETAIL_STD_H

#include <type_traits>

namespace cuda {
namespace std {
using namespace ::std;
}
} // namespace cuda

#endif
