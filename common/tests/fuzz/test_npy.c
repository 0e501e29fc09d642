// Replays the files that fuzzing has found interesting.
#include "tests/fuzz/npy.c"
#include "tests/fuzz/replay.h"

Test(fuzz, npy) { cr_expect_gt(replay("common/tests/fuzz/npy", LLVMFuzzerTestOneInput), 5); }
