// Tests the bugs to hunt: what is handed out, of which step, and what is told of it.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/kept.h"
#include "tests/needs.h"

TestSuite(hunt, .init = lab_enter, .fini = lab_leave);

// Every planted bug is handed out under one number, as the changed step, and its name is not shown. Only those that
// show in a build of their own are left out.
Test(hunt, every_bug_can_be_hunted) {
  needs_tool("patch");
  const int bugs = atoi(
      lab_run("grep -L '^Contracted: ' steps/*/bugs/*.patch steps/*/slow/*.patch | wc -l").out);
  script_result result = lab_run("scripts/workshop/hunt.sh list");
  char numbers[64];
  snprintf(numbers, sizeof numbers, "There are bugs 1 to %d:", bugs);
  EXPECT(result, numbers);
  result = lab_run("scripts/workshop/hunt.sh hand-out $(seq %d)", bugs);
  EXPECT_STATUS(result, 0);
  result = lab_run("cat %s/hunt/*/.planted | grep -c '^Title: '", lab_work);
  cr_expect_eq(atoi(result.out), bugs);
  result = lab_run("cat %s/hunt/*/.planted | grep '^Title: ' | sort | uniq -d", lab_work);
  cr_expect_str_eq(result.out, "", "handed out twice: %s", result.out);
  // The file that is handed out is the step with the bug, without the lines that mark its exercises. The planted lines
  // are told as they stand in that file.
  result = lab_run(
      "for file in %s/hunt/*/*/attention.cu; do folder=${file%%/*/*}; "
      "step=${file#$folder/}; cp $file %s/mended.cu; "
      "sed -n '/^--- /,$p' $folder/.planted | patch -sR --fuzz=0 %s/mended.cu || echo $file; "
      "awk -v mode=solution -f scripts/workshop/exercise.awk steps/$step >%s/right.cu; "
      "cmp %s/mended.cu %s/right.cu; ! cmp -s $file %s/right.cu || echo no bug in $file; "
      "done",
      lab_work, lab_work, lab_work, lab_work, lab_work, lab_work, lab_work);
  cr_expect_str_eq(result.out, "", "%s", result.out);
  result = lab_run("grep -n -e 'exercise: ' -e 'until then' -e 'end of exercise' "
                   "%s/hunt/*/*/attention.cu",
                   lab_work);
  cr_expect_str_eq(result.out, "", "it tells of exercises: %s", result.out);
}

Test(hunt, says_that_there_is_no_room_for_a_bug) {
  needs_tool("patch");
  EXPECT_STATUS(
      lab_run("mkdir %s/bin && printf '#!/bin/sh\\necho cp: no room >&2; exit 1\\n' >%s/bin/cp "
              "&& chmod +x %s/bin/cp",
              lab_work, lab_work, lab_work),
      0);
  const script_result result =
      lab_run("PATH=%s/bin:$PATH scripts/workshop/hunt.sh hand-out 1", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "cp: no room\n", "error: bug 1 cannot be written to ",
         "/hunt/1, as the lines above say");
  EXPECT_STATUS(lab_run("ls -A %s/hunt | grep .", lab_work), 1);
}

Test(hunt, a_hunt) {
  needs_tool("patch");
  script_result result = lab_run(MAKE "hunt BUG=1");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Bug 1 is in ", "/hunt/1/", "/attention.cu: ", "make hunt BUG=1 reveal");
  const script_result title =
      lab_run("sed -n 's/^Title: //p' %s/hunt/1/.planted | tr -d '\\n'", lab_work);
  cr_assert_gt(strlen(title.out), 4);
  cr_expect_null(strstr(result.out, title.out), "it tells what it is: %s", result.out);
  // The participant's changes in it stay.
  EXPECT_STATUS(lab_run("echo '// mine' >>$(ls %s/hunt/1/*/attention.cu)", lab_work), 0);
  result = lab_run(MAKE UNOPTIMISED "hunt BUG=1 run ARGS='--seq 8 --no-check'");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "source ", "/hunt/1/", "/attention.cu\n");
  EXPECT_STATUS(lab_run("grep -q '// mine' %s/hunt/1/*/attention.cu", lab_work), 0);
  result = lab_run(MAKE "-n hunt BUG=1 check | grep /check.sh");
  EXPECT(result, "HUNT=1 LAB_WORK='", "/hunt/1' ", " scripts/workshop/check.sh cpu ");
  result = lab_run(MAKE "-n hunt BUG=1 sanitize | sed -n 's/.*hunt.sh note/note/p'; "
                        "sha256sum <$(echo %s/hunt/1/*/attention.cu)",
                   lab_work);
  char hash[17] = "";
  cr_assert_eq(sscanf(result.out, "note \"1\" sanitize %16s", hash), 1, "%s", result.out);
  cr_expect(strstr(strchr(result.out, '\n'), hash), "of another file: %s", result.out);
  result = lab_run(MAKE "hunt BUG=1 reveal");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Bug 1: ", title.out, "Seen by ", "\n--- a/steps/", "@@ ");
  result = lab_run(MAKE "hunt");
  EXPECT(result, " bug 1: ", ", revealed\n");
  result = lab_run("scripts/workshop/hunt.sh hand-out 10 2 && scripts/workshop/hunt.sh list");
  EXPECT(result, " bug 1: ", " bug 2: ", " bug 10: ");
  result = lab_run(MAKE "hunt BUG=1000");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: BUG is \"1000\": give a number from 1 to ");
}

// A reader who has done a step hunts its bugs one by one.
Test(hunt, of_a_step) {
  needs_tool("patch");
  const int bugs = atoi(lab_run("ls steps/14_*/bugs/*.patch steps/14_*/slow/*.patch | wc -l").out);
  cr_assert_gt(bugs, 2);
  int first = 0, second = 0;
  script_result result = lab_run(MAKE "step14 hunt");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Bug ", " is in ", "/14_pingpong/attention.cu: 14_pingpong with one thing changed",
         "make hunt BUG=", " reveal\n", "make step14 hunt hands out the next of the ");
  cr_assert(sscanf(result.out, "Bug %d", &first) == 1);
  const script_result title =
      lab_run("sed -n 's/^Title: //p' %s/hunt/%d/.planted | tr -d '\\n'", lab_work, first);
  cr_expect_null(strstr(result.out, title.out), "it tells what it is: %s", result.out);
  // It stays the one at hand until it is fixed or revealed.
  const script_result again = lab_run(MAKE "hunt step14");
  cr_expect_str_eq(again.out, result.out);
  EXPECT_STATUS(lab_run("scripts/workshop/hunt.sh reveal %d", first), 0);
  result = lab_run(MAKE "step14 hunt");
  cr_assert(sscanf(result.out, "Bug %d", &second) == 1);
  cr_expect_neq(first, second);
  result = lab_run("for i in $(seq %d); do scripts/workshop/hunt.sh of 14_pingpong | "
                   "sed -n 's/^Bug \\([0-9]*\\) .*/\\1/p' >%s/bug; "
                   "[ -s %s/bug ] || break; touch %s/hunt/$(cat %s/bug)/.fixed; done; "
                   "ls -d %s/hunt/*/14_pingpong | wc -l",
                   bugs + 1, lab_work, lab_work, lab_work, lab_work, lab_work);
  cr_expect_eq(atoi(result.out), bugs, "of %d bugs: %s", bugs, result.out);
  result = lab_run(MAKE "step14 hunt");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "bugs of step 14 were handed out, and are fixed or revealed: make hunt lists ");
}

// A bug is fixed when check and sanitize have found nothing in one and the same file, whichever of them comes first.
Test(hunt, ends_when_both_tools_find_nothing_in_one_file) {
  needs_tool("patch");
  static const char *const tools[][2] = {{"check", "sanitize"}, {"sanitize", "check"}};
  EXPECT_STATUS(lab_run("scripts/workshop/hunt.sh hand-out 2 3"), 0);
  for (int i = 0; i < 2; i++) {
    const int bug = 2 + i;
#define HASH       "$(sha256sum %s/hunt/%d/*/attention.cu | cut -c 1-16)"
#define NOTE       "scripts/workshop/hunt.sh note %d %s " HASH
#define CHANGE     "echo >>$(echo %s/hunt/%d/*/attention.cu); "
#define LEFT(tool) "Is bug ", " fixed? make hunt BUG=", tool, " must find nothing, too.\n"
    script_result result = lab_run(CHANGE NOTE, lab_work, bug, bug, tools[i][0], lab_work, bug);
    EXPECT(result, LEFT(tools[i][1]));
    result = lab_run(CHANGE NOTE, lab_work, bug, bug, tools[i][1], lab_work,
                     bug); // the file has been changed again
    EXPECT(result, LEFT(tools[i][0]));
    // A file that is saved while a tool runs is not the one that it has seen.
    result = lab_run("hash=" HASH "; " CHANGE "scripts/workshop/hunt.sh note %d %s $hash", lab_work,
                     bug, lab_work, bug, bug, tools[i][0]);
    EXPECT(result, "attention.cu has been changed since ", tools[i][0], " looks again.\n");
    EXPECT_STATUS(lab_run("sed -i '$d' $(echo %s/hunt/%d/*/attention.cu)", lab_work, bug), 0);
    result = lab_run(NOTE, bug, tools[i][0], lab_work, bug);
    EXPECT(result, " is fixed: ");
    result = lab_run("scripts/workshop/hunt.sh reveal %d", bug);
    cr_expect_null(strstr(result.out, "Now mend it"), "it is mended: %s", result.out);
  }
  cr_expect_str_eq(kept(lab_run("scripts/workshop/hunt.sh progress").out),
                   "hunt: 2 bugs handed out, 2 fixed, 2 revealed\n");
}

// Without BUG another verb would work on the lab's steps, and find nothing.
Test(hunt, needs_a_bug_for_a_tool) {
  static const char *const goals[] = {"hunt check", "step12 hunt check", "hunt sanitize", "reveal"};
  for (size_t i = 0; i < sizeof goals / sizeof *goals; i++) {
    const script_result result = lab_run(MAKE "-n %s", goals[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "BUG says which bug is meant: make hunt BUG=1 ");
  }
  const script_result two = lab_run(MAKE "step12 step13 hunt");
  EXPECT_STATUS(two, 2);
  EXPECT(two, "error: this verb works on one step: ");
  const script_result elsewhere = lab_run(MAKE "step12 hunt BUG=1");
  EXPECT_STATUS(elsewhere, 2);
  EXPECT(elsewhere, "bug 1 is not of step12, but in ",
         "/hunt/1/04_online_softmax: ", "write make hunt BUG=1 without step12");
  const script_result none = lab_run("scripts/workshop/hunt.sh of 99_none");
  EXPECT_STATUS(none, 2);
  EXPECT(none, "error: no bugs are planted in step 99: ");
}

// What make bugs has recorded on the emulator says more than the tools that a patch says must see its bug.
Test(hunt, the_key_names_the_tools_that_see_a_bug) {
  script_result result =
      lab_run("scripts/workshop/hunt.sh key | awk '{ print $2 \"|\" $0 }' >%s/key && "
              "awk -F '\",\"' 'NR > 1 { sub(/^\"/, \"\", $1); gsub(/\"\"/, \"\\\"\", $3); "
              "print $1 \"|\" $3 \"|\" ($4 == \"passes\" ? \"\" : \"check\") \"|\" "
              "($6 == \"passes\" || $6 == \"-\" ? \"\" : \"sanitize\") }' "
              "plots/data/emulated-nvidia-h200/bugs.csv >%s/seen && wc -l <%s/seen",
              lab_work, lab_work, lab_work);
  cr_expect_gt(atoi(result.out), 100);
  result = lab_run("while IFS='|' read -r step title check sanitize; do "
                   "tools=\"$check, $sanitize\"; tools=${tools#, }; tools=${tools%%, }; "
                   "grep -F \"$step|\" %s/key | grep -F \"  $title\" >%s/line || continue; "
                   "grep -qF \"  $tools  \" %s/line || echo \"$step: $title: $tools\"; "
                   "done <%s/seen",
                   lab_work, lab_work, lab_work, lab_work);
  cr_expect_str_empty(result.out, "%s", result.out);
  result = lab_run("grep -c '  check, sanitize  ' %s/key", lab_work);
  cr_expect_gt(atoi(result.out), 20);
  result = lab_run("grep -c '  timeline ' %s/key", lab_work); // of which nothing is recorded
  cr_expect_eq(atoi(result.out), atoi(lab_run("ls steps/*/slow/*.patch | wc -l").out));
  // A lab without a record.
  result = lab_run("mkdir %s/lab && cp -r scripts steps %s/lab && "
                   "%s/lab/scripts/workshop/hunt.sh key | sed -n 2p",
                   lab_work, lab_work, lab_work);
  EXPECT(result, " 1 04_online_softmax sanitize no __syncwarp");
  cr_expect_null(strstr(result.out, "check"), "%s", result.out);
  if (has_tool("patch")) {
    result = lab_run("scripts/workshop/hunt.sh hand-out 1 && scripts/workshop/hunt.sh reveal 1");
    EXPECT(result, "\nSeen by check, sanitize.\n");
  }
}

Test(hunt, says_what_it_can_do) {
  static const char *const verbs[] = {"", "hand_out"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    const script_result result = lab_run("scripts/workshop/hunt.sh %s", verbs[i]);
    EXPECT_STATUS(result, 2);
    cr_expect(strstr(result.out, "error: hunt.sh was given ") == result.out, "%s", result.out);
    EXPECT(result, "give it list, hand-out, describe, of, reveal, key, note or progress, as in ");
  }
}

// It would compare the step with the one before it in the folder of the bug, which has no other.
Test(hunt, has_no_diff) {
  const script_result result = lab_run(MAKE "hunt BUG=1 diff");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "diff would show what the bug is: make hunt BUG=1 reveal does that");
}

// They would speak of the exercise of the step that the bug is in.
Test(hunt, has_no_verbs_of_exercises) {
  static const char *const verbs[] = {"hint", "fill", "watch"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
    const script_result result = lab_run(MAKE "hunt BUG=1 %s", verbs[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, verbs[i], " is of exercises, and a bug to hunt is none: make hunt BUG=1 check");
  }
  cr_expect_str_empty(kept(lab_run("ls -A %s", lab_work).out));
}
