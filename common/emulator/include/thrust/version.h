// Thrust's own header, which says here whether the emulator can take it. All others of Thrust include it.
#pragma once

#ifndef EMULATOR_REWRITES_LATER
#error "the emulator has no Thrust: use kernels of your own, or a GPU (DEVICE=gpu)"
#include <nothing_behind_this_line_is_compiled>
#endif
#include_next <thrust/version.h>
#if THRUST_VERSION >= 200000
#error                                                                                             \
    "this is Thrust 2 or later, whose parts of libcu++ the emulator lacks: name a folder with Thrust 1.17 by -I (on Debian 12 make deps installs this version)"
#include <nothing_behind_this_line_is_compiled>
#endif
