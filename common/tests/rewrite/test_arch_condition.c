// Conditions of the preprocessor that are others for device code, of which the rewriter warns.
#include "emulator/rewrite/arch_condition.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const others[] = {
    "#ifdef __CUDA_ARCH__",
    "#ifndef __CUDA_ARCH__",
    "#if defined(__CUDA_ARCH__)",
    "#if !defined __CUDA_ARCH__",
    "#if __CUDA_ARCH__",
    "#if __CUDA_ARCH__ >= 700",
    "#if __CUDA_ARCH__ < 700",
    "#if __CUDA_ARCH__ != 900",
    "#elif __CUDA_ARCH__ == 900",
    "#if 700 <= __CUDA_ARCH__",
    "#if 1 && (__CUDA_ARCH__ > 0x100)",
    "#if 0 || defined(__CUDA_ARCH__)",
};

// The same for both, or not to be told without the other macros, or no condition.
static const char *const same[] = {
    "#if __CUDA_ARCH__ <= 900",
    "#if __CUDA_ARCH__ > 900",
    "#if __CUDA_ARCH__ >= 1000",
    "#if defined(__CUDA_ARCH__) || 1",
    "#if defined(__CUDA_ARCH__) && 0",
    "#if defined(__CUDA_ARCH__) && defined(OTHER)",
    "#if !defined(OTHER) && defined(__CUDA_ARCH__)",
    "#if !defined(__CUDA_ARCH__) || OTHER",
    "#if __CUDA_ARCH__ >= OTHER",
    "#if __CUDA_ARCH__ + 0",
    "#ifdef OTHER",
    "#if OTHER",
    "#else",
    "#define X __CUDA_ARCH__",
};

static bool differs(const char *text) {
  source file = source_open("a.cu", text, strlen(text));
  const bool answer = arch_condition_differs(&file, 0);
  source_close(&file);
  return answer;
}

Test(arch_condition, differs) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    cr_expect(differs(others[i]), "%s", others[i]);
}

Test(arch_condition, does_not_differ) {
  for (size_t i = 0; i < sizeof same / sizeof *same; i++)
    cr_expect_not(differs(same[i]), "%s", same[i]);
}
