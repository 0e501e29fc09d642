// A step whose code ends the process with status 0 must not pass for a right one in check, sanitize,
// run, ladder, count, fuzz or budget, whether its launch or its kernel does so, and with any function.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(ended, .init = lab_enter, .fini = lab_leave, .timeout = 120);

// Ends the process where and how the environment variable ENDED says, such as "kernel _exit".
#define LEAVE                                                                                      \
  "#include <stdlib.h>\n"                                                                          \
  "#include <string.h>\n"                                                                          \
  "#include <unistd.h>\n"                                                                          \
  "static inline __host__ __device__ void leave(const char *place) {\n"                            \
  "  const char *asked = getenv(\"ENDED\");\n"                                                     \
  "  const size_t length = strlen(place);\n"                                                       \
  "  if (!asked || strncmp(asked, place, length) != 0) return;\n"                                  \
  "  if (strcmp(asked + length, \" exit\") == 0) exit(0);\n"                                       \
  "  if (strcmp(asked + length, \" quick_exit\") == 0) quick_exit(0);\n"                           \
  "  if (strcmp(asked + length, \" _exit\") == 0) _exit(0);\n"                                     \
  "  if (strcmp(asked + length, \" exec\") == 0) execlp(\"true\", \"true\", (char *)NULL);\n"      \
  "}\n"

static void write_step(void) {
  char path[128];
  EXPECT_STATUS(lab_run("mkdir -p %s/steps/01_naive", lab_work), 0);
  snprintf(path, sizeof path, "%s/steps/01_naive/attention.cu", lab_work);
  toolkit_write(path, LEAVE);
  EXPECT_STATUS(lab_run("awk '{ print } "
                        "/^__global__/ { kernel = 1 } kernel && /{$/ { print "
                        "\"leave(\\\"kernel\\\");\"; kernel = 0 } "
                        "/ attention_forward\\(/ { launch = 1 } launch && /{$/ { print "
                        "\"leave(\\\"launch\\\");\"; launch = 0 }' "
                        "steps/01_naive/attention.cu >>%s",
                        path),
                0);
  EXPECT_STATUS(
      lab_run("[ $(grep -c '^leave(\"kernel\");' %s) -ge 3 ] && grep -q '^leave(\"launch\");' %s",
              path, path),
      0);
}

// The verbs of the Makefile use those tools.
static void expect_verbs_fail(void) {
  static const char *const verbs[] = {"run ARGS='--seq 20'", "ladder ARGS='--seq 20'",
                                      "count ARGS='--seq 20'", "fuzz COUNT=1"};
  for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++) {
    const script_result result =
        lab_run("export ENDED='kernel _exit'; " MAKE UNOPTIMISED "step01 %s STEPS_FOLDER=%s/steps",
                verbs[v], lab_work);
    cr_expect_eq(result.status, 2, "%s: it ended with %d: %s", verbs[v], result.status, result.out);
    cr_expect(strstr(result.out, "had not finished") || strstr(result.out, "ends the process"),
              "%s: %s", verbs[v], result.out);
  }
}

Test(ended, no_tool_takes_it_for_success) {
  write_step();
  const char *const modes[] = {"", "sanitize", "count"};
  const char *const files[] = {"step01 step01-check step01-fuzz step01.so", "step01", "step01.so"};
  for (int i = 0; i < 3; i++) {
    const script_result built =
        lab_run("F=build/cpu%s%s/elsewhere/$(echo %s/steps | sed 's|_|__|g; s|/|_.|g'); "
                "env -u BXFI_MAP -u MAKEFLAGS -u MAKELEVEL -u DEBUG -u SANITIZE make -s -f "
                "make/build.mk DEVICE=cpu MODE=%s " UNOPTIMISED
                "STEPS_FOLDER=%s/steps $(for file in %s; do echo $F/$file; done) %s",
                *modes[i] ? "-" : "", modes[i], lab_work, modes[i], lab_work, files[i],
                i == 2 ? "build/cpu-count/count" : "build/cpu/ladder");
    EXPECT_STATUS(built, 0);
  }
  static const struct {
    const char *command;
    size_t ways; // how many of these are tried
  } tools[] = {
      {"scripts/run.sh $F/step01 --seq 20", 7},
      {"ARGS='--seq 20' SEEDS=1 scripts/sanitize.sh $S 01_naive", 7},
      {"scripts/run.sh build/cpu/ladder $LAB_WORK/data ended $F/step01.so -- --seq 20", 7},
      {"scripts/run.sh build/cpu-count/count $LAB_WORK $C/step01.so -- --seq 20", 7},
      {"scripts/run.sh $F/step01-fuzz --count 1", 3},
      {"scripts/check.sh $F/step01-check", 3},
  };
  static const char *const ways[] = {"nothing",      "launch exit", "kernel _exit",
                                     "launch _exit", "kernel exit", "kernel quick_exit",
                                     "launch exec"};
  for (size_t t = 0; t < sizeof tools / sizeof *tools; t++) {
    for (size_t w = 0; w < tools[t].ways; w++) {
      const bool right = w == 0;
      const char *command = tools[t].command;
      // The suite takes its time where nothing ends it, and passes on each step elsewhere.
      if (right && strstr(command, "-check")) continue;
      const script_result result =
          lab_run("N=elsewhere/$(echo %s/steps | sed 's|_|__|g; s|/|_.|g'); F=build/cpu/$N; "
                  "S=build/cpu-sanitize/$N; C=build/cpu-count/$N; ENDED='%s'; "
                  "export ENDED OMP_WAIT_POLICY=passive; unset BXFI_MAP; %s",
                  lab_work, ways[w], command);
      cr_expect_eq(result.status, right ? 0 : 1, "%s, %s: it ended with %d: %s", ways[w], command,
                   result.status, result.out);
      if (right) continue;
      cr_expect(strstr(result.out, "called exit") || strstr(result.out, "had not finished") ||
                    strstr(result.out, "ends the process"),
                "%s, %s: it does not say why: %s", ways[w], command, result.out);
    }
  }
  expect_verbs_fail();
}
