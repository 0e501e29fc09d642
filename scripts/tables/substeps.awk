# What each substep brings on the way from the step before to the step: the sources in between beside the step itself,
# timed in one run for each problem. A source has one row, with a column for each problem.
# Arguments: DEVICE NN
# Data: substeps.csv (make substeps RECORD=1)
# With: substeps-dim128.csv, substeps-causal.csv, substeps-few-keys.csv
# Awk: scripts/patch_head scripts/beside_step
{
  name = source_beside_step()
  if (name == "") next
  if (!(name in words)) {
    if (name !~ /^0_/ && patch_head("Title") == "") next # of an older form of the step
    source[++sources] = name
    words[name] = name ~ /^0_/ ? "the step before" : "[" name "](substeps/" name ".patch): " patch_head("Title")
  }
  cell[name, p] = time_cell()
  if (timed() && field("speedup") != "") cell[name, p] = ratio_cell("speedup") throttled_text()
}
END {
  if (!problems) {
    print "The substeps of this step have not been recorded yet: `make step" nn " substeps RECORD=1` on a GPU records them," \
      " and `make publish` puts them here."
    exit
  }
  print "The numbers say how many times as fast as the step itself the source behind each substep is. The row of the step" \
    " has its times, in ms.\n"
  cells = "source"
  for (p = 1; p <= problems; p++) cells = cells "\t" text[p]
  header(cells, 1)
  for (i = 1; i <= sources; i++) {
    cells = words[source[i]]
    for (p = 1; p <= problems; p++) cells = cells "\t" cell[source[i], p]
    row(cells)
  }
  cells = "the step itself, behind the last substep"
  for (p = 1; p <= problems; p++) cells = cells "\t" cell["", p]
  row(cells)
  files_read = used_files # not those that hold rows of other steps alone
  origin()
}
