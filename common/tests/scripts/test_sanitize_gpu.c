// scripts/sanitize_gpu.sh: how it reads the answers of compute-sanitizer.
// A script with recorded answers of NVIDIA's program replaces it.
#define _GNU_SOURCE
#include "tests/kept.h"
#include "toolkit.h"

// Finds something with racecheck on head_dim 128, and with $EVERYWHERE on all shapes; refuses head_dim 7;
// notes what it was asked.
#define SANITIZER                                                                                  \
  "#!/bin/bash\n"                                                                                  \
  "echo \"$*\" >>ran\n"                                                                            \
  "echo \"$LAB_LIMIT\" >>limits\n"                                                                 \
  "echo '========= COMPUTE-SANITIZER'\n"                                                           \
  "echo 'step,device'\n"                                                                           \
  "case $* in\n"                                                                                   \
  "*'--tool racecheck '*'--dim 128'*)\n"                                                           \
  "  echo '========= Error: Race reported between Write access at k+0x70 in attention.cu:5'\n"     \
  "  echo '=========     and Read access at k+0x90 in attention.cu:7 [4 hazards]'\n"               \
  "  echo '========= '\n"                                                                          \
  "  echo '========= Error: a second finding'\n"                                                   \
  "  exit 9 ;;\n"                                                                                  \
  "*\"--tool ${EVERYWHERE:-none} \"*) sleep 0.1; echo '========= Error: here, too'; exit 9 ;;\n"   \
  "*'--dim 7 '*) echo 'error: step 99_recorded cannot take it' >&2; exit 2 ;;\n"                   \
  "*'--size '*) echo 'error: there is no option --size' >&2; exit 2 ;;\n"                          \
  "esac\n"                                                                                         \
  "echo '========= ERROR SUMMARY: 0 errors'\n" FINISHES

static void enter(void) {
  toolkit_enter();
  toolkit_write("bin/compute-sanitizer", SANITIZER);
  cr_assert(chmod("bin/compute-sanitizer", 0700) == 0);
  cr_assert(setenv("COMPUTE_SANITIZER", "bin/compute-sanitizer", 1) == 0);
}

TestSuite(sanitize_gpu, .init = enter, .fini = toolkit_leave);

Test(sanitize_gpu, a_table_and_the_first_finding) {
  const script_result result = toolkit_run("scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "FAIL 99 racecheck: programs/step99 --batch", "Race reported", "[4 hazards]\n",
         "step memcheck racecheck initcheck synccheck\n", "99_recorded ok FAIL ok ok\n",
         "sanitize: findings in 99 racecheck\n");
  cr_expect(!strstr(result.out, "a second finding"), "%s", result.out);
}

Test(sanitize_gpu, nothing_is_known_where_nothing_ran) {
  script_result result =
      toolkit_run("ARGS='--dim 7 ' scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "99_recorded skip skip skip skip\n",
         "error: 99_recorded can take none of these shapes, so nothing is known of it\n");
  result = toolkit_run("ARGS='--size 7' scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: there is no option --size\n");
}

// A shape is refused with status 2. Under any other the words are no refusal.
Test(sanitize_gpu, a_finding_in_a_shape_that_is_refused) {
  const script_result result = toolkit_run(
      "sed -i \"s/cannot take it' >&2; exit 2/cannot take it' >\\&2; exit 9/\" "
      "bin/compute-sanitizer "
      "&& ARGS='--dim 7 ' TOOLS=memcheck scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 1, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "sanitize: findings in 99 memcheck\n");
}

// The tools slow a kernel down, so it may take longer than elsewhere, unless the user says how long.
Test(sanitize_gpu, kernels_have_ten_minutes) {
#define LIMITS                                                                                     \
  "ARGS='--seq 3' TOOLS=memcheck scripts/sanitize_gpu.sh p 99_recorded >log; cat limits"
  cr_assert(unsetenv("LAB_LIMIT") == 0);
  cr_expect_str_eq(kept(toolkit_run(LIMITS).out), "600\n");
  cr_expect_str_eq(kept(toolkit_run("export LAB_LIMIT=7; " LIMITS).out), "600\n7\n");
}

// However many run at a time: of a pair its first finding in the order of the shapes, and no other.
Test(sanitize_gpu, one_finding_for_a_pair) {
  for (int jobs = 1; jobs <= 4; jobs += 3) {
    char command[128];
    snprintf(command, sizeof command,
             "rm -f ran; EVERYWHERE=memcheck JOBS=%d scripts/sanitize_gpu.sh p 99_recorded 2>&1",
             jobs);
    const script_result result = toolkit_run(command);
    EXPECT(result, "FAIL 99 memcheck: p/step99 --batch 1 --heads 1 --seq 1 --dim 1\n",
           "here, too\n", "FAIL 99 racecheck: ", "99_recorded FAIL FAIL ok ok\n",
           "sanitize: findings in 99 memcheck, 99 racecheck\n");
    const char *first = strstr(result.out, "FAIL  99 memcheck");
    cr_assert(first);
    cr_expect(!strstr(first + 1, "FAIL  99 memcheck"), "%s", result.out);
    const script_result ran = toolkit_run("grep -c 'tool memcheck' ran");
    cr_expect_eq(atoi(ran.out), jobs, "%d runs at a time, and %s with memcheck", jobs, ran.out);
  }
}

Test(sanitize_gpu, no_finding) {
  const script_result result =
      toolkit_run("TOOLS='memcheck synccheck' scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 0, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "99_recorded ok ok\n", "sanitize: no finding in 99_recorded");
  const script_result ran =
      toolkit_run("sort -u ran | wc -l; grep -c '^every' scripts/sanitize_shapes.txt");
  int runs = 0;
  int shapes = 0;
  cr_assert_eq(sscanf(ran.out, "%d %d", &runs, &shapes), 2, "%s", ran.out);
  cr_expect_eq(runs, 2 * shapes);
}

Test(sanitize_gpu, the_first_finding_ends_it) {
  for (int jobs = 1; jobs <= 7; jobs += 6) {
    char command[128];
    snprintf(
        command, sizeof command,
        "rm -f ran; FIRST=1 JOBS=%d scripts/sanitize_gpu.sh programs 99_recorded 2>&1; cat ran",
        jobs);
    const script_result result = toolkit_run(command);
    EXPECT(result, "99_recorded ok FAIL - -\n");
    if (jobs == 1) cr_expect(!strstr(result.out, "--tool initcheck"), "%s", result.out);
  }
}

Test(sanitize_gpu, one_shape_that_no_step_takes) {
  const script_result result = toolkit_run(
      "ARGS='--dim 7 --seq 3' TOOLS=memcheck scripts/sanitize_gpu.sh p 99_recorded 2>&1");
  EXPECT(result, "99_recorded skip\n");
}

Test(sanitize_gpu, without_the_tool) {
  const script_result result =
      toolkit_run("COMPUTE_SANITIZER=/none scripts/sanitize_gpu.sh programs 99_recorded 2>&1");
  cr_expect_eq(result.status, 2, "it ended with %d: %s", result.status, result.out);
  EXPECT(result, "error: sanitize on the GPU needs compute-sanitizer");
}
