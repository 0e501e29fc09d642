# What each part of a step brings: its variants beside the step itself, timed in one run for each problem. A variant has
# one row, with a column for each problem. Behind this table stands what did not help: variants than which the step is
# nowhere faster, and additions that are nowhere faster than the step; faster means that the whole interval of the ratio
# says so.
# Arguments: DEVICE NN
# Data: variants.csv (make variants RECORD=1)
# With: variants-dim128.csv, variants-causal.csv, variants-few-keys.csv, variants-many-keys.csv, variants-spread.csv
# Awk: scripts/patch_head scripts/beside_step
{
  name = source_beside_step()
  if (name == "") next
  if (!(name in words)) {
    variant[++variants] = name
    words[name] = "[" name "](variants/" name ".patch): " patch_head("Title") "\t" patch_head("Expect")
    if (patch_head("Kind") == "addition") addition[name]
  }
  cell[name, p] = time_cell()
  if (!timed() || field("speedup") == "") next
  cell[name, p] = ratio_cell("speedup") throttled_text()
  compared[name]
  if (end_of_ratio("high") < 1) slower[name]
  if (end_of_ratio("low") > 1) faster[name]
}
function end_of_ratio(which) { return field("speedup_" which) == "" ? field("speedup") : field("speedup_" which) }
function did_not_help(name) {
  if (!(name in compared)) return 0
  return name in addition ? !(name in faster) : !(name in slower)
}
# Prints the table of those variants that helped, or of those that did not, with the problems that they were tried on.
function table(unhelpful,  p, i, any, tried, cells) {
  for (i = 1; i <= variants; i++)
    if (did_not_help(variant[i]) == unhelpful)
      for (p = 1; p <= problems; p++)
        if ((variant[i], p) in cell) tried[p] = any = 1
  if (!any) return
  if (unhelpful)
    print (printed ? "\n" : "") "### What did not help\n\nParts without which the step is nowhere slower, and additions" \
      " that are nowhere faster.\n"
  if (!printed++)
    print "The numbers say how many times as fast as the step itself a variant is. The row of the step has its times, in" \
      " ms.\n"
  cells = "variant\twhat was expected"
  for (p = 1; p <= problems; p++) if (p in tried) cells = cells "\t" text[p]
  header(cells, 2)
  cells = "the step itself\t"
  for (p = 1; p <= problems; p++) if (p in tried) cells = cells "\t" cell["", p]
  row(cells)
  for (i = 1; i <= variants; i++) {
    if (did_not_help(variant[i]) != unhelpful) continue
    cells = words[variant[i]]
    for (p = 1; p <= problems; p++) if (p in tried) cells = cells "\t" cell[variant[i], p]
    row(cells)
  }
}
END {
  if (!problems) {
    print "The variants of this step have not been recorded yet: `make step" nn " variants RECORD=1` on a GPU records them," \
      " and `make publish` puts them here."
    exit
  }
  table(0)
  table(1)
  files_read = used_files # not those that hold rows of other steps alone
  origin()
}
