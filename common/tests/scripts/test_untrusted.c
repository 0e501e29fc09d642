// Records, names of folders and settings are data: no part of their text is ever run.
#define _GNU_SOURCE
#include "recorded.h"
#include "tests/needs.h"

// The shell, gnuplot and awk would each run a part of it, or take it for marks; in a CSV file it stands in quotes.
#define HOSTILE "`touch ran`$(touch ran)'.system('touch ran').\" @x {/:Bold=9 z} ^2 <b>&c"
#define HOSTILE_FIELD                                                                              \
  "`touch ran`$(touch ran)'.system('touch ran').\\\"\\\" @x {\\/:Bold=9 z} ^2 <b>\\&c"
#define HOSTILE_IN_XML                                                                             \
  "`touch ran`$(touch ran)'.system('touch ran').\" @x {/:Bold=9 z} ^2 &lt;b>&amp;c"

static void enter(void) {
  toolkit_enter();
  recorded_write_all();
}

TestSuite(untrusted, .init = enter, .fini = toolkit_leave);

static void nothing_was_run(const char *what) {
  const script_result found = toolkit_run("find . -name '*ran'; find . -name '*.tmp'");
  cr_expect_str_empty(found.out, "%s left %s", what, found.out);
}

static void need_gnuplot(void) {
  if (system("command -v gnuplot >/dev/null") != 0) cr_skip_test("gnuplot is not installed");
}

Test(untrusted, texts_of_records_are_drawn_as_they_stand) {
  need_gnuplot();
  toolkit_write("change.sed",
                "s/Test GPU/\"" HOSTILE_FIELD "\"/\ns/^05_fused/\"05_" HOSTILE_FIELD
                "\"/\ns/,32x64x4x1/,\"" HOSTILE_FIELD "\"/\ns/skipped/\"" HOSTILE_FIELD "\"/\n");
  cr_assert_eq(toolkit_run("sed -i -f change.sed " FOLDER "/*.csv").status, 0);
  const script_result drawn = toolkit_run(
      "scripts/plot.sh 'speedup sweep roofline latency saves peers' test-gpu 2>&1 >said");
  cr_expect_eq(drawn.status, 0, "it ended with %d", drawn.status);
  cr_expect_str_empty(drawn.out, "gnuplot said: %s", drawn.out);
  nothing_was_run("drawing");
  const char *const charts[] = {"speedup", "sweep", "roofline", "peers-dim64-fp16"};
  for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) {
    char command[256];
    snprintf(command, sizeof command,
             "tr '\\n' ' ' <plots/test-gpu/%s.svg | sed 's/<title[^<]*//g; s/<desc[^<]*//; "
             "s/<[^>]*>//g; s/[\t ][\t ]*/ /g'",
             charts[i]);
    const script_result words = toolkit_run(command);
    cr_expect(strstr(words.out, HOSTILE_IN_XML), "%s: %s", charts[i], words.out);
  }
  // The title and the description are the lab's own: a browser must be able to read them, too.
  if (!has_tool("python3")) return;
  const script_result read = toolkit_run("python3 -c 'import sys, xml.dom.minidom as xml; "
                                         "[xml.parse(file) for file in sys.argv[1:]]' "
                                         "plots/test-gpu/*.svg 2>&1");
  cr_expect_str_empty(read.out, "%s", read.out);
}

Test(untrusted, what_is_no_number_is_refused) {
  const struct {
    const char *change; // of a file, by sed
    const char *sentence;
  } cases[] = {
      {"s/,20,abc/,`touch ran`,abc/", "is no record: tflops is no number: `touch ran`"},
      {"s/,512,512/,END,512/", "is no record: seq_q is no number: END"},
      {"s/05_fused/05\\x1b[31m/", "is no record: it holds control characters"},
      {"s/fp16/..\\/..\\/ran/", "is no record: dtype is ../../ran, of which no chart is named"},
  };
  need_gnuplot();
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char command[256];
    recorded_write_all();
    snprintf(command, sizeof command,
             "sed -i '%s' " FOLDER "/bench.csv && scripts/plot.sh scaling test-gpu 2>&1",
             cases[i].change);
    const script_result result = toolkit_run(command);
    cr_expect_eq(result.status, 2, "%s: it ended with %d", cases[i].change, result.status);
    EXPECT(result, "error: line ", " of " FOLDER "/bench.csv ", cases[i].sentence);
    nothing_was_run(cases[i].change);
  }
  // Where a chart would hand gnuplot something else than numbers and texts, it ends as well.
  toolkit_write("list.awk", "BEGIN { print_array(\"a\", \", 1, system('touch ran')\", 2) }\n");
  const script_result list = toolkit_run("awk -f scripts/csv.awk -f scripts/text.awk -f "
                                         "plots/chart.awk -f plots/choice.awk -f list.awk 2>&1");
  cr_expect_eq(list.status, 2);
  EXPECT(list, "error: a of a chart is no list of numbers or texts");
}

// The folder's name reaches the charts' names, and the page of a chart that has no data.
Test(untrusted, names_of_folders) {
  need_gnuplot();
  toolkit_write("name", "a b`touch ran`$(touch ran)'\"@x{}_\\n");
  const script_result drawn = toolkit_run(
      "name=$(cat name) && mv " FOLDER " \"plots/data/$name\" && "
      "rm \"plots/data/$name/bench.csv\" && scripts/plot.sh 'speedup scaling' 2>&1 >said; "
      "ls \"plots/$name\"");
  EXPECT(drawn, "scaling.svg\n", "speedup.svg\n");
  nothing_was_run("drawing");
}

Test(untrusted, texts_in_tables) {
  toolkit_write("change.sed", "s/Test GPU/\"" HOSTILE_FIELD " | b\"/\ns/^05_fused/\"05_a | b\"/\n");
  cr_assert_eq(toolkit_run("sed -i -f change.sed " FOLDER "/ladder.csv").status, 0);
  toolkit_write("document.md", "<!-- table: ladder test-gpu -->\n<!-- end of table -->\n");
  cr_assert_eq(toolkit_run("scripts/tables.sh document.md").status, 0);
  const script_result document = toolkit_run("cat document.md");
  EXPECT(document, "| 05 a \\| b |", HOSTILE " | b, Test GPU, commit");
  nothing_was_run("the tables");
}
