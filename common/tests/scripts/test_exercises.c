// The exercises: which files a participant gets, and that no work is lost. The files go to a folder of the test's own.
#define _GNU_SOURCE
#include "exercise.h"
#include <glob.h>

TestSuite(exercises, .init = lab_enter, .fini = lab_leave);

static void expect_exercise(const char *source) {
  char step[64];
  cr_assert(sscanf(source, "steps/%63[^/]", step) == 1);
  script_result result = lab_run("scripts/workshop/exercise.sh start %s", step);
  EXPECT_STATUS(result, 0);
  result = lab_run("grep -c '// exercise' %s", source);
  const int parts = atoi(result.out);
  cr_expect(parts >= 1 && parts <= 4, "%s has %d exercises", step, parts);
  result = lab_run("grep -i exercise %s/%s/attention.cu", lab_work, step);
  cr_expect_eq(result.status, 1, "a mark is left in the skeleton of %s: %s", step, result.out);
  result = lab_run("grep -c '// TODO [0-9] of %d, about [1-9][0-9]* lines*:$' %s/%s/attention.cu",
                   parts, lab_work, step);
  cr_expect_eq(atoi(result.out), parts, "%s: %s", step, result.out);
  result = lab_run("diff %s %s/%s/attention.cu | grep -c '^<  *[^ /]'", source, lab_work, step);
  cr_expect_gt(atoi(result.out), parts - 1, "%s leaves nothing to write", step);
  // With its solution put back it is the step again.
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill %s", step), 0);
  result = lab_run("cmp %s %s/%s/attention.cu", source, lab_work, step);
  EXPECT_STATUS(result, 0);
}

Test(exercises, every_exercise) {
  glob_t found;
  cr_assert_eq(glob("steps/*/attention.cu", 0, NULL, &found), 0);
  int exercises = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    if (lab_run("grep -q '// exercise: ' %s", found.gl_pathv[i]).status != 0) continue;
    expect_exercise(found.gl_pathv[i]);
    exercises++;
  }
  globfree(&found);
  cr_expect_geq(exercises, 10);
}

// Runs in a lab with one new step and the one that it comes after.
Test(exercises, a_step_without_an_exercise) {
  EXPECT_STATUS(
      lab_run("mkdir -p %s/lab/steps/11_new %s/lab/steps/04_old && cp -r scripts %s/lab && grep -v "
              "exercise "
              "steps/17_lazy_max/attention.cu | grep -v After >%s/lab/steps/11_new/attention.cu && "
              "touch %s/lab/steps/04_old/attention.cu",
              lab_work, lab_work, lab_work, lab_work, lab_work),
      0);
  const script_result result =
      lab_run("%s/lab/scripts/workshop/exercise.sh start 11_new", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: step 11 has no marked exercise", "make step11 exercise FROM=04\n");
}

Test(exercises, three_hints_for_each_part) {
  const script_result result =
      lab_run("for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
              "awk -v parts=$(grep -c '// exercise: ' $source) '/^## Part / { part++; hint = 0; "
              "if ($3 != part \":\") exit 1; next } /^### / { if ($2 != ++hint) exit 1; next } "
              "NF && part { text[part, hint]++ } END { good = part == parts; "
              "for (p = 1; p <= parts; p++) for (h = 1; h <= 3; h++) if (!text[p, h]) good = 0; "
              "exit !good }' ${source%%attention.cu}hints.md || echo $source; done");
  cr_expect_str_eq(result.out, "", "not three hints for each part: %s", result.out);
}

// A name with an underscore in the code of a third hint stands in the same function of the step, unless it is a field, or
// the hint itself gives it a value.
Test(exercises, third_hints_have_the_names_of_the_step) {
  const script_result result = lab_run(
      "for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
      "awk 'FNR == NR { if (/\\/\\/ exercise: /) last++; function_text = function_text \" \" $0; "
      "if (/^}/) { while (part < last) text[++part] = function_text; function_text = \"\" } next } "
      "/^## Part / { part = $3 + 0; hint = 0 } /^### / { hint = $2 } "
      "hint != 3 || !/^    / { next } { sub(/\\/\\/.*/, \"\"); line = $0; "
      "gsub(/(\\.|->)[A-Za-z0-9_]+/, \".\", line); "
      "while (match(line, /[A-Za-z_][A-Za-z0-9_]*/)) { name = substr(line, RSTART, RLENGTH); "
      "line = substr(line, RSTART + RLENGTH); if (line ~ /^ *= /) given[part, name]; "
      "if (name ~ /_/ && text[part] !~ \"(^|[^A-Za-z0-9_])\" name \"([^A-Za-z0-9_]|$)\") "
      "lacking[part, name] = FILENAME \": part \" part \" of the step has no \" name } } "
      "END { for (i in lacking) if (!(i in given)) print lacking[i] }' "
      "$source ${source%%attention.cu}hints.md; done");
  cr_expect_str_eq(result.out, "", "%s", result.out);
}

// The page of a step gives the time of each part, does not fill one in before the reader has begun it.
Test(exercises, each_part_has_its_time) {
  const script_result result = lab_run(
      "for source in $(grep -l '// exercise: ' steps/*/attention.cu); do "
      "page=${source%%attention.cu}README.md; "
      "[ $(grep -c '// exercise: ' $source) = $(sed -n '/^## Exercise/,/^## Measure/p' $page | "
      "grep -c '^| [0-9] | .* | [0-9]* |$') ] || echo $page; done; "
      "awk '/^<!-- sh /{ aside = 1 } /^-->/{ aside = 0 } !aside && /^[^`]*make step[0-9]* fill/ "
      "{ print FILENAME }' steps/*/README.md");
  cr_expect_str_eq(result.out, "", "%s", result.out);
}

Test(exercises, hints_one_at_a_time) {
  for (int n = 1; n <= 3; n++) {
    const script_result result = lab_run("PART=2 scripts/workshop/hint.sh 04_online_softmax");
    EXPECT_STATUS(result, 0);
    char title[64];
    snprintf(title, sizeof title,
             "Hint %d of 3 for part 2 of 04_online_softmax, the correction:", n);
    cr_expect(strstr(result.out, title) == result.out, "%s", result.out);
    cr_expect_null(strstr(result.out + 1, "Hint "), "more than one: %s", result.out);
    cr_expect_null(strstr(result.out, "max_over_lanes"), "of another part: %s", result.out);
  }
  script_result result = lab_run("PART=2 scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "make step04 fill PART=2");
  result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3 for part 1 of ");
  result = lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
                   "PART=1 scripts/workshop/exercise.sh fill 04_online_softmax && "
                   "scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3"); // of part 2, the first that is left
  result = lab_run("scripts/workshop/progress.sh 04_online_softmax");
  EXPECT(result, " 2 of 3 4 -\n", "progress: 0 of 1 steps pass");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  result = lab_run("scripts/workshop/hint.sh 04_online_softmax"); // of none, and not of part 1
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu is as the exercise left it: PART says which one the hint is for");
  result = lab_run("scripts/workshop/hint.sh");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: this verb works on one step: make step04 hint");
  result = lab_run("PART=4 scripts/workshop/hint.sh 04_online_softmax");
  EXPECT_STATUS(result, 2);
}

Test(exercises, work_is_never_lost) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  toolkit_write(file04(), "mine\n");
  script_result result = lab_run("scripts/workshop/exercise.sh start 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "attention.cu is there already", "FORCE=1");
  EXPECT_STATUS(lab_run("grep -qx mine %s", file04()), 0);
  EXPECT_STATUS(lab_run("FORCE=1 scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("grep -qx mine %s.bak && grep -q TODO %s", file04(), file04()), 0);
  EXPECT_STATUS(lab_run("scripts/workshop/hint.sh 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh reset 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("grep -qx mine %s.bak*1* && grep -q TODO %s.bak", file04(), file04()), 0);
  result = lab_run("scripts/workshop/hint.sh 04_online_softmax");
  EXPECT(result, "Hint 1 of 3");
}

Test(exercises, from_the_step_before) {
  script_result result = lab_run("FROM=03 scripts/workshop/exercise.sh start 04_online_softmax");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "it begins as steps/03_3dgrid/attention.cu, the lab's solution of step 03\n");
  result = lab_run("head -n 4 %s; grep attention_name %s", file04(), file04());
  EXPECT(result, "// TODO 1 of 1, about ", " lines:\n// make 04_online_softmax of 03_3dgrid: one",
         "\n\n// 03_3dgrid: ", "{ return \"04_online_softmax\"; }");
  EXPECT_STATUS(lab_run("grep -q exercise %s", file04()), 1);
  result = lab_run("scripts/workshop/exercise.sh fill 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "has no TODO that step 04 has a solution for");
  result = lab_run("FROM=99 FORCE=1 scripts/workshop/exercise.sh start 04_online_softmax");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: there is no step 99");
  // The participant's file of that step is not what the new one begins as, and the sentence says so.
  result = lab_run("scripts/workshop/exercise.sh start 03_3dgrid && "
                   "FROM=03 scripts/workshop/exercise.sh reset 04_online_softmax");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "lab's solution of step 03, and not as your ", "/03_3dgrid/attention.cu\n");
}

Test(exercises, parts_are_filled_and_compared) {
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  EXPECT_STATUS(lab_run("PART=2 scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  script_result result = lab_run("scripts/workshop/source.sh 04_online_softmax");
  EXPECT(result, "attention.cu, your own (2 of 3 parts still to be written)");
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "TODO 1 of 3", "TODO 3 of 3");
  cr_expect_null(strchr(result.out, '\033'), "colour without a terminal");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  result = lab_run("scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "no difference");
}

Test(exercises, a_file_of_the_step_before_is_left_until_it_changes) {
  EXPECT_STATUS(lab_run("FROM=05 scripts/workshop/exercise.sh start 06_cp_async"), 0);
  script_result result = lab_run("scripts/workshop/source.sh 06_cp_async");
  EXPECT(result, "(1 of 1 part still to be written)");
  result = lab_run("echo 'int mine;' >>%s/06_cp_async/attention.cu && "
                   "scripts/workshop/source.sh 06_cp_async",
                   lab_work);
  EXPECT(result, "your own (LAB=1 takes the lab's)");
}

// The solution of one part tells nothing of the others, although they lie side by side.
Test(exercises, the_solution_of_one_part) {
#define SOLUTION "scripts/workshop/exercise.sh solution 04_online_softmax"
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  static const char *const lines[] = {"new_max = max_over_lanes<1, COLUMN_THREADS>(new_max);",
                                      "row_sum *= correction;", "row_sum += S_row[n];"};
  for (int part = 1; part <= 3; part++) {
    for (int columns = 80; columns <= 200; columns += 120) {
      const script_result result = lab_run("PART=%d COLUMNS=%d " SOLUTION, part, columns);
      EXPECT_STATUS(result, 0);
      char title[64];
      snprintf(title, sizeof title, "%spart %d of ", columns == 80 ? "- " : "left: ", part);
      cr_expect(strstr(result.out, title) == result.out, "%s", result.out);
      for (int line = 1; line <= 3; line++) {
        cr_expect_eq(strstr(result.out, lines[line - 1]) != NULL, line == part, "part %d: %s", part,
                     result.out);
      }
    }
  }
  // The lines that mark a part may be gone.
  EXPECT_STATUS(lab_run("sed -i -e '/TODO 1 of/,+1d' -e '/end of part 1/d' -e "
                        "'s/new_max = row_max;.*/new_max = mine;/' %s",
                        file04()),
                0);
  script_result result = lab_run("PART=1 COLUMNS=80 " SOLUTION);
  EXPECT(result, "\n- const float new_max = mine;\n", "\n+ new_max = max_over_lanes<");
  cr_expect_null(strstr(result.out, "correction"), "%s", result.out);
  EXPECT_STATUS(lab_run("PART=2 scripts/workshop/exercise.sh fill 04_online_softmax"), 0);
  result = lab_run("PART=2 " SOLUTION);
  EXPECT(result, "\nno difference\n");
  result = lab_run(MAKE "step04 solution PART=9");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: PART is \"9\": the exercise of step 04 has parts 1 to 3\n");
  EXPECT_STATUS(lab_run("FROM=03 scripts/workshop/exercise.sh reset 04_online_softmax"), 0);
  result = lab_run("PART=2 " SOLUTION);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: PART is \"2\": ", " began as another step, and is one part: ");
}

// Without PART the lab's lines do not take the place of those that are written.
Test(exercises, only_what_is_left_is_filled) {
#define FILL "scripts/workshop/exercise.sh fill 04_online_softmax"
  EXPECT_STATUS(
      lab_run("scripts/workshop/exercise.sh start 04_online_softmax && sed -i "
              "'s|^  const float correction = 1.0f; // until then|  const float mine = 2.0f;|' %s",
              file04()),
      0);
  script_result result = lab_run(FILL);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "filled: parts 1, 3 of ", "attention.cu (before: ", "attention.cu.bak)\n",
         "parts with lines of yours stay: make step04 fill PART=2 takes the lab's ");
  EXPECT_STATUS(lab_run("grep -q 'float mine = 2.0f;' %s", file04()), 0);
  EXPECT_STATUS(lab_run("grep -qF 'row_sum += S_row[n];' %s", file04()), 0);
  result = lab_run(FILL);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: no part of ", " is as the exercise left it: make step04 fill PART=2 ");
  EXPECT_STATUS(lab_run("grep -q 'float mine = 2.0f;' %s", file04()), 0);
  result = lab_run("PART=2 " FILL);
  EXPECT(result, "filled: part 2 of ");
  EXPECT_STATUS(lab_run("cmp steps/04_online_softmax/attention.cu %s", file04()), 0);
}

// One part stands between the lab's others, and the compiler knows each line by its number in the reader's file.
Test(exercises, one_part_between_the_others) {
  EXPECT_STATUS(
      lab_run("scripts/workshop/exercise.sh start 04_online_softmax && "
              "sed -i -e 's|^  const float correction = 1.0f; // until then|  HERE __LINE__|' "
              "-e 's|^  // TODO 3 of 3.*|&\\n  third();|' "
              "-e 's|^  return correction|  HERE __LINE__\\n&|' %s",
              file04()),
      0);
  const script_result folder = lab_run("scripts/workshop/part.sh 04_online_softmax 2");
  EXPECT_STATUS(folder, 0);
#define PARTED "%s/.parts/2/04_online_softmax/attention.cu", lab_work
  // The first comment stays in front, where the tests and make read what a step needs.
  EXPECT_STATUS(lab_run("awk 'NR == 1 { exit !/^.. 04_online_softmax: / }' " PARTED), 0);
  EXPECT_STATUS(lab_run("grep -q third " PARTED), 1);
  EXPECT_STATUS(lab_run("grep -qF 'new_max = max_over_lanes<1, COLUMN_THREADS>' " PARTED), 0);
  EXPECT_STATUS(lab_run("grep -qF 'row_sum += S_row[n];' " PARTED), 0);
  const script_result lines = lab_run("grep -n HERE %s | sed 's/:.*//'", file04());
  script_result seen = lab_run("grep -v '^#include' %s/.parts/2/04_online_softmax/attention.cu | "
                               "cpp -P 2>/dev/null | sed -n 's/.*HERE //p'",
                               lab_work);
  cr_expect_str_eq(seen.out, lines.out, "%s and not %s", seen.out, lines.out);
  seen = lab_run("scripts/workshop/part.sh 04_online_softmax 4");
  EXPECT_STATUS(seen, 2);
  EXPECT(seen, "error: PART is \"4\": the exercise of step 04 has parts 1 to 3\n");
}

// check, and not only check WORK=1, tests the reader's file, and says first whose file it is.
Test(exercises, the_readers_own_file_is_found) {
#define WHOSE(more)                                                                                \
  lab_run(MAKE "-n step04 check " more " | grep -e '[s]cripts/workshop/source.sh' "                \
               "-e '^echo .source' -e '/check.sh'")
  script_result result = lab_run("env MAKELEVEL=0 " MAKE "check PART=1"); // would test every step
  EXPECT_STATUS(result, 2);
  EXPECT(result, "PART=1 is a part of the exercise of one step: make step04 check PART=1");
  result = lab_run(MAKE "step04 check PART=1");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "PART=1 is a part of your own file of step 04, and there is none in ",
         " yet: make step04 exercise writes it.");
  result = WHOSE();
  EXPECT(result, ", the lab'", "scripts/check.sh build/cpu/step04-check\n");
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  result = WHOSE();
  EXPECT(result, "scripts/workshop/source.sh 04_online_softmax\n",
         "scripts/workshop/check.sh cpu ");
  cr_expect_null(strstr(result.out, " scripts/check.sh"), "%s", result.out);
  result = WHOSE("LAB=1");
  EXPECT(result, ", the lab'", "scripts/check.sh build/cpu/step04-check\n");
  result = lab_run(MAKE "-n step03 check | grep /check.sh");
  EXPECT(result, "scripts/check.sh build/cpu/step03-check\n");
  result = lab_run(MAKE "-n step04 run");
  EXPECT(result, "scripts/workshop/source.sh 04_online_softmax\n", "build/cpu/elsewhere/");
}

// The output on 80 columns is no wider than these, and nothing is left out.
Test(exercises, tables_and_solutions_fit_the_width) {
#define TABLE                                                                                      \
  "printf 'step  adds          check  error\\n04    one kernel    ok       0.2\\n05    tensor "    \
  "cores"                                                                                          \
  "  FAIL    10.1\\n\\nA sentence that is longer than forty letters, of two lines\\nof text.\\n'"
  script_result result = lab_run(TABLE " | COLUMNS=30 scripts/fit.sh");
  cr_expect_str_eq(result.out,
                   "step  adds          check\n04    one kernel    ok\n05    tensor cores  FAIL\n\n"
                   "step  error\n04      0.2\n05     10.1\n\n"
                   "A sentence that is longer than\nforty letters, of two lines\nof text.\n",
                   "%s", result.out);
  result = lab_run("unset COLUMNS; " TABLE " | scripts/fit.sh | head -n 1");
  cr_expect_str_eq(result.out, "step  adds          check  error\n", "%s", result.out);
  EXPECT_STATUS(lab_run("scripts/workshop/exercise.sh start 04_online_softmax"), 0);
  result = lab_run("COLUMNS=80 scripts/workshop/exercise.sh solution 04_online_softmax");
  EXPECT(result, "\n- // TODO 1 of 3", "\n+ row_max = new_max;\n");
  for (char *line = strtok(result.out, "\n"); line; line = strtok(NULL, "\n")) {
    cr_expect_leq(strlen(line), 80, "%s", line);
  }
}
