#include "error/error.h"
#include "tests/kept.h"

#include <criterion/criterion.h>
#include <string.h>

Test(error, what_a_terminal_may_show) {
  const struct {
    const char *text, *shown;
  } cases[] = {
      {"", ""},
      {"plain ~ text", "plain ~ text"},
      {"\033[31mred\033[0m", "\\x1b[31mred\\x1b[0m"},
      {"title\a\r\n\tend\x7f", "title\\x07\\x0d\\x0a\\x09end\\x7f"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xc2\x9b"
       "31m",
       "\\xc2\\x9b31m"},                         // a control character of two bytes
      {"\xc0\x80 \xed\xa0\x80 \xf4\x90\x80\x80", // overlong, a surrogate, past U+10ffff
       "\\xc0\\x80 \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80"},
      {"\xff\xe2\x82", "\\xff\\xe2\\x82"}, // ends in the middle
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cr_expect_str_eq(kept(error_printable(cases[i].text).text), cases[i].shown, "case %zu: %s", i,
                     error_printable(cases[i].text).text);
  }
}

Test(error, long_texts_are_cut_between_characters) {
  char text[4096];
  memset(text, '\033', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  const error_text shown = error_printable(text);
  cr_expect_eq(strlen(shown.text) % 4, 0);
  cr_expect_geq(strlen(shown.text), sizeof shown.text - 4);
}

Test(error, every_sentence_is_printable) {
  error_text error;
  cr_expect_not(fail(&error, "cannot open %s: %d", "\033]0;title\a", 7));
  cr_expect_str_eq(error.text, "cannot open \\x1b]0;title\\x07: 7");
  cr_expect_not(fail(&error, "%s again", error.text));
  cr_expect_str_eq(error.text, "cannot open \\x1b]0;title\\x07: 7 again");
}
