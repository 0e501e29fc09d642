// The lab's awk programs run in every awk: mawk, gawk, and the one that Debian calls original-awk.
#define _GNU_SOURCE
#include "toolkit.h"

TestSuite(awk, .init = toolkit_enter, .fini = toolkit_leave);

// Prints each line of the scripts that has a comparison before a question mark in what it prints, outside of parentheses.
#define JUDGE                                                                                      \
  "{ text = text $0 }\n"                                                                           \
  "text ~ /print/ && /[,\\\\]$/ { next }\n"                                                        \
  "{\n"                                                                                            \
  "  rest = text\n"                                                                                \
  "  text = \"\"\n"                                                                                \
  "  gsub(/\\\\\"/, \"\", rest)\n"                                                                 \
  "  gsub(/\"[^\"]*\"/, \"s\", rest)\n"                                                            \
  "  while (gsub(/\\([^()]*\\)/, \"p\", rest)) {}\n"                                               \
  "  while (match(rest, /(^|[ {;])printf? /)) {\n"                                                 \
  "    rest = printed = substr(rest, RSTART + RLENGTH)\n"                                          \
  "    sub(/[;}].*/, \"\", printed)\n"                                                             \
  "    if (printed ~ /(==|!=|<=?|>=| ~ )[^?]*\\?/) print FILENAME \":\" FNR \": \" $0\n"           \
  "  }\n"                                                                                          \
  "}\n"

// POSIX leaves it out of the language, and original-awk takes it for an error.
Test(awk, what_is_compared_in_print_stands_in_parentheses) {
  toolkit_write("judge.awk", JUDGE);
  toolkit_write("wrong.awk", "{ print a == 1 ? 1 : 2 }\n{ printf \"%s %s\", (b < 2 ? 1 : 2), \\\n"
                             "  c < 3 ? 3 : 4 }\n{ print (a == 1 ? 1 : 2) }\n");
  script_result result = toolkit_run("awk -f judge.awk wrong.awk | cut -d : -f 1,2 | xargs");
  cr_expect_str_eq(result.out, "wrong.awk:1 wrong.awk:3\n", "%s", result.out);
  result = toolkit_run("awk -f judge.awk $(find scripts plots -name '*.sh' -o -name '*.awk')");
  cr_expect_str_empty(result.out, "%s", result.out);
}
