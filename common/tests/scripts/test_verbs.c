// Tests which files the verbs leave in a fresh clone, and how two verbs affect each other.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/kept.h"

// Builds the files that the verbs below need, once, here: a copy of a file is as new as its sources' copies.
static void build_once(void) {
  const char *const files[] = {
      ("MODE= build/cpu/ladder build/cpu/budget build/cpu/step01 build/cpu/step01.so "
       "build/cpu/step06.so"),
      "MODE=sanitize build/cpu-sanitize/step01",
      "MODE=count build/cpu-count/step01.so build/cpu-count/count build/cpu-count/ladder"};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    const script_result built = lab_run(MAKE "-f make/build.mk --silent %s", files[i]);
    EXPECT_STATUS(built, 0);
  }
}

// Enters a copy of the working tree, as a clone in which nothing has changed, in a folder whose name has a blank.
static void clone_lab(void) {
  lab_enter();
  if (lab_run("git ls-files --error-unmatch Makefile").status != 0) {
    lab_leave();
    cr_skip_test("this is no clone of the lab, as git says");
  }
  build_once();
  // Files that git knows and are removed here are missing in the copy, too.
  const script_result sources =
      lab_run("mkdir '%s/the lab' && git ls-files -z --cached --others --exclude-standard | "
              "xargs -0 cp -a --parents -t '%s/the lab'; test -f '%s/the lab/Makefile'",
              lab_work, lab_work, lab_work);
  EXPECT_STATUS(sources, 0);
  // The built files take hundreds of megabytes, and no build writes into a file that is there. So the clone has hard
  // links to them, or copies where it lies on another file system.
  const script_result copied = lab_run(
      "built() { find build/cpu build/cpu-count build/cpu-sanitize '(' -name tests -o -name "
      "elsewhere -o -name '*.part' ')' -prune -o -type f -print0; }; to='%s/the lab'; "
      "built | xargs -0 cp -al --parents -t \"$to\" 2>/dev/null || "
      "built | xargs -0 cp -a --parents -t \"$to\"; test -f \"$to/build/cpu/ladder\"",
      lab_work);
  EXPECT_STATUS(copied, 0);
  // The clone takes from this repository the objects that are the same, as `git clone --shared` does. To write thousands
  // of them into files of their own would take most of the time of these tests.
  const script_result objects = lab_run("realpath \"$(git rev-parse --git-path objects)\"");
  EXPECT_STATUS(objects, 0);
  cr_assert(chdir(lab_work) == 0 && chdir("the lab") == 0 && unsetenv("LAB_WORK") == 0);
  const script_result committed =
      lab_run("git init -q . && echo '%.*s' >.git/objects/info/alternates && git add -A && "
              "git -c user.name=a -c user.email=a@b.c commit -qm all",
              (int)strcspn(objects.out, "\n"), objects.out);
  EXPECT_STATUS(committed, 0);
}

static void leave(void) { lab_run("rm -rf %s", lab_work); }

TestSuite(verbs, .init = clone_lab, .fini = leave, .timeout = 240);

static void expect_clean(const char *verb) {
  const script_result status = lab_run("git status --porcelain --untracked-files=all");
  cr_expect_str_empty(status.out, "%s leaves: %s", verb, status.out);
}

Test(verbs, leave_a_clone_clean) {
  const char *const verbs[] = {
      "help",
      "doctor",
      "step01 run ARGS='--seq 9 --out out.tmp'",
      "step01 ladder ARGS='--seq 9'",
      "step06 sweep ARGS='--seq 9 --heads 1'",
      "step01 count ARGS='--seq 9'",
      "step01 sanitize ARGS='--seq 9' SEEDS=1",
      "step06 budget",
      "tables",
      "step02 exercise FROM=01",
      "step02 ladder WORK=1 ARGS='--seq 9'",
      "step04 hint",
      "hunt BUG=1",
  };
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    const script_result result = lab_run(MAKE "%s", verbs[i]);
    EXPECT_STATUS(result, 0);
    expect_clean(verbs[i]);
  }
  const script_result recorded = lab_run("cd results/emulated-nvidia-h200 && ls *.csv");
  cr_expect_str_eq(recorded.out, "counts-lines.csv\ncounts.csv\nladder.csv\nsweep-06.csv\n", "%s",
                   recorded.out);
  // A ladder of the reader's own makes no table stale, whatever GPU it is of.
  const script_result checked =
      lab_run("cp -r plots/data/nvidia-h200 results && sed -i 's/,ok,/,FAILED,/' "
              "results/nvidia-h200/*.csv && " MAKE "tables-check");
  EXPECT_STATUS(checked, 0);
}

// Files that are whole: the last line of a CSV, the first bytes of a chart.
#define WHOLE                                                                                      \
  "cd results/emulated-nvidia-h200 && tail -qn 1 ladder.csv counts.csv | cut -d , -f 1; "          \
  "head -qc 5 *.svg; find . -name '*.tmp' -o -name '*.part'"

Test(verbs, two_at_once) {
  const script_result result = lab_run(
      "one() { " MAKE "$1 ARGS=\"$2\" || { echo '%s'; exit 1; }; }; "
      "one 'step01 build' || exit; for i in 1 2; do "
      "one 'step01 ladder' '--seq 9' & first=$!; one 'step01 ladder' '--seq 9' & second=$!; "
      "one 'step01 count' '--seq 9' & wait $first && wait $second && wait $! || exit; "
      "done >log.tmp || { cat log.tmp; exit 1; }",
      "failed");
  EXPECT_STATUS(result, 0);
  const script_result files = lab_run("%s", WHOLE);
  const bool drawn = lab_run("command -v gnuplot").status == 0;
  cr_expect_str_eq(files.out, drawn ? "01_naive\n01_naive\n<?xml<?xml" : "01_naive\n01_naive\n",
                   "%s", files.out);
  expect_clean("two at once");
}

// Those that need a GPU, or minutes: make says where they write, and nothing else names the published record.
TestSuite(verbs_gpu, .init = lab_enter, .fini = lab_leave);

Test(verbs_gpu, write_below_results_alone, .timeout = 120) {
  const char *const verbs[] = {"ladder-now", "step06 sweep", "bench",    "ceilings",
                               "peers",      "spread",       "shapes",   "count-now",
                               "calibrate",  "bugs",         "variants", "bench DECODE=1"};
  // A Python that has whatever is asked of it.
  const script_result python =
      lab_run("cd %s && printf '#!/bin/bash\\n' >python3 && chmod +x python3", lab_work);
  EXPECT_STATUS(python, 0);
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    const script_result result =
        lab_run("PATH=%s:$PATH " MAKE "-n %s DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a JOBS=1 | "
                "grep -e results -e plots/data",
                lab_work, verbs[i]);
    EXPECT_STATUS(result, 0);
    cr_expect(strstr(result.out, "'results'"), "%s: %s", verbs[i], result.out);
    cr_expect_null(strstr(result.out, "plots/data"), "%s: %s", verbs[i], result.out);
  }
  const script_result others =
      lab_run("grep -l '^[^#]*plots/data' Makefile make/*.mk scripts/*.sh scripts/*/*.sh; grep -rl "
              "plots/data common --include='*.c' --include='*.py' --exclude-dir=tests");
  cr_expect_str_eq(others.out,
                   "scripts/book.sh\nscripts/plot.sh\nscripts/publish.sh\nscripts/tables.sh\n"
                   "scripts/workshop/hunt.sh\n",
                   "%s", others.out);
}

// A step that does not come after the one before it by number stands beside the step that it comes after.
Test(verbs, ncu_takes_the_parent_as_well) {
  static const char steps_of[] = MAKE
      "-n %s ncu DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a | grep -o 'gpu/step[0-9]*' | sort -u | "
      "tr '\\n' ' '";
  cr_expect_str_eq(kept(lab_run(steps_of, "step05").out), "gpu/step04 gpu/step05 ");
  cr_expect_str_eq(kept(lab_run(steps_of, "step24").out), "gpu/step17 gpu/step24 ");
  cr_expect_str_eq(kept(lab_run(steps_of, "step01").out), "gpu/step01 ");
}

Test(verbs, decode_takes_the_steps_that_split_the_keys_and_peers_the_others) {
  static const char steps_of[] = MAKE "-n %s DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a | "
                                      "grep -o 'step[0-9]*[.]so' | sort -u | tr '\\n' ' '";
  const script_result decode = lab_run(steps_of, "decode");
  cr_expect_str_eq(decode.out, "step09.so step17.so step18.so step19.so step20.so step25.so ");
  const script_result same = lab_run(steps_of, "bench DECODE=1");
  cr_expect_str_eq(same.out, decode.out);
  const script_result waves = lab_run(steps_of, "waves");
  cr_expect_str_eq(waves.out, "step17.so step18.so step20.so step24.so step26.so ");
  const script_result peers = lab_run(steps_of, "peers");
  EXPECT(peers, "step09.so ", "step17.so ");
  cr_expect(!strstr(peers.out, "step18") && !strstr(peers.out, "step20") &&
                !strstr(peers.out, "step26"),
            "%s", peers.out);
  const script_result bench = lab_run(steps_of, "bench");
  EXPECT(bench, "step01.so ", "step17.so ");
  cr_expect(!strstr(bench.out, "step18") && !strstr(bench.out, "step20"), "%s", bench.out);
  const script_result named = lab_run(steps_of, "step01 step18 bench");
  cr_expect_str_eq(named.out, "step01.so step18.so ", "%s", named.out);
  const script_result decode_named = lab_run(steps_of, "step01 step18 bench DECODE=1");
  cr_expect_str_eq(decode_named.out, named.out);
}

Test(verbs, bench_writes_decode_into_a_file_of_its_own) {
  static const char bench[] =
      MAKE "-n bench %s DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a | grep -v scripts/build.sh";
  script_result result = lab_run(bench, "DECODE=1 QUICK=1");
  EXPECT(result, "/bench 'results' bench-decode ", " -- --decode --quick");
  cr_expect(!strstr(result.out, "plot.sh"), "a chart has no such file: %s", result.out);
  result = lab_run(bench, "DECODE=1 NAME=mine");
  EXPECT(result, "/bench 'results' mine ", " -- --decode");
  result = lab_run(bench, "");
  EXPECT(result, "/bench 'results' bench ", "plot.sh --afterwards --data ");
  cr_expect(!strstr(result.out, "--decode"), "%s", result.out);
}
