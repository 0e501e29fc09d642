// Runs the program of a step for several GPUs whose ranks fail. LAB_SABOTAGED_GROUP is that of sabotaged_group.c.
#define _GNU_SOURCE
#include "program.h"
#include <time.h>

static void find_sabotaged(void) { program_find("LAB_SABOTAGED_GROUP"); }

TestSuite(group_program, .init = find_sabotaged, .fini = temporary_folder_leave, .timeout = 120);

#define OPTIONS "--gpus 3 --batch 1 --heads 2 --seq 300 --dim 64 --no-check"

// A rank that fails in the middle ends all ranks within ten seconds, with a sentence and status 1.
Test(group_program, ends_with_the_rank_that_fails) {
  const struct {
    const char *kind;
    int status;
    const char *sentence; // of stderr
  } cases[] = {
      {"nothing", 0, ""},
      {"launch", 1, "error: launching the step failed: "},
      {"leaves", 1, "error: the exchange between the GPUs failed: NCCL reports "},
      {"shape", 1, "error: "},
      {"hangs", 1, "error: rank "},
      {"unsupported", 2,
       "error: 00_sabotaged cannot take 1x2x300x64 fp16 on 3 GPUs: it takes none\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    setenv("SABOTAGE", cases[i].kind, 1);
    setenv("LAB_LIMIT", strcmp(cases[i].kind, "hangs") == 0 ? "1" : "8", 1);
    const time_t begin = time(NULL);
    const program_result result = program_run(OPTIONS);
    cr_expect_leq(time(NULL) - begin, 10, "%s took too long", cases[i].kind);
    cr_expect_eq(result.status, cases[i].status, "%s ended with %d: %s", cases[i].kind,
                 result.status, result.err);
    cr_expect(*cases[i].sentence ? (strstr(result.err, cases[i].sentence) != NULL) : !*result.err,
              "%s said: %s", cases[i].kind, result.err);
    cr_expect(strcmp(cases[i].kind, "hangs") != 0 ||
                  strstr(result.err, "note: rank 1 does not come back from a call"),
              "it does not say which rank hangs: %s", result.err);
    cr_expect(cases[i].status == 0 || !*result.out, "%s printed: %s", cases[i].kind, result.out);
  }
}

// The step computes nothing, so its result is wrong, and must not be found in a file.
Test(group_program, writes_no_wrong_result) {
  const program_result result = program_run("--gpus 2 --heads 1 --seq 64 --dim 64 --out O.npy");
  cr_expect_eq(result.status, 1, "%s", result.err);
  cr_expect(strstr(result.err, "note: nothing was written to O.npy, because the result is wrong\n"),
            "%s", result.err);
  cr_expect_eq(temporary_folder_count(), 0);
}

// Where the GPUs do not reach each other's memory, a line says that the host's memory is on the way.
Test(group_program, tells_that_data_go_through_the_host) {
  setenv("EMU_PEER_ACCESS", "0", 1);
  const program_result result = program_run(OPTIONS);
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(program_begins(result.err, "note: GPU 0 cannot reach the memory of GPU 1: their data "
                                       "goes through the memory of the host"),
            "%s", result.err);
  cr_expect_str_eq(strchrnul(result.err, '\n'), "\n", "not one line: %s", result.err);
}

// Each of up to four ranks has two pieces of 128 rows, unless a length is given.
Test(group_program, has_rows_for_all_ranks) {
  const struct {
    const char *options, *shape;
  } cases[] = {{"", "seq 1024, dim 64"},
               {" --seq 300", "seq 300, dim 64"},
               {" --seq-q 300", "seq_q 300, seq_kv 1024, dim 64"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char options[64];
    snprintf(options, sizeof options, "--gpus 2 --no-check%s", cases[i].options);
    const program_result result = program_run(options);
    cr_expect_eq(result.status, 0, "%s", result.err);
    cr_expect(strstr(result.out, cases[i].shape), "%s: %s", cases[i].options, result.out);
  }
}

// The workspace is that of a rank: K of 300 rows and two heads twice, and 256 bytes. In the emulator's ring each GPU sends
// to the next one two shares of K, of 100 rows, and a few bytes of the sums.
Test(group_program, reports_what_three_gpus_did) {
  setenv("SABOTAGE", "nothing", 1);
  const program_result result = program_run(OPTIONS);
  cr_expect_eq(result.status, 0, "%s", result.err);
  cr_expect(strstr(result.out, "\ngpus       3\ndevice     Emulated "), "%s", result.out);
  cr_expect(strstr(result.out, "\nworkspace  153856 bytes\n"), "%s", result.out);
  const char *links = strstr(result.out, "\nlinks ");
  int bytes[3], to[3], read = 0;
  cr_assert(links, "%s", result.out);
  const int found = sscanf(links,
                           "\nlinks from GPU 0: %d bytes to %d\nlinks from GPU 1: %d bytes to %d\n"
                           "links from GPU 2: %d bytes to %d%n",
                           &bytes[0], &to[0], &bytes[1], &to[1], &bytes[2], &to[2], &read);
  cr_expect(found == 6 && to[0] == 1 && to[1] == 2 && to[2] == 0, "%s", links);
  cr_expect_str_eq(links + read, "\n");
  for (int i = 0; i < 3; i++) cr_expect(bytes[i] > 51200 && bytes[i] < 51300, "%s", links);
  const program_result csv = program_run(OPTIONS " --csv");
  cr_expect(csv.status == 0 && !strstr(csv.out, "links"), "%s", csv.out);
}

// Where no number is given there are not more ranks than rows or keys.
Test(group_program, leaves_no_gpu_without_rows) {
  setenv("SABOTAGE", "nothing", 1);
  static const char *const lengths[] = {"--seq-q 1 --seq-kv 8", "--seq-q 8 --seq-kv 1"};
  for (size_t i = 0; i < 2; i++) {
    char options[64];
    snprintf(options, sizeof options, "--heads 2 --no-check %s", lengths[i]);
    const program_result result = program_run(options);
    cr_expect(result.status == 0 && strstr(result.out, "\ngpus       1\n"), "%s: %s%s", lengths[i],
              result.out, result.err);
  }
}

// Of a step that was asked for O alone, the check says nothing of lse.
Test(group_program, o_alone) {
  setenv("SABOTAGE", "nothing", 1);
  const program_result result = program_run("--gpus 2 --heads 1 --seq 64 --dim 64 --o-alone");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.out, "\ncheck      FAILED: ") &&
                strstr(result.out, "; lse was not asked for\n"),
            "%s", result.out);
}

Test(group_program, refuses) {
  program_expect_refused("--gpus 9 --seq 900 --no-check", // more than the emulator imitates
                         "error: --gpus is 9, and there are 8: give at most as many\n");
  setenv("EMU_GPUS", "4", 1);
  program_expect_refused("--gpus 5 --seq 900 --no-check", "error: --gpus is 5, and there are 4: ");
  program_expect_refused("--gpus 3 --seq-q 2 --seq-kv 9",
                         "error: 3 GPUs cannot take 2 rows of the queries: ");
  program_expect_refused("--mpi --seq 8", "error: --mpi needs MPI, ");
}
