# What the charts' awk programs share: how they tell gnuplot. Each reads CSV files, and prints a
# gnuplot script that holds the chart's data and words; its CHART.gp then draws them. scripts/plot.sh calls
# them behind scripts/csv.awk and scripts/text.awk. It sets `title`, and `without` to the files that would
# add to the chart and are not there; and `own` before the files of the reader's own that are drawn beside
# the others. What the reader chose is in plots/choice.awk, panels of lines in plots/lines.awk, bars in plots/rows.awk.

# A text for gnuplot, whatever is in it: between single quotes nothing is run or looked up. "\n" in it becomes a new
# line, which takes double quotes.
function quoted(text) {
  gsub(/[\001-\037\177]/, " ", text)
  gsub(/'/, "''", text)
  gsub(/\\n/, "'.\"\\n\".'", text)
  return "'" text "'"
}

# A name that was recorded, for a text in which gnuplot sees marks of its own: x_2, {...}, @, and \ before these.
# It is drawn as it stands.
function unmarked(text) {
  gsub(/[\\{}^_@&~]/, "\\\\&", text)
  return text
}

# The words of a chart: what it is of, and a sentence that says how to read it. What is not there yet stands below it.
function words(subtitle, sentence,  note) {
  note = without == "" ? "" : "Not recorded yet: " without "."
  note = note absent_steps()
  if (any_throttled) note = note (note == "" ? "" : " ") "Ring or star: power or heat held the GPU back."
  print "heading = " quoted(unmarked(title))
  print "subtitle = " quoted(subtitle)
  print "sentence = " quoted(sentence)
  print "corner = " quoted(provenance())
  print "note = " quoted(note)
}

# Instead of a chart, a page that says why there is none.
function nothing(reason) {
  words("", "")
  print "nothing = " quoted(reason)
}

# The page of a chart that has one for each head_dim, or each head_dim and dtype.
function page_text() {
  return (head_dim == "" ? "" : " with head_dim " head_dim) (dtype == "" ? "" : " in " dtype)
}

# Whether power or heat held the GPU back in half of the row's rounds, or more.
function throttled() { return field("throttled") == 1 }

# The row's speed if its time were that of another column: the ends of its interval. Empty without one.
function speed_at(column) {
  return field(column) > 0 ? field("tflops") * field("median_ms") / field(column) : ""
}

# Moves labels apart that would overlap: place[1..count] become at least `gap` from one another, none
# above `most` nor, where there is room, below `least`, and stay as near to where they were as that allows. Groups
# that touch are moved as one, about their middle.
function spread(place, count, gap, most, least,  order, i, j, groups, first, size, sum, middle) {
  for (i = 1; i <= count; i++) {
    for (j = i - 1; j > 0 && place[order[j]] > place[i]; j--) order[j + 1] = order[j]
    order[j + 1] = i
  }
  groups = 0
  for (i = 1; i <= count; i++) {
    groups++
    first[groups] = i
    size[groups] = 1
    sum[groups] = place[order[i]] - i * gap # where the group's label number 0 would be, added up
    while (groups > 1 && sum[groups] / size[groups] < sum[groups - 1] / size[groups - 1]) {
      size[groups - 1] += size[groups]
      sum[groups - 1] += sum[groups]
      groups--
    }
  }
  for (j = 1; j <= groups; j++) {
    middle = sum[j] / size[j]
    for (i = first[j]; i < first[j] + size[j]; i++) place[order[i]] = middle + i * gap
  }
  if (least != "") for (i = 1; i <= count; i++) {
    if (place[order[i]] < least) place[order[i]] = least
    least = place[order[i]] + gap
  }
  for (i = count; i > 0; i--) {
    if (place[order[i]] > most) place[order[i]] = most
    most = place[order[i]] - gap
  }
}

function log10(value) { return log(value) / log(10) }

# Of numbers and of what quoted() gives: nothing else must reach gnuplot, which runs what it is handed.
function print_array(name, values, count,  rest) {
  rest = values
  gsub(/'[^']*'/, "", rest)
  gsub(/\."\\n"\./, "", rest)
  gsub(/NaN/, "", rest)
  if (rest !~ /^[-+0-9.eE, ]*$/) {
    print "error: " name " of a chart is no list of numbers or texts:" substr(values, 2) >"/dev/stderr"
    exit refused = 2
  }
  print "array " name "[" count "] = [" substr(values, 3) "]"
}
