# Rows of sources that are timed beside the step itself, such as its variants and substeps, for the tables of them.
# Sets p, the number of the row's problem, text[p], cell["", p] of the step itself, and used_files, those that have rows
# of the step. Returns the name of the source, or nothing for the step itself and for rows of other steps.
function source_beside_step() {
  if (!has_number(field("step"), nn)) return ""
  if (!(file in used)) {
    used[file]
    used_files = used_files (used_files == "" ? "" : ", ") "`" file ".csv`"
  }
  if (!(problem() in place_of)) {
    place_of[problem()] = ++problems
    text[problems] = problem_text()
  }
  p = place_of[problem()]
  if (field("variant") == "") cell["", p] = time_cell()
  return field("variant")
}
