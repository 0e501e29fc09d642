# Prints the first failed test of a log of Criterion, with or without --verbose: how many tests pass, its name, and what it
# said. The emulator's first report comes before that.
{ gsub(/\033\[[0-9;]*m/, "") }
# Most of the tests behind it may have the same report.
/^=========/ {
  if (!name && !reported) print
  if (/the launch is abandoned/) reported = 1
  next
}
/^\[----\]/ {
  sub(/^\[----\] */, "")
  if ($0 != "" && !/Assertion [Ff]ailed$/) said = said "  " $0 "\n"
  next
}
/^error: the test has used all its processor time/ { endless = 1 }
/^\[FAIL\]/ && !name {
  name = $2
  sub(/:$/, "", name)
  if (/Timed out/ || endless) said = said "  it did not end: does a loop of the launcher, outside of the kernel, never end?\n"
  first = said
}
/^\[(RUN |PASS|FAIL)/ { said = ""; endless = 0 }
/Synthesis:/ {
  tested = passing = $0
  sub(/.*Tested: */, "", tested)
  sub(/.*Passing: */, "", passing)
  printf "%d of %d tests pass; the first that does not is %s:\n%s", passing, tested, name, first
}
