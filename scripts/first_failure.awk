# Prints the first failed test of a log of Criterion: the emulator's report of it, how many tests pass, its name, and what
# it said.
#   LOG                              of tests that ran one after the other, with --verbose: what stands before a test has
#                                    ended, and behind the end of the last one, is its own
#   LOG from=tap TAP from=alone LOG  of tests that ran side by side, whose lines stand among each other. Its own are those
#                                    of a log of it alone. Where it passes alone, or was not run again, they are those of
#                                    Criterion's report in the TAP format, which has them under the name of each test
# Of the tests that fail, those of plain shapes come first, then those of other inputs: the name of another says what it is
# about, which need not be what is wrong.
# With what=name it prints the name, as --filter takes it. It prints nothing where the test did not end in time, which would
# take as long once more. With quick=1 the log ends with the first failure, and the number of tests that pass is left out.
function rank(test) { return test ~ /^shapes::/ ? 0 : test ~ /^inputs::/ ? 1 : 2 }

FNR == 1 { said = report = ""; abandoned = 0 }
{ gsub(/\033\[[0-9;]*m/, "") }

# The last message comes first there.
from == "tap" && /^(not )?ok - / {
  tapped = told tapped
  told = ""
  inside = index($0 " ", "not ok - " name " ") == 1
  if (inside && match($0, / unexpected signal .*/)) tapped = " " substr($0, RSTART) "\n"
}
from == "tap" && inside && /^  - / {
  tapped = told tapped
  told = ""
}
from == "tap" && inside && /^      / {
  sub(/^      (Assertion [Ff]ailed: )?/, "  ")
  told = told $0 "\n"
}
from == "tap" { next }

# Most of what comes behind a report is a repetition of it.
/^=========/ {
  if (!abandoned) report = report $0 "\n"
  if (/the launch is abandoned/) abandoned = 1
  next
}
/^\[----\]/ {
  sub(/^\[----\] */, "")
  if ($0 != "" && !/Assertion [Ff]ailed$/) said = said "  " $0 "\n"
  next
}
/^error: the test has used all its processor time/ { endless[$NF] } # its name is the last word
/^\[(PASS|FAIL)/ {
  test = $2
  sub(/:$/, "", test)
}
/^\[FAIL\]/ && (from == "" ? name == "" || rank(test) < rank(name) : from == "alone" && test == name) {
  if (from == "") late = /Timed out/ || test in endless
  name = test
  own = said
  own_report = report
  shown = from
}
/^\[PASS\]/ && from == "alone" && test == name { passes_alone = 1 }
/^\[RUN / { said = "" }
/^\[(PASS|FAIL)/ || (/^\[SKIP/ && !/Test is disabled/) {
  said = report = ""
  abandoned = 0
}
/Synthesis:/ && from == "" {
  tested = passing = $0
  sub(/.*Tested: */, "", tested)
  sub(/.*Passing: */, "", passing)
  sub(/[^0-9].*/, "", tested)
  sub(/[^0-9].*/, "", passing)
}
END {
  if (what == "name") {
    if (!late && sub(/::/, "/", name)) print name
    exit
  }
  if (from != shown) { # not run alone, or it passes alone
    own = told tapped
    own_report = ""
  }
  if (late) own = own "  it did not end: does a loop of the launcher, outside of the kernel, never end?\n"
  if (own own_report == "") own = "  it said nothing: its process ended before the test was at its end\n"
  if (passes_alone) own = own "  alone it passes: it fails beside other tests, or not each time\n"
  first = passing " of " tested " tests pass; the first that does not is "
  if (quick != "") first = "the first test that does not pass is "
  printf "%s%s%s:\n%s", own_report, first, name, own
}
