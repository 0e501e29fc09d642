// Tests which recordings and words the program refuses, and with which sentence.
#define _GNU_SOURCE
#include "recordings.h"

static void enter(void) { program_find("LAB_COMPARE"); }
TestSuite(refusals, .init = enter, .fini = temporary_folder_leave);

Test(refusals, refuses_another_gpu) {
  record("a", 1);
  writer b = begin("b");
  b.device = "NVIDIA A100";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  program_expect_refused("a.csv b.csv", "error: a.csv is of an NVIDIA H200 and b.csv of an NVIDIA "
                                        "A100: times of different GPUs say nothing about the code");
}

Test(refusals, refuses_what_it_cannot_pair) {
  record("a", 1);
  writer other = begin("other");
  add(&other, "05_wmma", 256, 20, 100);
  end(&other);
  writer twice = begin("twice");
  add(&twice, "05_wmma", 512, 20, 100);
  add(&twice, "05_wmma", 512, 20, 100);
  end(&twice);
  program_expect_refused("a.csv other.csv", "error: no row was timed in both a.csv and other.csv");
  program_expect_refused("a.csv twice.csv",
                         "error: lines 3 and 4 of twice.csv are of the same step and shape "
                         "(05_wmma, 1x32x512x64 fp16 causal)");
  program_expect_refused("a.csv a.csv --a 05 --b 07",
                         "error: a.csv has no step \"07\": it has 05_wmma, 06_cp_async");
  program_expect_refused("a.csv a.csv --a 0 --b 06", "error: a.csv has no step \"0\"");
  program_expect_refused("a.csv a.csv --a 5_ --b 06", "error: a.csv has no step \"5_\"");
  program_expect_refused("a.csv none.csv", "error: cannot open none.csv: No such file");
  program_expect_refused("a.csv none", "error: none is no record");
}

// A row that differs in a single column is another row.
Test(refusals, every_part_of_the_shape_counts) {
  static const char *const keys[] = {
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "06_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "05_wmma,c,NVIDIA H200,fp16,2,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,bf16,2,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,3,8,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,9,8,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,9,512,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,513,512,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,513,64,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,65,1",
      "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,0",
  };
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    const char *const names[] = {"a", "b"};
    for (size_t k = 0; k < 2; k++) {
      const writer writer = begin(names[k]);
      add_key(&writer, keys[k ? i : 0], 20, 100);
      end(&writer);
    }
    if (i == 0) {
      program_expect_good("a.csv b.csv");
    } else {
      program_expect_refused("a.csv b.csv", "error: no row was timed in both a.csv and b.csv");
    }
  }
}

Test(refusals, refuses_several_configurations) {
  const writer a = begin("a");
  add_key(&a, "05_wmma,,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  add_key(&a, "06_cp_async,64x64,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 100);
  add_key(&a, "06_cp_async,32x64,NVIDIA H200,fp16,2,8,8,512,512,64,1", 20, 110);
  end(&a);
  const program_result result = program_expect_good("a.csv a.csv");
  EXPECT(result, 0, "06_cp_async 64x64", "06_cp_async 32x64", "3 no difference");
  program_expect_refused("a.csv a.csv --a 05 --b 06",
                         "error: a.csv has several configurations of 06_cp_async (lines 4 and 5)");
}

Test(refusals, refuses_samples_of_another_run) {
  record("a", 1);
  writer b = begin("b");
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  cr_assert(rename("b-samples.csv", "kept") == 0);
  program_expect_refused("a.csv b.csv",
                         "error: there is no b-samples.csv with the raw samples of b.csv");
  b = begin("b"); // the rows of one run, the samples of another
  b.commit = "def";
  add(&b, "05_wmma", 512, 20, 100);
  end(&b);
  cr_assert(rename("kept", "b-samples.csv") == 0);
  program_expect_refused("a.csv b.csv", "error: b-samples.csv has no samples for line 3 of b.csv "
                                        "(05_wmma, 1x32x512x64 fp16 causal, commit def");
}

Test(refusals, refuses_samples_that_are_no_times) {
  record("a", 1);
  static const struct {
    const char *samples;
    const char *sentence;
  } cases[] = {
      {"0,1.0 x", "error: sample 2 in line 2 of b-samples.csv is no time: \"x\""},
      {"0,1.0 -2.0", "error: sample 2 in line 2 of b-samples.csv is no time: \"-2.0\""},
      {"0,1.0;2.0", "error: sample 1 in line 2 of b-samples.csv is no time: \"1.0;2.0\""},
      {"0,1.0 2.0 3.0", "error: b-samples.csv has 3 samples in 1 rounds for line 3 of b.csv, which "
                        "says 2 in 1"},
      {"0,1.0", "error: b-samples.csv has 1 samples in 1 rounds for line 3 of b.csv"},
      {"0,", "error: line 2 of b-samples.csv has no samples"},
      {"1,1.0 2.0", "error: line 2 of b-samples.csv is of round 1, and should be of round 0 of 1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    writer b = begin("b");
    add(&b, "05_wmma", 512, 1, 100);
    end(&b);
    FILE *samples = fopen("b-samples.csv", "w");
    fprintf(samples,
            SAMPLES_HEADER "05_wmma,,NVIDIA H200,fp16,1,32,32,512,512,64,1,abc,"
                           "2026-11-20T14:38:37Z,%s\n",
            cases[i].samples);
    fclose(samples);
    program_expect_refused("a.csv b.csv", cases[i].sentence);
  }
}

// A terminal obeys the escape codes that it receives, so cells, names and options must pass none on.
Test(refusals, shows_no_escape_codes) {
  record("a", 1);
  writer red = begin("red");
  add(&red, "05_\033[31mwmma", 512, 20, 100);
  end(&red);
  program_expect_refused("a.csv red.csv", "error: line 3 of red.csv holds the byte 0x1b where a");
  record("\033[31mred", 1);
  const program_result result = program_expect_good("a.csv \033[31mred.csv");
  cr_expect(strstr(result.out, "new: \\x1b[31mred.csv, commit"), "%s", result.out);
  program_expect_refused("a.csv \033[2Jnone.csv", "error: cannot open \\x1b[2Jnone.csv: No such");
  program_expect_refused("a.csv --\033[2J 1", "error: there is no option --\\x1b[2J");
  program_expect_refused("a.csv a.csv --threshold \a",
                         "error: the threshold in percent is \"\\x07\"");
}

Test(refusals, refuses_a_pipe) {
  record("a", 1);
  cr_assert(mkfifo("pipe.csv", 0600) == 0 && mkfifo("pipe-samples.csv", 0600) == 0);
  program_expect_refused("a.csv pipe.csv", "error: pipe.csv is a pipe or a device");
  cr_assert(unlink("pipe.csv") == 0 && link("a.csv", "pipe.csv") == 0);
  program_expect_refused("a.csv pipe.csv", "error: pipe-samples.csv is a pipe or a device");
}

Test(refusals, refuses_bad_usage) {
  record("a", 1);
  program_expect_refused("a.csv", "error: give the two recordings, such as make compare OLD=");
  program_expect_refused("a.csv a.csv a.csv", "error: a.csv is one file too many");
  program_expect_refused("a.csv a.csv --a 05", "error: give both steps, such as A=05 B=06");
  program_expect_refused("a.csv a.csv --b 05", "error: give both steps, such as A=05 B=06");
  program_expect_refused("a.csv a.csv --a", "error: --a is the last word");
  program_expect_refused("a.csv a.csv --threshold -1", "error: the threshold is -1");
  program_expect_refused("a.csv a.csv --threshold 3x", "error: the threshold in percent is \"3x\"");
  program_expect_refused("a.csv a.csv --fast 1", "error: there is no option --fast");
  const program_result help = program_expect_good("--help");
  cr_expect(program_begins(help.out, "usage: compare OLD.csv NEW.csv"));
}
