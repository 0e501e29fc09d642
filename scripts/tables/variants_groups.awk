# What each variant of a step for several GPUs brings, beside the step itself, on all GPUs of a machine. Efficiency is the
# time of step 17 on one GPU, divided by the number of GPUs and by the time. The first table says what was expected of
# each variant, and the others give the times, a table for each problem.
# Arguments: DEVICE NN
# Data: variants-groups.csv (make variants RECORD=1)
# Awk: scripts/patch_head scripts/group_problem
!has_number(field("step"), nn) { next }
{
  p = group_problem()
  name = field("variant")
  if (name == "") {
    own[p] = field("median_ms")
    first[p] = "the step itself\t" time_cell() "\t" percent_cell("efficiency") "\t"
    next
  }
  if (patch_head("Title") == "") next # of an older form of the step
  if (!(name in expected)) {
    variant[++variants] = name
    expected[name] = "[" name "](variants/" name ".patch): " patch_head("Title") "\t" patch_head("Expect")
  }
  line[p, ++lines[p]] = name "\t" time_cell() "\t" percent_cell("efficiency") "\t" \
    sprintf("%.2f", own[p] / field("median_ms"))
}
END {
  if (!problems) {
    print "The variants of this step have not been recorded yet: `make step" nn " variants RECORD=1` on several GPUs records" \
      " them, and `make publish` puts them here."
    exit
  }
  if (variants) header("variant\twhat was expected", 2)
  for (i = 1; i <= variants; i++) row(expected[variant[i]])
  shown = variants
  for (i = 1; i <= problems; i++) {
    p = place[i]
    if (variants && !lines[p]) continue # the step alone
    print (shown++ ? "\n" : "") text[p] ".\n"
    header("variant\tms [95 %]\tefficiency\t× the step itself", 1)
    row(first[p])
    for (j = 1; j <= lines[p]; j++) row(line[p, j])
  }
  origin()
}
