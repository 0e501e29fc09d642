// Replays the texts that fuzzing has found interesting.
#include "tests/fuzz/replay.h"
#include "tests/fuzz/rewrite.c"

Test(fuzz, rewrite) {
  cr_expect_gt(replay("common/tests/fuzz/rewrite", LLVMFuzzerTestOneInput), 2);
}
