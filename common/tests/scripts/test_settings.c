// Values that a user gives to make as NAME=value: no part of them is run, and a folder may have any name.
#define _GNU_SOURCE
#include "lab.h"

TestSuite(settings, .init = lab_enter, .fini = lab_leave);

static void nothing_was_run(void) {
  const script_result found = lab_run("find %s . -maxdepth 2 -name 'ran*'", lab_work);
  cr_expect_str_empty(found.out, "something was run: %s", found.out);
}

// make/settings.mk by itself fails in both cases: it refuses the value, or has no target.
static void expect_judged(const char *name, const char *value, const char *words) {
  cr_assert(setenv("VALUE", value, 1) == 0);
  const char *const commands[] = {"env -u MAKEFLAGS make -f make/settings.mk %s=\"$VALUE\"",
                                  "env -u MAKEFLAGS %s=\"$VALUE\" make -f make/settings.mk"};
  for (int i = 0; i < 2; i++) {
    char command[128];
    snprintf(command, sizeof command, commands[i], name);
    const script_result result = lab_run("%s", command);
    EXPECT_STATUS(result, 2);
    cr_expect(strstr(result.out, words), "%s=%s: %s", name, value, result.out);
  }
}

Test(settings, what_is_no_word_is_refused) {
  const char *const bad[] = {"`touch ran`",   "$(shell touch ran)",
                             "$$(touch ran)", "a;touch ran",
                             "a b",           "a'b",
                             "a\"b",          "../ran",
                             "a&b",           "a>ran",
                             "a\ntouch ran",  "a*"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    expect_judged("NAME", bad[i], "NAME is \"");
    expect_judged("NAME", bad[i], "give it letters, digits, and the signs . _ - + , : only");
  }
  const char *const names[] = {"BUG", "STEP", "DEVICE_FOLDER", "CONFIG", "SEEDS", "ARCH", "CHART"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    expect_judged(names[i], "a;touch ran", "give it letters, digits");
  }
  expect_judged("NAME", "ladder-bf16_2.1", "No targets");
  expect_judged("CHART", "speedup scaling", "No targets");
  expect_judged("ARGS", "a\nb", "ARGS holds a line break");
  const script_result lab = lab_run(MAKE "help NAME='$(shell touch ran)'");
  EXPECT_STATUS(lab, 2);
  EXPECT(lab, "NAME is \"$(shell touch ran)\"");
  nothing_was_run();
}

// On a cluster WORK is a folder of the user's, and other settings may be those of another program.
Test(settings, a_cluster_has_a_folder_work) {
  script_result result = lab_run("WORK=/cluster/anna " MAKE "-n step01 run");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "for program in build/cpu/step01; do");
  EXPECT_STATUS(lab_run(MAKE "-n step01 run WORK=/cluster/anna"), 2);
  result = lab_run("BASE=/opt " MAKE "help");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "BASE is \"/opt\": ", "It comes from the environment: unset BASE takes it out");
}

// The name of the machine, which some systems have in the environment, is not that of a record.
Test(settings, a_name_is_given_on_the_command_line) {
  const script_result result =
      lab_run("NAME=machine " MAKE "-n step01 ladder-now variants; " MAKE "-n step01 ladder-now "
              "NAME=mine");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "build/cpu/ladder 'results' ladder build/cpu/step01.so",
         " NAME= ", "build/cpu/ladder 'results' mine build/cpu/step01.so");
}

// Settings that no program would understand are refused before anything is run.
Test(settings, wrong_numbers_and_compilers) {
  const struct {
    const char *setting;
    const char *sentence;
  } cases[] = {{"JOBS=0", "JOBS is \"0\": give the number of compilers and programs"},
               {"JOBS=x", "JOBS is \"x\": give the number of compilers and programs"},
               {"ARCH=90", "ARCH is \"90\": give names such as sm_90a"},
               {"TENTH=10", "TENTH is \"10\": give it 0 to 9"},
               {"CC=no-gcc", "CC is \"no-gcc\", and there is no such program"},
               {"CXX=no-g++", "CXX is \"no-g++\", and there is no such program"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run(MAKE "help %s", cases[i].setting);
    EXPECT_STATUS(result, 2);
    EXPECT(result, cases[i].sentence);
  }
  EXPECT_STATUS(lab_run(MAKE "help JOBS=10"), 0);
}

// A switch that is 0 is off, whether it stands behind make or in the environment.
Test(settings, switches_that_are_off) {
  const char *const commands[] = {"-f make/build.mk -n build/cpu/ladder DEBUG=",
                                  "-n bench DECODE=",
                                  "-n bench QUICK=",
                                  "-n step04 exercise FORCE=",
                                  "-n step04 check WORK=",
                                  "-n variants RECORD="};
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
    const script_result none = lab_run(MAKE "%s", commands[i]);
    const script_result off = lab_run(MAKE "%s0", commands[i]);
    const script_result on = lab_run(MAKE "%s1", commands[i]);
    EXPECT_STATUS(off, 0);
    cr_expect_str_eq(off.out, none.out, "%s0 is not off", commands[i]);
    cr_expect_str_neq(on.out, none.out, "%s1 is not on", commands[i]);
  }
  // Without a step `make bugs` records what it finds, unless it is told not to.
  const script_result bugs = lab_run(MAKE "-n bugs; RECORD=0 " MAKE "-n bugs");
  EXPECT(bugs, " RECORD=1 scripts/bugs.sh", " RECORD= scripts/bugs.sh");
}

// Every setting that the verbs' help and its list name is checked, so a new setting must be checked, too.
Test(settings, each_one_is_looked_at) {
  const script_result named =
      lab_run("sed -n 's/^[a-z-]*:.*## //p; /Settings: /,/WORK=1/p' Makefile make/*.mk | "
              "grep -o '\\b[A-Z][A-Z0-9_]*=' | tr -d = | grep -vx TERM | sort -u | "
              "while read -r name; do grep -qw \"$name\" make/settings.mk || echo \"$name\"; done");
  cr_expect_str_empty(named.out, "make/settings.mk knows nothing of: %s", named.out);
}

// ARGS is divided into words as in a shell, but not evaluated further.
Test(settings, options_are_words) {
  const struct {
    const char *args;
    const char *words;
  } cases[] = {{"--seq 9  --causal", "[--seq] [9] [--causal] "},
               {"--q 'a b.npy' \"c'd\"", "[--q] [a b.npy] [c'd] "},
               {"$(touch ran) `touch ran`; #*", "[$(touch] [ran)] [`touch] [ran`;] [#*] "},
               {"", ""},
               {"--q 'a", "error: a quote is not closed in: --q 'a\n"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cr_assert(setenv("ARGS", cases[i].args, 1) == 0);
    const script_result result = lab_run("scripts/with_args.sh printf '[%%s] '");
    const char *said = strcmp(cases[i].args, "") == 0 ? "[] " : cases[i].words;
    cr_expect_str_eq(result.out, said, "'%s': %s", cases[i].args, result.out);
  }
  const script_result run =
      lab_run(MAKE "step01 run ARGS='--q \"$(shell touch ran) $$(touch ran);.npy\"'");
  EXPECT(run, "error: --q is given without --v");
  nothing_was_run();
}

// Its step is built, run and named as the reader knows it.
Test(settings, a_folder_with_blanks_and_signs, .timeout = 120) {
#define FOLDER "my try'$(touch ran)`touch ran`\"(ä)"
  cr_assert(setenv("FOLDER", FOLDER, 1) == 0);
  EXPECT_STATUS(
      lab_run("mkdir \"%s/$FOLDER\" && cp -r steps/01_naive \"%s/$FOLDER\"", lab_work, lab_work),
      0);
#define OF_FOLDER UNOPTIMISED "step01 STEPS_FOLDER=\"%s/$FOLDER\" "
  script_result result = lab_run(MAKE OF_FOLDER "run ARGS='--seq 9'", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "STEPS_FOLDER=", "/" FOLDER "\nbuilt: ", "source ",
         "/" FOLDER "/01_naive/attention.cu\n", "check ok");
  // So does the compiler.
  EXPECT_STATUS(lab_run("echo 'int x = ;' >>\"%s/$FOLDER/01_naive/attention.cu\"", lab_work), 0);
  result = lab_run(MAKE OF_FOLDER "run", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "/" FOLDER "/01_naive/attention.cu:", ": error: ");
  result = lab_run(MAKE "help STEPS_FOLDER=\"%s/no $FOLDER\"", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "STEPS_FOLDER is \"", "/no " FOLDER "\": it holds no step");
  nothing_was_run();
  lab_run("rm -r build/folders/my_try* build/folders/no_my_try* "
          "build/cpu/elsewhere/*folders*my_*try*");
}

// It holds for every locale that the user asks for, also on make's command line.
Test(settings, recipes_run_in_the_c_locale) {
  const script_result result =
      lab_run("printf 'include make/config.mk\\nall:\\n\\t@echo $$LC_ALL\\n' | "
              "LC_ALL=de_DE.UTF-8 " MAKE "-f - LC_ALL=tr_TR.UTF-8 all");
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(result.out, "C\n", "%s", result.out);
}

// A goal that make does not know gets one sentence that names the one that was meant.
Test(settings, near_misses, .timeout = 60) {
  static const char *const misses[][2] = {
      {"05 check",
       "error: there is no \"05\": a step is named by its two digits, as in make step05 check"},
      {"step5 check",
       "error: there is no \"step5\": a step is named by its two digits, as in make step05 check"},
      {"STEP=05 check", "to work on step 05, write make step05 check"},
      {"step88 run", "error: there is no step \"step88\": the steps are step01 step02"},
      {"chek", "error: there is no verb \"chek\": do you mean make check?"},
      {"step04 sanitise",
       "error: there is no verb \"sanitise\": do you mean make step04 sanitize?"},
      {"test", "error: there is no verb \"test\": do you mean make check?"},
      {"step04 hints", "error: there is no verb \"hints\": do you mean make step04 hint?"},
      {"step 04 run",
       "error: there is no \"step 04\": a step is named by its two digits, as in make "
       "step04 run"},
      {"step 77 run", "error: there is no step \"step77\": the steps are step01 step02"},
      {"stpe4 sanitize", "error: there is no \"stpe4\": a step is named by its two digits, as in "
                         "make step04 sanitize"},
      {"step01 run ARGS=--seq 100",
       "ARGS is \"--seq\", and 100 is not part of it: put quotes around "
       "all options, as in ARGS=\"--seq 100\""},
      {"step01 run args=x", "there is no setting \"args\": write ARGS=... in capital letters"},
      {"step01 run SEQ=100",
       "there is no setting \"SEQ\": it is an option, as in ARGS=\"--seq 100\""},
      {"ladder STEPS=01",
       "there is no step \"01\": STEPS takes whole names, as in STEPS=\"01_naive"},
      {"snaitixe", "error: there is no verb \"snaitixe\": do you mean make sanitize?"},
      {"sanytise", "error: there is no verb \"sanytise\": do you mean make sanitize?"},
      {"sxnytixe", "error: there is no verb \"sxnytixe\": make help lists all"}, // three letters
      {"go", "error: there is no verb \"go\": make help lists all"}, // all letters of gdb but one
      {"xyzzy", "error: there is no verb \"xyzzy\": make help lists all"},
      {"';touch ran;'", "error: there is no verb "},
  };
  for (size_t i = 0; i < sizeof misses / sizeof *misses; i++) {
    const script_result result = lab_run(MAKE "%s", misses[i][0]);
    cr_expect_eq(result.status, 2, "%s ended with %d", misses[i][0], result.status);
    cr_expect(strstr(result.out, misses[i][1]), "%s: %s", misses[i][0], result.out);
  }
  nothing_was_run();
}

// make -B would also remake the Makefile and all that it includes, and only the rule for goals that are no verb fits them.
Test(settings, everything_can_be_made_anew) {
  const script_result result = lab_run(MAKE "-B help");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Forward attention, step by step.");
}

// CONFIG chooses the configuration of a run and of a count, as it does for the tests.
Test(settings, a_run_and_a_count_take_a_configuration) {
  script_result result = lab_run(MAKE "-n step05 run CONFIG=32x32x4 | grep with_args");
  EXPECT(result, "build/cpu/step05; do", "$program --config 32x32x4");
  result = lab_run(MAKE "-n step05 count-now MODE=count CONFIG=32x32x4 | grep with_args");
  EXPECT(result, "$step -- --config 32x32x4");
  result = lab_run(MAKE "-n step05 count-now DEVICE=gpu CUDA_HOME=/none ARCH=sm_90a CONFIG=32x32x4 "
                        "| grep with_args");
  EXPECT(result, "scripts/count_gpu.sh", "build/gpu/step05 -- --config 32x32x4");
}

// Settings that a verb would leave out without a word are refused.
Test(settings, refuse_what_a_verb_does_not_take) {
  static const struct {
    const char *goals, *sentence;
  } cases[] = {
      {"step07 sanitize CONFIG=64x64x4",
       "make sanitize does not take it: leave it out, or write ARGS="},
      {"step07 budget CONFIG=64x64x4", "make budget does not take it: leave it out."},
      {"hunt BUG=1 run SUBSTEP=77", "BUG=1 and SUBSTEP=77 are two different sources"},
      {"step04 reset PART=1", "error: PART is \"1\", and reset starts the whole file anew"},
      {"step15 substeps SUBSTEP=99", "error: SUBSTEP is \"99\", and substeps tries all of them"},
      {"fuzz-readers SECONDS=x", "error: SECONDS is \"x\": give a number from 1 on"},
      {"step04 sanitize ARGS=--help", "error: ARGS holds --help, with which no kernel runs"},
      {"step05 step06 sweep", "make sweep works on one step: name one of step05 step06"},
      {"step05 examples VARIANT=block_barriers",
       "error: the examples call the lab's own steps: leave WORK, VARIANT, SUBSTEP and "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run(MAKE "%s 2>&1", cases[i].goals);
    EXPECT_STATUS(result, 2);
    EXPECT(result, cases[i].sentence);
  }
}

// With a part of its work a tool may have missed the bug, so it says nothing about a fix.
Test(settings, a_part_of_a_hunt) {
  EXPECT_STATUS(lab_run("scripts/workshop/hunt.sh hand-out 1"), 0);
  static const struct {
    const char *goals, *said, *unsaid;
  } cases[] = {
      {"sanitize ARGS=--causal", "a part of sanitize alone", "hunt.sh note"},
      {"check QUICK=1", "a part of check alone", "hunt.sh note"},
      {"check", "hunt.sh note \"1\" check", "alone"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = lab_run(MAKE "-n hunt BUG=1 %s | tail -n 3", cases[i].goals);
    EXPECT_STATUS(result, 0);
    EXPECT(result, cases[i].said);
    cr_expect_null(strstr(result.out, cases[i].unsaid), "%s: %s", cases[i].goals, result.out);
  }
}

// A name is no command of the shell.
Test(settings, a_folder_named_like_a_command) {
  const script_result result =
      lab_run("mkdir -p '%s/a$(echo ran)b/01_naive' && cp steps/01_naive/attention.cu "
              "'%s/a$(echo ran)b/01_naive' && " MAKE "step01 say-source "
              "STEPS_FOLDER='%s/a$(echo ran)b'",
              lab_work, lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  cr_expect_null(strstr(result.out, "/aranb/"), "%s", result.out);
}

// A configuration that the step does not have is bad usage, and no test runs.
Test(settings, tests_refuse_a_configuration_that_there_is_not) {
  const script_result result = lab_run(MAKE "step05 check CONFIG=nope");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: step 05_wmma has no configuration \"nope\": it has ");
  cr_expect(!strstr(result.out, "check:"), "tests ran: %s", result.out);
}
