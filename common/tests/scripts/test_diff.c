// Which lines change between two steps, and how many of code: on small steps made for it, and in the lab.
#define _GNU_SOURCE
#include "lab.h"
#include "tests/needs.h"

// A lab with steps of a few lines, in a folder of the test's own.
static void write_step(const char *name, const char *source) {
  char path[128];
  EXPECT_STATUS(lab_run("mkdir -p %s/steps/%s", lab_work, name), 0);
  snprintf(path, sizeof path, "%s/steps/%s/attention.cu", lab_work, name);
  toolkit_write(path, source);
}

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", lab_work, name);
  toolkit_write(path, text);
}

static void enter(void) {
  lab_enter();
  write_step("01_first", "// 01_first\nint a;\nint b;\nint c;\nint d;\n");
}

TestSuite(diff, .init = enter, .fini = lab_leave);

#define DIFF "STEPS_FOLDER=%s/steps scripts/diff.sh "

// Returns the number of lines that a step changes, from the row with its name.
static void expect_changed(const char *name, const char *parent, int lines) {
  const script_result result = lab_run(DIFF "--stat %s", lab_work, name);
  EXPECT_STATUS(result, 0);
  const char *row = strchr(result.out, '\n');
  char step[64], after[64];
  int changed;
  cr_assert(row && sscanf(row, "%63s %63s %d", step, after, &changed) == 3, "%s", result.out);
  cr_expect_str_eq(step, name);
  cr_expect_str_eq(after, parent);
  cr_expect_eq(changed, lines, "%s: %d lines, not %d", name, changed, lines);
}

Test(diff, comments_blank_lines_and_layout_do_not_count) {
  write_step("05_layout", "// 05_layout\n\n/* of two\n   lines */ int a; // first\n  int   b;\n"
                          "\tint c; /* third */\nint d;\n// exercise: x\n// end of exercise\n");
  expect_changed("05_layout", "01_first", 0);
}

Test(diff, marks_of_a_comment_within_a_string_are_code) {
  write_step("05_string", "int a;\nint b;\nint c;\nint d;\nputs(\"http://x \\\" /*\");\n");
  write_step("06_string", "int a;\nint b;\nint c;\nint d;\nputs(\"http://y \\\" */\");\n");
  expect_changed("05_string", "01_first", 1);
  expect_changed("06_string", "05_string", 2);
}

Test(diff, a_line_counts_when_it_goes_and_when_it_comes_and_once_when_it_moves) {
  write_step("05_change", "int a;\nlong b;\nint c;\nint d;\n");
  write_step("06_more", "int a;\nlong b;\nint c;\nint d;\nint e;\nint e;\n");
  write_step("08_move", "int e;\nint a;\nint e;\nlong b;\nint c;\nint d;\n");
  expect_changed("05_change", "01_first", 2);
  expect_changed("06_more", "05_change", 2);
  expect_changed("08_move", "06_more", 2);
}

Test(diff, a_step_may_name_what_it_comes_after) {
  write_step("05_other", "int x;\nint y;\nint z;\n");
  write_step("06_branch", "// 06_branch: a branch.\n//\n// After: 01_first\nint a;\nint b;\n");
  expect_changed("06_branch", "01_first", 2);
  script_result result = lab_run(DIFF "'' 06", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "a/steps/01_first/attention.cu", "b/steps/06_branch/attention.cu", "-int c;");
  write_step("06_branch", "// After: 04_gone\nint a;\n");
  result = lab_run(DIFF "--stat 06_branch", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "06_branch/attention.cu says that it comes after 04_gone, and there is no such");
}

// Compares a step of so many lines with an earlier one of four.
static script_result size_of(const char *name, int lines) {
  EXPECT_STATUS(lab_run("mkdir -p %s/steps/%s; { printf 'int %%s;\\n' a b c d; seq %d; } "
                        ">%s/steps/%s/attention.cu",
                        lab_work, name, lines, lab_work, name),
                0);
  return lab_run(DIFF "--stat %s; result=$?; rm -r %s/steps/%s; exit $result", lab_work, name,
                 lab_work, name);
}

Test(diff, a_step_has_a_limit) {
  EXPECT_STATUS(size_of("05_short", 140), 0);
  const script_result result = size_of("05_long", 141);
  EXPECT_STATUS(result, 1);
  EXPECT(result, "FAIL 05_long changes 141 lines of code of 01_first: the limit is 140");
  EXPECT_STATUS(size_of("05_wmma", 240), 0);
  EXPECT_STATUS(size_of("05_wmma", 241), 1);
  EXPECT_STATUS(size_of("02_new", 500), 0);
}

Test(diff, two_steps_of_the_readers_choice_are_counted) {
  write_step("03_two", "int a;\nlong b;\nint c;\nint d;\n");
  write_step("05_three", "int a;\nlong b;\nlong c;\nint d;\n");
  const script_result result = lab_run(DIFF "--between 01 05", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "step against changed\n", "05_three 01_first 4\n");
  EXPECT_STATUS(lab_run(DIFF "--between 01 77", lab_work), 2);
}

Test(diff, what_cannot_be_compared_is_named) {
  script_result result = lab_run(DIFF "'' 01", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: 01_first comes after no step");
  result = lab_run(DIFF "01 77", lab_work);
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: there is no step 77 to compare");
  const char *const lacking[] = {MAKE "diff", MAKE "diff A=02", MAKE "diff A=02 STAT=1"};
  for (size_t i = 0; i < sizeof lacking / sizeof *lacking; i++) {
    result = lab_run("%s", lacking[i]);
    EXPECT_STATUS(result, 2);
    EXPECT(result, "error: which steps? make step03 diff");
  }
}

// Shows the lines that a variant removes, with its patch's text; the lab's own variant and step are used.
Test(diff, a_variant_and_its_step) {
  script_result result = lab_run(MAKE "step02 diff VARIANT=no_pad");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "Title: ", "Expect: ", "a/steps/02_tiled/attention.cu", "b/no_pad/attention.cu",
         "-static constexpr int PAD = 4;", "+static constexpr int PAD = 0;");
  result = lab_run(MAKE "step02 diff VARIANT=no_pad STAT=1");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "step variant changed", "02_tiled no_pad 2\n");
  result = lab_run(MAKE "step02 diff VARIANT=nothing");
  EXPECT_STATUS(result, 2);
  EXPECT(result, "error: 02_tiled has no variant 'nothing': it has ", "no_pad");
}

Test(diff, a_line_that_is_only_indented_is_shown_once) {
  write_step("05_loop", "int a;\nfor (;;) {\n  int b;\n  int c;\n}\nint d;\n");
  const script_result result = lab_run(DIFF "'' 05 | sed '/^+++/d; /^---/d'", lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "+for (;;) {", " int b;", " int c;");
  cr_expect_null(strstr(result.out, "\n-int"), "%s", result.out);
}

Test(diff, git_does_not_warn_of_the_ends_of_lines) {
  needs_tool("git");
  write_step("02_second", "// 02_second\nint a;\n");
  write_file("settings", "[core]\nautocrlf = true\n");
  const script_result result =
      lab_run("GIT_CONFIG_GLOBAL=%s/settings " DIFF "\"\" 02", lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "-// 01_first\n");
  cr_expect_null(strstr(result.out, "warning"), "%s", result.out);
}

// Whatever program a reader has set to show differences in, and however many lines around a change.
Test(diff, settings_of_git_change_nothing) {
  needs_tool("git");
  write_step("02_second", "// 02_second\nint a;\nint b;\nint c;\nint d;\n");
  const script_result plain = lab_run(DIFF "\"\" 02", lab_work);
  write_file("settings", "[diff]\nexternal = echo other\nnoprefix = true\nmnemonicPrefix = true\n"
                         "context = 1\ninterHunkContext = 9\n[color]\nui = always\n"
                         "[core]\npager = echo other\n");
  const script_result result = lab_run("export GIT_EXTERNAL_DIFF='echo other' GIT_DIFF_OPTS=-u1 "
                                       "GIT_CONFIG_GLOBAL=%s/settings; " DIFF "\"\" 02",
                                       lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  EXPECT(result, "--- a/steps/01_first/attention.cu\n", "-// 01_first\n", " int c;\n");
  cr_expect_str_eq(result.out, plain.out, "%s instead of %s", result.out, plain.out);
}

// A piece of a header lands where the other step has the piece of its name, and a new one behind the piece before it.
Test(diff, text_of_a_header_stands_where_the_other_step_has_it) {
  write_file("with.cuh", "// A header.\n// From: 01\n#ifndef H\n#define H\n\n#include \"x.cuh\"\n\n"
                         "// Second.\ntemplate <int D>\nint second(int y TIMELINE_SITE) {\n"
                         "  TIMELINE_AT(X)\n  a();\n\n  b();\n}\n\nint extra;\n\n#endif\n");
  write_file(
      "other",
      "// 01\n#include \"x.cuh\"\n\nint first() {\n}\n\nint second(int x) {\n}\n\nint third;\n");
  write_file("step", "// 02\n#include \"with.cuh\"\n\nint first() {\n}\n\nint third;\n");
  const script_result result =
      lab_run("awk -v headers=%s/with.cuh -f scripts/with_headers.awk %s/other %s/step", lab_work,
              lab_work, lab_work);
  EXPECT_STATUS(result, 0);
  cr_expect_str_eq(
      result.out,
      "// 02\n#include \"with.cuh\"\n\nint first() {\n}\n\n// Second.\ntemplate <int D>\n"
      "int second(int y) {\n  a();\n\n  b();\n}\n\nint extra;\n\nint third;\n",
      "%s", result.out);
}

// The lab's own: step 16 takes the producer of step 15 from a header, and step 21 the softmax of step 17.
Test(diff, lines_that_moved_to_a_header_do_not_show) {
  script_result result = lab_run(MAKE "step16 diff");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "16_row_sums takes lines of 15_persistent from common/kernel/persistent.cuh.",
         "+ Element V[tile::STAGES][D / PANEL + 1][tile::BLOCK_N][PANEL];");
  cr_expect_null(strstr(result.out, "\n-  const auto load_queries"), "%s", result.out);
  result = lab_run(MAKE "step21 diff");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "21_gather takes lines of 17_lazy_max from common/kernel/lazy_max.cuh.");
  cr_expect_null(strstr(result.out, "\n-  const auto wait_for_turn"), "%s", result.out);
  result = lab_run(MAKE "step22 diff");
  cr_expect_null(strstr(result.out, " takes lines of "), "both steps take them: %s", result.out);
}

// Each step adds one idea: the lab's own steps stay within their limits.
Test(diff, the_steps_keep_their_limits) {
  script_result result = lab_run(MAKE "diff STAT=1");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "03_3dgrid 02_tiled ", "04_online_softmax 03_3dgrid ", "09_tile_order 08_swizzle ",
         "10_tma 09_tile_order ", "17_lazy_max 16_row_sums ", "18_split_kv 09_tile_order ",
         "21_gather 17_lazy_max ", "23_hidden_copies 22_zigzag ", "24_last_wave 17_lazy_max ",
         "25_marked_words 20_one_kernel ", "26_early_merge 24_last_wave ");
  result = lab_run(MAKE "step03 diff");
  EXPECT_STATUS(result, 0);
  EXPECT(result, "steps/02_tiled/attention.cu", "+ for (int query_tile = blockIdx.z;");
  cr_expect_null(strstr(result.out, "exercise"), "%s", result.out);
}

// The steps for several GPUs compute as step 17 does, with a copy of its source in common/kernel/lazy_max.cuh, which takes
// the softmax from lazy_softmax.cuh. In the copy the shape and the elements of O may be of other types, and no part is an
// exercise.
Test(diff, several_gpus_compute_as_step_17) {
  const script_result result = lab_run(
      "code() { sed -e 's/const attention_shape &shape/const Shape \\&shape/' "
      "-e 's/, bool LSE, typename Output, typename Shape>/, bool LSE>/' "
      "-e 's/&smem, Output [*]O,/\\&smem, Element *O,/' -e '/^ *[/][/] exercise:/d' "
      "-e '/^ *[/][/] until then:/d' -e '/^ *[/][/] end of exercise/d' -e '/^#define "
      "WORKSPACE_BYTES/d' | "
      "awk '/^#include/ { begun = 1 } begun' | tr -s ' \\n' '\\n'; }; "
      "awk '/__launch_bounds__/ { exit } NR > 1 { print before } { before = $0 }' "
      "steps/17_lazy_max/attention.cu | code >%s/step && "
      "awk 'FNR == NR { if (/^\\/\\/ Whether/) on = 1; if (on && !/^#endif/) text = text $0 "
      "\"\\n\"; next } /lazy_softmax.cuh/ { next } /^\\/\\/ A consumer/ { printf \"%%s\", text } "
      "1' "
      "common/kernel/lazy_softmax.cuh common/kernel/lazy_max.cuh | "
      "sed '$d' | code >%s/header && diff %s/step %s/header",
      lab_work, lab_work, lab_work, lab_work);
  cr_expect_str_empty(result.out, "step 17 and lazy_max.cuh differ: %s", result.out);
  EXPECT_STATUS(result, 0);
}

// Steps 18 to 20 copy tiles as step 08 does, 19 and 20 merge as step 18 does, step 25 has the softmax of step 20, and step
// 26 the parts of step 24: the headers hold the steps' own text.
Test(diff, headers_of_decode_hold_the_text_of_their_steps) {
  const script_result result =
      lab_run("text() { awk -v from=\"$1\" '/^\\/\\/ (S_frag|Comp|Bytes)|^#endif|DIVIDED>$/ { on = "
              "0 } index($0, "
              "from) { on = "
              "1 } on' \"$2\" | sed -e '/exercise/d' -e '/until then:/d' | tr -s '\n'; }; "
              "compare() { text \"$1\" steps/$2/attention.cu >%s/step && grep -q . %s/step && "
              "text \"$1\" common/kernel/$3 >%s/header && diff %s/step %s/header; }; "
              "compare 'int PIECE =' 08_swizzle swizzle.cuh && "
              "compare 'Adds the sums over other keys' 18_split_kv merge.cuh && "
              "compare 'Returns the key of the block' 20_one_kernel online_softmax.cuh && "
              "compare '#define CONFIGURATIONS' 24_last_wave last_wave.cuh",
              lab_work, lab_work, lab_work, lab_work, lab_work);
  cr_expect_str_empty(result.out, "a step and its header differ: %s", result.out);
  EXPECT_STATUS(result, 0);
}
