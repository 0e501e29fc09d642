# What each part of a step brings: its variants beside the step itself, timed in one run for each problem. Behind them
# stands what did not help: variants than which the step is nowhere faster, and additions that are nowhere faster than
# the step; faster means that the whole interval of the ratio says so.
# Arguments: DEVICE NN
# Data: variants.csv (make variants RECORD=1)
# With: variants-dim128.csv, variants-causal.csv
# Awk: scripts/patch_head
!has_number(field("step"), nn) { next }
{
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = problem_text()
  }
  p = place_of[problem()]
  variant[p, ++size[p]] = field("variant")
  if (field("variant") == "") {
    line[p, size[p]] = "the step itself\t\t" time_cell() "\t" significant(field("tflops")) "\t"
    next
  }
  line[p, size[p]] = "[" field("variant") "](variants/" field("variant") ".patch): " patch_head("Title") "\t" patch_head("Expect") "\t" \
    time_cell() "\t" (timed() ? significant(field("tflops")) : "") "\t" (timed() ? ratio_cell("speedup") : "")
  if (!timed() || field("speedup") == "") next
  compared[field("variant")]
  if (patch_head("Kind") == "addition") addition[field("variant")]
  if (end_of_ratio("high") < 1) slower[field("variant")]
  if (end_of_ratio("low") > 1) faster[field("variant")]
}
function end_of_ratio(which) { return field("speedup_" which) == "" ? field("speedup") : field("speedup_" which) }
function did_not_help(name) {
  if (!(name in compared)) return 0
  return name in addition ? !(name in faster) : !(name in slower)
}
# Prints a table for each problem, of those variants that helped or of those that did not.
function tables(unhelpful,  p, i, any) {
  for (p = 1; p <= problems; p++) {
    any = 0
    for (i = 1; i <= size[p]; i++)
      if (variant[p, i] != "" && did_not_help(variant[p, i]) == unhelpful) any = 1
    if (!any) continue
    if (unhelpful && !printed_unhelpful++) {
      print (printed ? "\n" : "") "### What did not help\n\nParts without which the step is nowhere slower, and additions" \
        " that are nowhere faster.\n"
      printed = 0
    }
    print (printed++ ? "\n" : "") text[p] ".\n"
    header("variant\twhat was expected\tms [95 %]\tTFLOP/s\t× the step itself", 2)
    for (i = 1; i <= size[p]; i++)
      if (variant[p, i] == "" || did_not_help(variant[p, i]) == unhelpful) row(line[p, i])
  }
}
END {
  if (!problems) {
    print "The variants of this step have not been recorded yet: `make step" nn " variants RECORD=1` on a GPU records them," \
      " and `make publish` puts them here."
    exit
  }
  tables(0)
  tables(1)
  origin()
}
