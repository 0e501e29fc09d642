# What the reader chose of a chart: `steps_chosen` (07,10,11: numbers or names; peers stay), `base_chosen` (a step or a
# peer), `axis_chosen` (linear or logarithmic). Empty where nothing was chosen.
BEGIN {
  choices = split(steps_chosen, choice, /[ ,]+/)
  for (i = 1; i <= choices; i++) if (choice[i] == "") delete choice[i]
}

# 7, 07 and 07_mma_registers are the same step.
function is_same(given, name) { return given ~ /^[0-9]+$/ ? is_step(name) && given + 0 == name + 0 : given == name }

# Whether a row's step or peer is drawn. A file of the reader's own adds steps that the record lacks, and others if
# they were chosen by STEPS; what it holds of peers belongs to the measurement of another day, and is left out.
function wanted(name,  i, found) {
  if (!is_step(name)) return !own
  if (!own) recorded_step[name]
  if (!choices) return !own || !(name in recorded_step)
  for (i in choice) if (is_same(choice[i], name)) found = choice_seen[i] = 1
  return found
}

# A step as it is drawn: the reader's own by another name than the record's.
function drawn_name() { return field("step") (own ? "_(own)" : "") }

function is_linear() { return axis_chosen == "linear" }

# The base in a set of names: the chosen one, or the first step. "" where the chosen one is not there.
function base_of(set,  sorted, count, i) {
  count = sort_names(set, sorted)
  if (base_chosen == "") return sorted[1]
  for (i = 1; i <= count; i++) if (is_same(base_chosen, sorted[i])) return sorted[i]
  return ""
}
function base_text(name) { return (is_step(name) ? "step " : "") readable(name) }

# What was chosen and has no row; said below the chart. Where nothing of it has one the program ends with status 3.
function absent_steps(  i, list, found) {
  for (i = 1; i <= choices; i++) {
    if (!(i in choice)) continue
    if (choice_seen[i]) found = 1
    else list = list (list == "" ? "" : ", ") choice[i]
  }
  if (list == "") return ""
  if (!found) exit refused = 3
  return " Nothing usable is recorded for step " list "."
}
