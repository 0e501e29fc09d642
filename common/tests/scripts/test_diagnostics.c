// Tests how the lab shows the compiler's words about a participant's file.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(diagnostics, .init = lab_enter, .fini = lab_leave);

// What g++ said of one file, shortened: the same warning in two instances of a template, and an error in a header. Such
// an error of clang++ is the last one.
#define COMPILER                                                                                   \
  "work/a.cu: In instantiation of 'void tile(T) [with T = configuration<64>]':\n"                  \
  "work/a.cu:9:1:   required from 'void k() [with E = "                                            \
  "emulator::number16<emulator::fp16_format>]'\n"                                                  \
  "work/a.cu:7:5: warning: no emulator::number16<emulator::fp16_format> here [-Wx]\n"              \
  "    7 |   x = y;\n      |   ^\n"                                                                \
  "common/emulator/include/detail/number16.h:127:19: note: candidate: 'friend'\n"                  \
  "  127 |   friend number16\n"                                                                    \
  "work/a.cu: In instantiation of 'void tile(T) [with T = configuration<32>]':\n"                  \
  "work/a.cu:9:1:   required from 'void k() [with E = "                                            \
  "emulator::number16<emulator::bf16_format>]'\n"                                                  \
  "work/a.cu:7:5: warning: no emulator::number16<emulator::bf16_format> here [-Wx]\n"              \
  "    7 |   x = y;\n      |   ^\n"                                                                \
  "common/kernel/kernel.cuh: In instantiation of 'float max_over_lanes(float)':\n"                 \
  "work/a.cu:8:3:   required from 'void tile(T) [with T = configuration<64>]'\n"                   \
  "work/a.cu:9:1:   required from here\n"                                                          \
  "common/kernel/kernel.cuh:88:5: error: cannot convert\n   88 |   secret\n"                       \
  "In file included from work/a.cu:3:\ncommon/emulator/include/x.h:2:2: error: #error \"not "      \
  "here\"\n"                                                                                       \
  "common/emulator/include/x.h:3:10: fatal error: nothing_behind_this_line_is_compiled: No such\n" \
  "In file included from work/a.cu:4:\nIn file included from ./b.h:2:\n"                           \
  "common/emulator/include/y.h:5:2: error: \"as clang says\"\n"

Test(diagnostics, each_diagnostic_once_at_the_readers_line) {
  char path[128];
  snprintf(path, sizeof path, "%s/log", lab_work);
  toolkit_write(path, COMPILER);
  const script_result result =
      lab_run("awk -v file=work/a.cu -f scripts/workshop/diagnostics.awk %s", path);
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(result.out,
                   "  work/a.cu:8: error: cannot convert\n"
                   "    inside of common/kernel/kernel.cuh:88, which this line calls\n"
                   "  work/a.cu:3: error: not here\n"
                   "    inside of common/emulator/include/x.h:2, which this line calls\n"
                   "  work/a.cu:4: error: as clang says\n"
                   "    inside of common/emulator/include/y.h:5, which this line calls\n"
                   "  work/a.cu:7: warning: no __half here [-Wx]\n"
                   "      7 |   x = y;\n        |   ^\n",
                   "%s", result.out);
}

// A compiler that has lost count of the braces names lines behind them. They are looked for where there are errors.
Test(diagnostics, braces_that_do_not_match) {
#define FUNCTION(name, lines) "template <int D>\n__device__ void " name "() {\n" lines "}\n\n"
#define PART(lines)           "  // TODO 1 of 2, about 3 lines:\n" lines "  // end of part 1\n"
  const struct {
    const char *text, *part, *says;
  } cases[] = {
      {FUNCTION("a", PART("  for (;;) {\n    x = '{'; // {\n  }\n")) FUNCTION("b", "  f(\"}\");\n"),
       "", ""},
      {FUNCTION("a", "  x();\n") FUNCTION("b", PART("  for (;;) {\n  if (x) {\n"))
           FUNCTION("c", ""),
       "", "  lines 7 to 13 open 2 braces more than they close, so the errors below may name "},
      {FUNCTION("a", PART("  for (;;) {\n")) FUNCTION("b", ""), "1",
       "  lines 2 to 7 open 1 brace "},
      {FUNCTION("a", PART("  for (;;) {\n")) FUNCTION("b", ""), "2", ""},
      {FUNCTION("a", "  }\n") FUNCTION("b", ""), "",
       "  lines 2 to 4 close 1 brace more than they open"},
      {"static void last() {\n  if (x) {\n}\n", "", "  lines 1 to 3 open 1 brace more"},
  };
  lab_run("mkdir -p %s/04_online_softmax", lab_work);
  char path[128], log[128];
  snprintf(path, sizeof path, "%s/04_online_softmax/attention.cu", lab_work);
  snprintf(log, sizeof log, "%s/log", lab_work);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toolkit_write(path, cases[i].text);
    const script_result result =
        lab_run("awk -v part=%s -f scripts/workshop/braces.awk %s", cases[i].part, path);
    EXPECT_STATUS(result, 0);
    cr_expect(*cases[i].says ? strncmp(result.out, cases[i].says, strlen(cases[i].says)) == 0
                             : *result.out == '\0',
              "%zu: %s", i, result.out);
  }
  static const char *const kinds[] = {"warning", "error"};
  for (int error = 0; error <= 1; error++) {
    char line[256];
    snprintf(line, sizeof line, "%s:2:1: %s: expected '}'\n", path, kinds[error]);
    toolkit_write(log, line);
    const script_result result =
        lab_run("bash -c '. scripts/scratch.sh; make_scratch; . scripts/workshop/work.sh; "
                ". scripts/workshop/diagnostics.sh; say_diagnostics %s %s title'",
                log, path);
    EXPECT(result, "title\n");
    cr_expect_eq(strstr(result.out, "title\n  lines 1 to 3 open 1 brace more") != NULL, error, "%s",
                 result.out);
  }
}
