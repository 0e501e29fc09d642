// plots/style.gp: the look that all charts share.
#define _GNU_SOURCE
#include "tests/needs.h"
#include "toolkit.h"

static void enter(void) {
  needs_tool("gnuplot");
  toolkit_enter();
}

TestSuite(plot_style, .init = enter, .fini = toolkit_leave);

Test(plot_style, the_dash_tells_who_made_a_line) {
  toolkit_write("words.gp", "heading = subtitle = corner = note = \"\"\n");
  const script_result result = toolkit_run(
      "gnuplot -e \"terminal='dumb'; data='words.gp'; load 'plots/style.gp'; "
      "do for [style in '0 1 10 103 105 205'] { print dash(int(style)) }\" 2>&1 | grep -v iconv");
  cr_expect_str_eq(result.out, "3\n1\n1\n2\n2\n3\n", "ceiling, steps, peers, quoted: %s",
                   result.out);
}

// No colour of a family of steps is in another one; the reader's own steps are black.
Test(plot_style, families_of_steps_have_colours_of_their_own) {
  toolkit_write("words.gp", "heading = subtitle = corner = note = \"\"\n");
  const script_result result =
      toolkit_run("gnuplot -e \"terminal='dumb'; data='words.gp'; load 'plots/style.gp'; "
                  "do for [i = 1:23] { print colour(i), i <= 4 ? 1 : i <= 6 ? 2 : i <= 9 ? 3 : i "
                  "<= 17 ? 4 : 5 }; "
                  "print colour(330), 6\" 2>&1 | grep -v iconv | sort -u | "
                  "awk '{ count[$1]++; n++ } $2 == 6 { own = $1 } END { for (i in count) if "
                  "(count[i] > 1) print i; "
                  "print (n >= 12), own }'");
  cr_expect_str_eq(result.out, "1 0\n", "%s", result.out);
}

// The names of lines have a contrast of 4.5 to the white ground at least, as WCAG asks of letters of this size.
Test(plot_style, names_of_lines_can_be_read) {
  toolkit_write("words.gp", "heading = subtitle = corner = note = \"\"\n");
  const script_result result = toolkit_run(
      "gnuplot -e \"terminal='dumb'; data='words.gp'; load 'plots/style.gp'; do for [i = 0:330] { "
      "c = int(ink(i)); print i, c >> 16 & 255, c >> 8 & 255, c & 255 }\" 2>&1 | grep -v iconv | "
      "awk 'function light(v) { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) "
      "^ 2.4 } "
      "1.05 / (0.2126 * light($2) + 0.7152 * light($3) + 0.0722 * light($4) + 0.05) < 4.5 { print "
      "$1 } "
      "END { print NR }'");
  cr_expect_str_eq(result.out, "331\n", "%s", result.out);
}

// The note of what is missing would stand on the origin of the data where both are long.
Test(plot_style, a_long_note_stands_above_the_origin) {
  toolkit_write("words.gp", "heading = subtitle = \"\"; canvas_width = 1000\n"
                            "note = 'Not recorded yet: peers.csv (make peers).'\n"
                            "corner = 'A GPU, commit abc1234, 2026-01-02'\n");
  const script_result result = toolkit_run(
      "for origin in '' ' to 2026-01-31, and of three other commits'; do "
      "sed \"s/-02'/-02$origin'/\" words.gp >both.gp; gnuplot -e \"terminal='svg'; "
      "output='/dev/null'; "
      "data='both.gp'; load 'plots/style.gp'; print above_corner > 0\" 2>&1 | grep -v iconv; done");
  cr_expect_str_eq(result.out, "0\n1\n", "%s", result.out);
}
