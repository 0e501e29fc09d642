# Takes the text of the lab's lines out of what a tool says of them; file and line stay. With -v part=N, the one part of a
# reader's file that stands between the lab's other parts, the lines in steps/ are the solutions of these. Without it all
# is printed as it comes.
part == "" { print; fflush(); next }

# In a report of the emulator the text stands below the place.
in_report && /^=========         / && !/^=========         called from / { in_report = 0; next }
{ in_report = /^=========/ && / in steps\/[^ ]*\/attention\.cu:[0-9]+$/ }
# In a table of count it stands behind the place.
match($0, /^ +[0-9.]+% +[0-9]+ +steps\/[^ ]*\/attention\.cu:[0-9]+/) { $0 = substr($0, 1, RLENGTH) }
{
  print
  fflush()
}
