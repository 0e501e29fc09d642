// scripts/examples.sh, with programs that only say how they were called: what fails, and where the tensors lie.
#define _GNU_SOURCE
#include "toolkit.h"

#define SAYS  "echo \"${0##*/} $*\"\n"
#define FAILS "[[ \"$0 $*\" != *\"${FAIL:-nothing at all}\"* ]]\n"

static void enter(void) {
  toolkit_enter();
  cr_assert_eq(toolkit_run("mkdir -p build/cpu/examples build/gpu/examples").status, 0);
  toolkit_write_program("build/cpu/examples/from_c-04", "#!/bin/bash\n" SAYS FAILS);
  toolkit_write_program("build/gpu/examples/from_c-04", "#!/bin/bash\n" SAYS FAILS);
  toolkit_write_program("bin/python3", "#!/bin/bash\n[ \"$1\" != -c ] || exit 0\n" SAYS FAILS);
  cr_assert(setenv("PATH", "bin:/usr/bin:/bin", 1) == 0);
}

TestSuite(examples_verb, .init = enter, .fini = toolkit_leave);

Test(examples_verb, calls_each_on_the_device_of_the_build) {
  script_result result = toolkit_run("scripts/examples.sh build/cpu 04 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  cr_expect_str_eq(result.out,
                   "from_c-04 \npython3 examples/from_numpy.py --step 04 --build build/cpu\n"
                   "python3 examples/from_pytorch.py --step 04 --device cpu\n",
                   "%s", result.out);
  result = toolkit_run("scripts/examples.sh build/gpu 04 2>&1");
  EXPECT(result, "--build build/gpu\n", "--device cuda\n");
}

// One that finds that the step is wrong does not keep the others back, and is not forgotten.
Test(examples_verb, fails_with_any_of_them) {
  static const char *const wrong[] = {"from_c", "from_numpy", "from_pytorch"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    setenv("FAIL", wrong[i], 1);
    const script_result result = toolkit_run("scripts/examples.sh build/cpu 04 2>&1");
    cr_expect_eq(result.status, 1, "%s: it ended with %d", wrong[i], result.status);
    EXPECT(result, "from_c-04 \n", "from_numpy.py ", "from_pytorch.py ");
  }
}

Test(examples_verb, needs_a_build_and_a_step) {
  const script_result result = toolkit_run("scripts/examples.sh build/cpu 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d", result.status);
  EXPECT(result,
         "error: examples was given 1 arguments: give the folder of the build and the step");
}
