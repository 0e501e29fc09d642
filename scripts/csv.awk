# Reads the files of plots/data by column name; for other awk programs: awk -f scripts/csv.awk -f ...
#   field("tflops")  of the row that is read: "" where it is empty or the file has no such column
#   file             where it stands: the file's name without folder and .csv, such as "ladder-bf16"
#   provenance()     of all rows that were read: "NVIDIA H200, commit f0e7506, 2026-11-20"
# Only rows of data reach the rules of the other program; comments and headers end here. A row that holds control
# characters, or a text where a number belongs, ends the program with status 2: what is recorded is data, and is
# handed to programs that would take it for more.
BEGIN {
  FS = ","
  numbers = split("batch heads kv_heads seq_q seq_kv head_dim causal score_deviation rising scale samples workspace_bytes" \
    " median_ms ci_low_ms ci_high_ms p5_ms p95_ms tflops value ci_low ci_high vendor_value efficiency efficiency_low" \
    " efficiency_high link_share", number_column, " ")
}
END { if (refused) exit refused }
FNR == 1 {
  file = FILENAME
  sub(/.*\//, "", file)
  sub(/\.csv$/, "", file)
  header_read = 0
  comment_commit = comment_date = ""
}
{ sub(/\r$/, "") }
/^"|,"/ { unquote() }
/^# before: commit = / { # as files record it whose rows have no such columns
  comment_commit = after($0, "commit = ")
  comment_date = after($0, "date = ")
}
/^#/ || /^$/ { next }
!header_read {
  split("", position)
  for (i = 1; i <= NF; i++) position[$i] = i
  header_read = 1
  next
}
/[\001-\037\177]/ { refuse("it holds control characters") }
{
  for (i = 1; i <= numbers; i++)
    if (field(number_column[i]) !~ /^([-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?)?$/)
      refuse(number_column[i] " is no number: " field(number_column[i]))
  if (!of_another_step()) {
    note_once(devices, field("device"))
    note_once(commits, field("commit") != "" ? field("commit") : comment_commit)
    note_date(substr(field("date") != "" ? field("date") : comment_date, 1, 10))
  }
}

# A table about step nn shows no rows of other steps, so that it does not name their commits either.
function of_another_step() { return nn != "" && field("step") != "" && field("step") !~ "^" nn "_" }

function refuse(why) {
  printf "error: line %d of %s is no record: %s\n", FNR, FILENAME, why >"/dev/stderr"
  exit refused = 2
}

function field(name) { return name in position ? $position[name] : "" }

# Splits a line into fields. Some may stand in quotes, and hold commas and doubled quotes (RFC 4180).
function unquote(  rest, count, value, i) {
  rest = $0
  while (rest != "" || count == 0) {
    if (match(rest, /^"([^"]|"")*"/)) {
      value[++count] = substr(rest, 2, RLENGTH - 2)
      gsub(/""/, "\"", value[count])
    } else {
      match(rest, /^[^,]*/)
      value[++count] = substr(rest, 1, RLENGTH)
    }
    rest = substr(rest, RLENGTH + 1)
    if (rest == ",") value[++count] = ""
    rest = substr(rest, 2)
  }
  $0 = ""
  for (i = 1; i <= count; i++) $i = value[i]
}

# Tells whether the step was right and timed in this row.
function timed() { return field("check") == "ok" && field("median_ms") > 0 }

# Returns the problem of a row, to find the same problem in another file.
function problem() {
  return field("batch") SUBSEP field("heads") SUBSEP field("kv_heads") SUBSEP field("seq_q") SUBSEP \
    field("seq_kv") SUBSEP field("head_dim") SUBSEP field("dtype") SUBSEP field("causal") SUBSEP unusual_data()
}

# Returns the inputs of a row in words where they are not those of most records: normal numbers, and a scale of 1 divided
# by the square root of head_dim. Older files lack both columns.
function unusual_data(  text) {
  if (field("inputs") !~ /^(normal)?$/) text = ", inputs " field("inputs")
  if (field("scale") != "" && (field("scale") ^ 2 * field("head_dim") - 1) ^ 2 > 1e-6) text = text ", scale " field("scale")
  return text
}

# Returns the problem in words.
function problem_text(  text) {
  text = "batch " field("batch") ", heads " field("heads")
  if (field("kv_heads") != field("heads")) text = text " (keys " field("kv_heads") ")"
  text = text ", seq " field("seq_q")
  if (field("seq_kv") != field("seq_q")) text = text " (keys " field("seq_kv") ")"
  return text ", head_dim " field("head_dim") ", " field("dtype") (field("causal") == 1 ? ", causal" : "") unusual_data()
}

function provenance(  text) {
  text = devices["list"]
  if (commits["count"] > 6) # each row names its own
    text = text ", " commits["count"] " commits"
  else if (commits["list"] != "")
    text = text ", commit " commits["list"]
  if (first_date != "") text = text ", " first_date
  if (last_date > first_date) text = text " to " last_date
  sub(/^, /, "", text) # no device is named
  return text
}

function note_once(set, value) {
  if (value == "" || value in set) return
  set[value] = 1
  set["count"]++
  set["list"] = set["list"] ("list" in set && set["list"] != "" ? ", " : "") value
}
function note_date(date) {
  if (date == "") return
  if (first_date == "" || date < first_date) first_date = date
  if (date > last_date) last_date = date
}
function after(line, mark) {
  line = substr(line, index(line, mark) + length(mark))
  sub(/,.*/, "", line)
  return line
}
