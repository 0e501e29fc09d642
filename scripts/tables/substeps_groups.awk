# What each substep of a step for several GPUs brings: the sources in between beside the step itself, timed in one run on
# all GPUs of a machine. A source has one row, with two columns for each problem: its time, and how many times as fast as
# the source before it is.
# Arguments: DEVICE NN
# Data: substeps-groups.csv (make substeps RECORD=1)
# With: substeps-groups-23.csv
# Awk: scripts/patch_head scripts/group_problem
!has_number(field("step"), nn) { next }
!(file in used) {
  used[file]
  used_files = used_files (used_files == "" ? "" : ", ") "`" file ".csv`"
}
{
  p = group_problem()
  name = field("variant")
  if (name !~ /^0_/ && name != "" && patch_head("Title") == "") next # of an older form of the step
  if (!(name in words)) {
    if (name != "") source[++sources] = name
    words[name] = name ~ /^0_/ ? "the step before" : "[" name "](substeps/" name ".patch): " patch_head("Title")
  }
  cell[name, p] = time_cell()
  median[name, p] = field("median_ms")
}
function cells_of(name, before,  i, p, cells) {
  for (i = 1; i <= problems; i++) {
    p = place[i]
    cells = cells "\t" cell[name, p] "\t" \
      (before != "" && median[name, p] > 0 ? sprintf("%.2f", median[before, p] / median[name, p]) : "")
  }
  return cells
}
END {
  if (!problems) {
    print "The substeps of this step have not been recorded yet: `make step" nn " substeps RECORD=1` on several GPUs records" \
      " them, and `make publish` puts them here."
    exit
  }
  cells = "source"
  for (i = 1; i <= problems; i++) cells = cells "\t" text[place[i]] ", ms [95 %]\t× the source before"
  header(cells, 1)
  for (i = 1; i <= sources; i++) row(words[source[i]] cells_of(source[i], i > 1 ? source[i - 1] : ""))
  row("the step itself, behind the last substep" cells_of("", sources ? source[sources] : ""))
  files_read = used_files # not those that hold rows of other steps alone
  origin()
}
