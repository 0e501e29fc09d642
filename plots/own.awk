# Looks whether a reader's own files have a row that can be drawn beside the record:
#   awk -f scripts/csv.awk -f scripts/text.awk -f plots/choice.awk -f plots/own.awk RECORD... own=1 OWN...
# Of their steps one must be right and timed, and must not be left out by plots/choice.awk. Otherwise a sentence names
# the files and the column that is in the way, and the status is 2.
own && !(FILENAME in is_named) {
  is_named[FILENAME]
  names = names (names == "" ? "" : ", ") FILENAME
}
{ kept = wanted(field("step")) } # which also notes the steps of the record
own && is_step(field("step")) {
  steps = 1
  if (field("check") != "ok") next
  right = 1
  if (field("median_ms") <= 0) next
  has_time = 1
  if (field("tflops") <= 0) next
  has_speed = 1
  if (kept) usable = 1
}
END {
  if (refused) exit refused
  if (usable) exit
  if (!steps) why = "its column step names no step, such as 30_mine"
  else if (!right) why = "its column check is ok for no step"
  else if (!has_time) why = "its column median_ms holds no time of a step that is ok"
  else if (!has_speed) why = "its column tflops holds no speed of a step that was timed"
  else if (choices) why = "its column step names none of STEPS (" steps_chosen ")"
  else why = "the record has each step of its column step as well, and draws its own: choose yours with STEPS"
  print "error: " names " has no usable row to draw beside the record: " why >"/dev/stderr"
  exit 2
}
