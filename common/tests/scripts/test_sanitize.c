// scripts/sanitize.sh: which programs it runs, and how it reads
// their answers. Scripts replace the sanitizing programs.
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct {
  int status;
  char out[16384]; // standard output and standard error
} script_result;

static char folder[] = "/tmp/lab-sanitize-XXXXXX";

static void enter(void) { cr_assert(mkdtemp(folder), "no temporary folder"); }

static script_result run(const char *command) {
  script_result result;
  FILE *pipe = popen(command, "r");
  cr_assert_not_null(pipe);
  result.out[fread(result.out, 1, sizeof result.out - 1, pipe)] = '\0';
  const int status = pclose(pipe);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

static void leave(void) {
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  run(command);
}

TestSuite(sanitize, .init = enter, .fini = leave);

// The program of a step: bash, with its options in $*. It notes them in the file `ran`.
static void program(const char *name, const char *body) {
  char path[64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fprintf(file, "#!/bin/bash\necho \"$*\" >>%s/ran\n%s\n", folder, body);
  fclose(file);
  cr_assert_eq(chmod(path, 0700), 0);
}

#define PASSES "echo finished >>\"$LAB_FINISHED\"; exit 0"

static script_result sanitize(const char *settings, const char *steps) {
  char command[256];
  snprintf(command, sizeof command, "%s scripts/sanitize.sh %s %s 2>&1", settings, folder, steps);
  return run(command);
}

static int lines_of_ran(const char *pattern) {
  char command[128];
  snprintf(command, sizeof command, "grep -c -e '%s' %s/ran", pattern, folder);
  return atoi(run(command).out);
}

Test(sanitize, every_shape_with_every_seed) {
  program("step04", PASSES);
  const script_result result = sanitize("SEEDS=3", "04_online_softmax");
  cr_expect_eq(result.status, 0, "%s", result.out);
  cr_expect(strstr(result.out, "sanitize: no fault in 04_online_softmax (3 orders of threads"),
            "%s", result.out);
  const int shapes = atoi(run("grep -c -e '^every ' -e '^04_' scripts/sanitize_shapes.txt").out);
  cr_expect_gt(shapes, 4);
  for (int seed = 0; seed < 3; seed++) {
    char pattern[32];
    snprintf(pattern, sizeof pattern, "--emu-seed %d$", seed);
    cr_expect_eq(lines_of_ran(pattern), shapes, "seed %d", seed);
  }
  cr_expect_eq(lines_of_ran("--emu-seed"), 3 * shapes);
}

// A build with LAB_ONE_DIM has kernels for head_dims of 33 to 64 in fp16 alone, and a shape with several key blocks.
Test(sanitize, shapes_of_a_build_for_one_head_dim) {
  program("step04", PASSES);
  script_result result = sanitize("EVERY=1 SEEDS=1", "04_online_softmax");
  cr_expect_eq(result.status, 0, "%s", result.out);
  cr_expect(lines_of_ran("--dim 128") > 0 && lines_of_ran("bf16") > 0, "%s", result.out);
  cr_expect_eq(lines_of_ran("--seq-kv 330 --dim 64"), 0, "%s", result.out);
  snprintf(result.out, sizeof result.out, "rm %s/ran", folder);
  run(result.out);
  result = sanitize("ONE_DIM=1 EVERY=1 SEEDS=1", "04_online_softmax");
  cr_expect_eq(result.status, 0, "%s", result.out);
  cr_expect(strstr(result.out, "(1 order of threads, "), "%s", result.out);
  cr_expect_eq(lines_of_ran("bf16"), 0, "%s", result.out);
  cr_expect_eq(lines_of_ran("--dim [0-9]* "), lines_of_ran("--dim \\(36\\|64\\) "), "%s",
               result.out);
  cr_expect_eq(lines_of_ran("--seq-kv 330 --dim 64"), 1, "%s", result.out);
}

Test(sanitize, a_step_has_shapes_of_its_own) {
  program("step06", PASSES);
  cr_expect_eq(sanitize("SEEDS=1", "06_cp_async").status, 0);
  cr_expect_gt(lines_of_ran("--config 16x64x4x2"), 0);
}

// The list does not know a step that a reader has made.
Test(sanitize, a_step_of_a_reader_has_the_shapes_of_its_parent) {
  char command[256];
  snprintf(command, sizeof command,
           "mkdir %s/98_mine && echo '// After: 06_cp_async' >%s/98_mine/attention.cu", folder,
           folder);
  cr_assert_eq(run(command).status, 0);
  program("step98", PASSES);
  snprintf(command, sizeof command, "SEEDS=1 STEPS_FOLDER=%s", folder);
  cr_expect_eq(sanitize(command, "98_mine").status, 0);
  cr_expect_gt(lines_of_ran("--config 16x64x4x2"), 0);
}

Test(sanitize, one_shape_that_is_asked_for) {
  program("step04", PASSES);
  cr_expect_eq(sanitize("SEEDS=2 ARGS='--seq 100 --causal'", "04_online_softmax").status, 0);
  cr_expect_eq(lines_of_ran("^--seq 100 --causal --no-check"), 2);
  cr_expect_eq(lines_of_ran("."), 2);
}

Test(sanitize, stops_a_step_at_its_first_fault) {
  program("step04", "[[ $* == *'--emu-seed 1'* ]] || { " PASSES "; }\n"
                    "echo '========= Race reported' >&2\nexit 1");
  program("step05", PASSES);
  const script_result result = sanitize("SEEDS=4", "04_online_softmax 05_wmma");
  cr_expect_eq(result.status, 1, "%s", result.out);
  cr_expect(strstr(result.out, "seed 1\n========= Race reported\n"), "%s", result.out);
  cr_expect(strstr(result.out, "  ok    05 "), "the next step was not looked at: %s", result.out);
  cr_expect(strstr(result.out, "sanitize: faults in 04_online_softmax\n"), "%s", result.out);
  cr_expect_eq(lines_of_ran("--emu-seed 2"),
               atoi(run("grep -c -E '^(every|05_wmma) ' scripts/sanitize_shapes.txt").out),
               "of step 05 alone");
}

Test(sanitize, skips_what_a_step_cannot_take) {
  program("step04", "[[ $* == *'--seq 1 '* || $* == *'--dim 7 '* ]] || { " PASSES "; }\n"
                    "case $* in *'--dim 7 '*) why='an odd one' ;; *) why='too long: no' ;; esac\n"
                    "echo \"error: step 04 cannot take $6, kv $4: $why\" >&2\nexit 2");
  script_result result = sanitize("SEEDS=2", "04_online_softmax");
  cr_expect_eq(result.status, 0, "%s", result.out);
  // A line for each reason, which names the shape where it is of one alone.
  const int shapes = atoi(run("grep -e '^every ' -e '^04_' scripts/sanitize_shapes.txt | "
                              "grep -c -e '--seq 1 '")
                              .out);
  cr_expect_gt(shapes, 1);
  char line[128];
  snprintf(line, sizeof line, "\n  skip  04, %d shapes: too long: no (VERBOSE=1 lists them)\n",
           shapes);
  cr_expect(strstr(result.out, line), "%s is not in: %s", line, result.out);
  cr_expect(strstr(result.out, "\n  skip  04 --batch 1 --heads 1 --seq-q 130 --seq-kv 33 --dim 7 "
                               "--causal: step 04 cannot take "),
            "%s", result.out);
  result = sanitize("SEEDS=2 VERBOSE=1", "04_online_softmax");
  int lines = 0;
  for (const char *at = result.out; (at = strstr(at, "  skip  04 --batch")); at++) lines++;
  cr_expect_eq(lines, shapes + 1, "%s", result.out);
  result = sanitize("SEEDS=2 ARGS='--seq 1 --dim 1'", "04_online_softmax");
  cr_expect_eq(result.status, 2, "%s", result.out);
}

Test(sanitize, other_failures_are_failures) {
  program("step04", "echo 'error: no such option' >&2\nexit 2");
  cr_expect_eq(sanitize("SEEDS=2", "04_online_softmax").status, 1);
  program("step04", "kill -SEGV $$");
  cr_expect_eq(sanitize("SEEDS=2", "04_online_softmax").status, 1);
  program("step04", "echo 'error: step 04 cannot take it: so it says' >&2\nexit 1");
  cr_expect_eq(sanitize("SEEDS=2", "04_online_softmax").status, 1);
  // It ends with 0, and has not come to its end.
  program("step04", "exit 0");
  const script_result ended = sanitize("SEEDS=2", "04_online_softmax");
  cr_expect_eq(ended.status, 1, "%s", ended.out);
  cr_expect(strstr(ended.out, "step04 ended with status 0, but the program had not finished"), "%s",
            ended.out);
  cr_expect_eq(sanitize("SEEDS=none", "04_online_softmax").status, 2);
}

// The programs say which kernels they have launched, in the file of EMU_KERNELS.
Test(sanitize, a_kernel_that_no_shape_reaches_is_a_failure) {
  program("step04",
          "echo compiled kernel_a >>\"$EMU_KERNELS\"; echo compiled kernel_b >>\"$EMU_KERNELS\"\n"
          "[[ $* != *'--seq 1 --dim 64'* ]] || echo launched kernel_a >>\"$EMU_KERNELS\"\n" PASSES);
  program("step05", "echo launched kernel_a >>\"$EMU_KERNELS\"\n" PASSES);
  script_result result = sanitize("SEEDS=1", "04_online_softmax 05_wmma");
  cr_expect_eq(result.status, 1, "%s", result.out);
  cr_expect(strstr(result.out,
                   "  FAIL  04 has kernels that no shape of scripts/sanitize_shapes.txt reaches"),
            "%s", result.out);
  cr_expect(strstr(result.out, "        kernel_b\n"), "%s", result.out);
  cr_expect(!strstr(result.out, "        kernel_a\n"), "%s", result.out);
  cr_expect(strstr(result.out, "sanitize: faults in 04_online_softmax\n"), "%s", result.out);
  result = sanitize("SEEDS=1 ARGS='--seq 1 --dim 64'", "04_online_softmax");
  cr_expect_eq(result.status, 0, "what ARGS does not reach was not asked for: %s", result.out);
}
