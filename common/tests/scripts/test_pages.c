// scripts/pages.sh: which links it follows, that the words of pictures differ, that lists count, and which parts it
// requires of a step's page.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(pages, .init = toolkit_enter, .fini = toolkit_leave);

static script_result pages(const char *document) {
  toolkit_write("document.md", document);
  toolkit_write("other.md", "# Other\n\n## The story of 0x82, retold\n");
  return toolkit_run("scripts/pages.sh 2>&1");
}

Test(pages, follow_links_to_files_and_headings) {
  const struct {
    const char *text;
    const char *wrong; // NULL when all is well
  } cases[] = {
      {"[a](other.md) and ![b](steps/99_recorded/attention.cu)", NULL},
      {"[a](steps/99_recorded), [b](https://example.org/missing.md)", NULL},
      {"# Title\n\n[a](#title) [b](other.md#the-story-of-0x82-retold)", NULL},
      {"`[a](missing.md)`\n\n    [b](missing.md)\n\n```sh\n[c](missing.md)\n```", NULL},
      {"[a](other.md) [b](missing.md)",
       "document.md:1: the link leads to missing.md, and there is no such file"},
      {"text\n\n```sh\ntrue\n```\n![a](missing.svg)",
       "document.md:6: the link leads to missing.svg"},
      {"[a\nb](missing.md)", "document.md:2: the link leads to missing.md"},
      {"[a](other.md#the-story)", "document.md:1: the link leads to other.md#the-story, and that "
                                  "document has no such heading"},
      {"[a](#title)", "document.md:1: the link leads to #title"},
      {"![a](other.md) ![b](other.md) [a](other.md)", NULL},
      {"![a](other.md)\n\n![a](document.md)", "document.md:3: the picture has the same words as "
                                              "that of line 1, \"a\": say what each shows"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = pages(cases[i].text);
    EXPECT(result, cases[i].wrong ? cases[i].wrong : "pages: ");
    cr_expect_eq(result.status, cases[i].wrong ? 1 : 0, "'%s': %s", cases[i].text, result.out);
  }
}

// A number that is missing at the beginning of a line stands within the item before.
Test(pages, have_lists_that_count) {
  const struct {
    const char *text;
    const char *wrong;
  } cases[] = {
      {"1. a\n2. b\n   c\n\n3. d", NULL},
      {"1. a\n\n       code\n\n2. b\n\n1. another list\n2. c", NULL},
      {"## A\n\n1. a\n2. b\n\n## B\n\n1. c", NULL},
      {"1. a\n\nThere are fewer in step\n18. A paragraph goes on.", NULL},
      {"```text\n3. code\n```\n\n    4. code", NULL},
      {"1. a. 2. b\n   c\n3. d", "document.md:3: item 3 comes after item 1: the numbers of a list "
                                 "rise by 1, from 1 on"},
      {"1. a\n2. b\n\n## B\n\n3. c", "document.md:6: item 3 comes first"},
      {"1. a\n2. b\n2. c", "document.md:3: item 2 comes after item 2"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const script_result result = pages(cases[i].text);
    EXPECT(result, cases[i].wrong ? cases[i].wrong : "pages: ");
    cr_expect_eq(result.status, cases[i].wrong ? 1 : 0, "'%s': %s", cases[i].text, result.out);
  }
}

#define SECTION(name) "## " name "\n\ntext\n\n"
#define SECTIONS      SECTION("The idea") SECTION("Predict") SECTION("Measure") SECTION("In the diff")

// Links are relative to the folder of the document.
Test(pages, start_at_the_documents_folder) {
  toolkit_write("steps/99_recorded/README.md",
                "[a](attention.cu) [b](../../other.md)\n\n" SECTIONS);
  script_result result = pages("");
  cr_expect_eq(result.status, 0, "%s", result.out);
  toolkit_write("steps/99_recorded/README.md", "[a](other.md)\n");
  result = pages("");
  EXPECT(result, "steps/99_recorded/README.md:1: the link leads to other.md");
}

Test(pages, of_steps_have_the_same_sections) {
  const struct {
    const char *text;
    const char *wrong;
  } cases[] = {
      {"**Idea.** Not in this form.",
       "README.md: the page of a step needs the section \"The idea\""},
      {SECTIONS, NULL},
      {SECTION("The idea") SECTION("Predict") SECTION("Exercise") SECTION("Measure")
           SECTION("What each part brings") SECTION("What did not help")
               SECTION("What the documents say") SECTION("In the diff") SECTION("Further reading"),
       NULL},
      {SECTION("The idea") SECTION("Measure") SECTION("Predict") SECTION("In the diff"),
       "README.md:9: the section \"Predict\" comes before \"Measure\" in the page of a step"},
      {SECTION("The idea") SECTION("Predict") SECTION("Measure") SECTION("Measure"),
       "README.md:13: the section \"Measure\" comes before \"Measure\""},
      {SECTION("The idea") SECTION("Predict") SECTION("Notes") SECTION("In the diff"),
       "README.md:9: \"Notes\" is no section of a step"},
      {SECTION("The idea") SECTION("Predict") SECTION("In the diff"),
       "README.md: the page of a step needs the section \"Measure\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    toolkit_write("steps/99_recorded/README.md", cases[i].text);
    const script_result result = pages("## Predict\n\n## Notes\n");
    EXPECT(result, cases[i].wrong ? cases[i].wrong : "pages: ");
    cr_expect_eq(result.status, cases[i].wrong ? 1 : 0, "%zu: %s", i, result.out);
  }
}

// The pages that git knows, and those that it would take, are checked; without git, all but those that the lab makes.
Test(pages, are_those_of_the_lab) {
  const script_result made = toolkit_run(
      "mkdir -p build/a work/b a/b && touch known.md a/b/new.md build/a/built.md work/b/mine.md && "
      "echo '[a](none.md)' | tee known.md >a/b/new.md");
  cr_assert_eq(made.status, 0, "%s", made.out);
  script_result result = toolkit_run("scripts/files.sh '*.md'");
  cr_expect_str_eq(result.out, "a/b/new.md\nknown.md\n", "%s", result.out);
  result = toolkit_run("git init -q . && printf 'build\nwork\nignored.md\n' >.gitignore && "
                       "touch ignored.md && git add known.md && scripts/files.sh '*.md' | sort");
  cr_expect_str_eq(result.out, "a/b/new.md\nknown.md\n", "%s", result.out);
  result = toolkit_run("scripts/pages.sh 2>&1");
  cr_expect_eq(result.status, 1);
  EXPECT(result, "a/b/new.md:1: the link leads to none.md");
  EXPECT(result, "known.md:1: the link leads to none.md");
}

Test(pages, refuse_a_missing_document) {
  const script_result result = toolkit_run("scripts/pages.sh missing.md 2>&1");
  EXPECT(result, "error: missing.md: there is no such document");
  cr_expect_eq(result.status, 2);
}

// Of the lab itself: no picture is kept that no page shows or links.
Test(published_pictures, each_stands_on_a_page) {
  const script_result lonely =
      toolkit_run("for picture in plots/*/*.svg plots/*/*.png; do [ -f \"$picture\" ] || continue; "
                  "grep -qF \"(${picture#plots/})\" plots/*.md || echo \"$picture\"; done");
  cr_expect_str_empty(lonely.out, "no page shows: %s", lonely.out);
}
