// scripts/guide.sh: which blocks of a document it runs, what it makes of what they say, and what it refuses.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(guide, .init = toolkit_enter, .fini = toolkit_leave);

#define COMMANDS(words, text) "```sh " words "\n" text "\n```\n"
#define OUTPUT(text)          "```text output\n" text "\n```\n"

static script_result guide(const char *options, const char *document) {
  char command[64];
  toolkit_write("document.md", document);
  snprintf(command, sizeof command, "scripts/guide.sh %s document.md 2>&1", options);
  return toolkit_run(command);
}

Test(guide, run_what_is_marked) {
  const script_result result = guide(
      "", "text\n\n" COMMANDS("tested", "mkdir -p work/guide; echo 1 >work/guide/a") "\n" COMMANDS(
              "tested", "cat work/guide/a") "\n```sh\nfalse\n```\n" COMMANDS("slow", "false"));
  EXPECT(result, "ok document.md:3", "ok document.md:7",
         "guide: 2 blocks do what the guide says, 1 are left out");
  cr_expect_eq(result.status, 0, "%s", result.out);
}

// The reader's files are in work; the guide's run leaves them alone.
Test(guide, takes_the_readers_files_from_a_folder_of_its_own) {
  const script_result result = guide(
      "", COMMANDS("tested", "mkdir -p work/04_a\necho mine >work/04_a/attention.cu\n"
                             "cat work/guide/own/04_a/attention.cu $LAB_WORK/04_a/attention.cu")
              OUTPUT("mine\nmine"));
  cr_expect_eq(result.status, 0, "%s", result.out);
  EXPECT(result, "guide: 1 blocks do what the guide says");
}

// The work of the reader in between stands in a comment, which no page shows.
Test(guide, runs_what_a_comment_says) {
  const script_result result = guide(
      "",
      "<!-- sh tested\nmkdir -p work/guide; echo written >work/guide/a\n-->\n<!-- sh slow\nfalse\n"
      "-->\n<!-- a remark\n-->\n" COMMANDS("tested", "cat work/guide/a") OUTPUT("written"));
  cr_expect_eq(result.status, 0, "%s", result.out);
  EXPECT(result, "guide: 2 blocks do what the guide says, 1 are left out");
}

// The workshop, the pages of the guide, and the pages of the steps.
Test(guide, run_all_pages_when_none_is_named) {
  cr_assert_eq(toolkit_run("mkdir guide").status, 0);
  toolkit_write("GUIDE.md", COMMANDS("tested", "echo workshop"));
  toolkit_write("guide/setup.md", COMMANDS("tested", "echo page"));
  toolkit_write("steps/99_recorded/README.md", COMMANDS("tested", "echo step; exit 3"));
  const script_result result = toolkit_run("scripts/guide.sh 2>&1");
  EXPECT(result, "ok GUIDE.md:1", "ok guide/setup.md:1", "FAIL steps/99_recorded/README.md:1",
         "guide: 1 of 3 blocks do not do what the guide says");
  cr_expect_eq(result.status, 1);
  // The second tenth of the three pages; its commands do not see which tenth it is.
  toolkit_write("guide/setup.md", COMMANDS("tested", "test -z \"${TENTH-}\""));
  const script_result tenth = toolkit_run("TENTH=1 scripts/guide.sh 2>&1");
  EXPECT(tenth, "ok guide/setup.md:1", "guide: 1 blocks of this tenth do what the guide says");
  cr_expect_eq(tenth.status, 0, "%s", tenth.out);
}

// No document finds what the commands of another one have left.
Test(guide, begins_each_document_in_an_empty_folder) {
  toolkit_write("first.md", COMMANDS("tested", "mkdir -p work/guide && echo 1 >work/guide/left"));
  toolkit_write("second.md", COMMANDS("tested", "! test -e work/guide/left"));
  const script_result result = toolkit_run("scripts/guide.sh first.md second.md 2>&1");
  cr_expect_eq(result.status, 0, "%s", result.out);
  EXPECT(result, "ok first.md:1", "ok second.md:1", "guide: 2 blocks do what the guide says");
}

Test(guide, run_slow_ones_on_demand) {
  const script_result result = guide("--all", COMMANDS("slow", "echo said; exit 3"));
  EXPECT(result, "FAIL document.md:1: it ended with 3 where the document says 0",
         "$ echo said; exit 3", "said", "guide: 1 of 1 blocks do not do what the guide says");
  cr_expect_eq(result.status, 1);
}

Test(guide, compare_what_is_said) {
  const struct {
    const char *commands;
    const char *output;
    const char *missing; // NULL when all is there
  } cases[] = {
      {"echo one; echo two; echo three", "one\nthree", NULL},
      {"echo one; echo two", "one\n...\ntwo", NULL},
      {"echo 'took 17 s (a+b)'", "took ... s (a+b)", NULL},
      {"echo '[1] * x.y'", "[1] * x.y", NULL},
      {"echo standard error >&2", "standard error", NULL},
      {"echo one; echo two", "two\none", "one"},
      {"echo one", "one\none", "one"},
      {"echo one", "on", "on"},
      {"echo one", "ne", "ne"},
      {"echo xzy", "x.y", "x.y"},
      {"true", "one", "one"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char document[256], sentence[128];
    snprintf(document, sizeof document, COMMANDS("tested", "%s") "\n" OUTPUT("%s"),
             cases[i].commands, cases[i].output);
    snprintf(sentence, sizeof sentence, "it does not say, or not in this place: %s\n",
             cases[i].missing ? cases[i].missing : "");
    const script_result result = guide("", document);
    cr_expect_eq(result.status, cases[i].missing ? 1 : 0, "'%s': %s", cases[i].commands,
                 result.out);
    EXPECT(result, cases[i].missing ? sentence : "guide: 1 blocks do what the guide says");
  }
}

Test(guide, stop_at_the_first_command_that_fails) {
  const script_result result = guide("", COMMANDS("tested", "false\ntrue"));
  EXPECT(result, "it ended with 1 where the document says 0");
  cr_expect_eq(guide("", COMMANDS("tested status=7", "exit 7")).status, 0);
  cr_expect_eq(guide("", COMMANDS("tested status=7", "true")).status, 1);
}

Test(guide, leave_out_what_needs_a_missing_program) {
  const script_result result = guide("", COMMANDS("tested needs=sh,no_such_program", "false")
                                             COMMANDS("tested needs=sh", "true"));
  EXPECT(result, "skip document.md:1: needs no_such_program", "ok document.md:4", "1 blocks");
  cr_expect_eq(result.status, 0);
}

Test(guide, refuse_what_makes_no_sense) {
  const struct {
    const char *text;
    const char *sentence;
  } cases[] = {
      {"text\n```sh\ntrue\n```\n", "error: nothing in document.md is marked as tested"},
      {"```sh tested\ntrue\n", "error: document.md:2: the document ends inside of a block"},
      {COMMANDS("tested", "true") "text\n" OUTPUT("x"),
       "error: document.md:5: an output stands here"},
      {COMMANDS("tested quick", "true"), "error: document.md:1: 'quick' is not a word"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = guide("", cases[i].text);
    EXPECT(result, cases[i].sentence);
    cr_expect_eq(result.status, 2, "%s", result.out);
  }
  const script_result missing = toolkit_run("scripts/guide.sh missing.md 2>&1");
  EXPECT(missing, "error: missing.md:0: there is no such document");
}
