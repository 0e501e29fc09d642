# What each part of a step brings: its variants beside the step itself, timed in one run for each problem.
# Arguments: DEVICE NN
# Data: variants.csv (make variants RECORD=1)
# With: variants-dim128.csv, variants-causal.csv
field("step") !~ "^" nn "_" { next }
{
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = problem_text()
  }
  p = place_of[problem()]
  if (field("variant") == "") {
    lines[p, ++size[p]] = "the step itself\t\t" time_cell() "\t" significant(field("tflops")) "\t"
  } else {
    lines[p, ++size[p]] = "[" field("variant") "](variants/" field("variant") ".patch): " head("Title") "\t" head("Expect") "\t" \
      time_cell() "\t" (timed() ? significant(field("tflops")) : "") "\t" (timed() ? ratio_cell("speedup") : "")
  }
}
# What the head of the variant's patch says, as a line; nothing where the patch is no more.
function head(name,  path, line, text, inside) {
  path = "steps/" field("step") "/variants/" field("variant") ".patch"
  while ((getline line <path) > 0 && line !~ /^--- /) {
    if (sub("^" name ": *", "", line)) {
      inside = 1
      text = line
    } else if (inside && sub(/^ +/, "", line)) {
      text = text " " line
    } else {
      inside = 0
    }
  }
  close(path)
  return text
}
END {
  if (!problems) {
    print "The variants of this step have not been recorded yet: `make step" nn " variants RECORD=1` on a GPU records them," \
      " and `make publish` puts them here."
    exit
  }
  for (p = 1; p <= problems; p++) {
    print (p > 1 ? "\n" : "") text[p] ".\n"
    header("variant\twhat was expected\tms [95 %]\tTFLOP/s\t× the step itself", 2)
    for (i = 1; i <= size[p]; i++) row(lines[p, i])
  }
  origin()
}
