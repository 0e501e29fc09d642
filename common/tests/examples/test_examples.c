// Runs examples/: the program in C, the calls from NumPy and PyTorch, and the notebook. LAB_BUILD is the folder of
// the build, such as build/cpu. The tests in Python are those of test_examples.py beside this file.
#include "tests/needs.h"
#include <criterion/criterion.h>
#include <stdarg.h>
#include <sys/wait.h>

static const char *build;
static char output[65536];

static void find_build(void) {
  build = getenv("LAB_BUILD");
  if (!build) cr_skip_test("LAB_BUILD names no folder of a build, such as build/cpu");
}

TestSuite(examples, .init = find_build, .timeout = 120);

// Runs a command of the shell, keeps what it says in `output`, and returns its exit status.
static int __attribute__((format(printf, 1, 2))) run(const char *format, ...) {
  char command[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(command, sizeof command, format, arguments);
  va_end(arguments);
  FILE *pipe = popen(command, "r");
  cr_assert_not_null(pipe);
  output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
  while (fgetc(pipe) != EOF) {
  }
  const int status = pclose(pipe);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Skips the test when no Python has the module; else returns the Python that has it.
static const char *python_with(const char *module, const char *name) {
  if (strstr(build, "-sanitized"))
    cr_skip_test("Python cannot load what is built with a sanitizer");
  static char python[256];
  if (run("scripts/examples.sh --python %s 2>&1", module) != 0) cr_skip_test("needs %s", name);
  snprintf(python, sizeof python, "%.*s", (int)strcspn(output, "\n"), output);
  return python;
}

Test(examples, from_c) {
  cr_assert_eq(run("%s/examples/from_c-04 2>&1", build), 0, "%s", output);
  cr_assert(strstr(output, "step 04_online_softmax, called from C\nO    ok: "), "%s", output);
}

Test(examples, from_numpy) {
  const char *python = python_with("numpy", "NumPy");
  cr_assert_eq(
      run("PYTHONDONTWRITEBYTECODE=1 %s examples/from_numpy.py --build %s 2>&1", python, build), 0,
      "%s", output);
  cr_assert(strstr(output, ", called from NumPy\nO    ok: "), "%s", output);
}

static void run_python_tests(const char *python, const char *only, int least) {
  cr_assert_eq(
      run("PYTHONDONTWRITEBYTECODE=1 %s -m unittest discover -s common/tests/examples%s 2>&1",
          python, only),
      0, "%s", output);
  int count = 0;
  const char *ran = strstr(output, "\nRan ");
  cr_assert(ran && sscanf(ran, "\nRan %d test", &count) == 1 && count >= least, "%s", output);
}

Test(examples, calls_from_python) {
  run_python_tests(python_with("numpy", "NumPy"), " -k NumPy -k Operator", 6);
}

Test(examples, from_pytorch) {
  run_python_tests(python_with("torch", "PyTorch"), " -k RealPyTorch", 2);
}

// A missing module is a line, not a failure.
Test(examples, verb_says_what_it_leaves_out) {
  if (strstr(build, "-sanitized"))
    cr_skip_test("Python cannot load what is built with a sanitizer");
  cr_assert_eq(
      run("PATH=/nowhere /bin/bash scripts/examples.sh --python numpy_of_another_planet 2>&1"), 2,
      "%s", output);
  const int status = run("scripts/examples.sh %s 04 2>&1", build);
  const bool has_torch = strstr(output, "called from PyTorch") != NULL;
  cr_assert_eq(status, 0, "%s", output);
  cr_assert(has_torch || strstr(output, "from_pytorch.py: skipped because Python has no PyTorch"),
            "%s", output);
}

// Needs no NumPy: the cells that call Python's examples leave out what is missing.
Test(examples, notebook) {
  needs_tool("python3");
  needs_tool("git");
  if (strcmp(build, "build/cpu") != 0) cr_skip_test("the notebook is run on build/cpu alone");
  if (run("git rev-parse --git-dir 2>&1") != 0) cr_skip_test("there is no repository to clone");
  cr_assert_eq(run("python3 common/tests/examples/run_notebook.py examples/hosted_gpu.ipynb 2>&1"),
               0, "%s", output);
  cr_assert(strstr(output, "written: results/emulated-nvidia-h200/ladder_counts.svg"), "%s",
            output);
  cr_assert(strstr(output, "notebook: 8 cells run"), "%s", output);
}
