# Aligns tab-separated rows: words to the left, columns that begin with a number or "-" to the right.
BEGIN { FS = "\t" }
{
  fields = NF > fields ? NF : fields
  for (i = 1; i <= NF; i++) {
    cell[NR, i] = $i
    if (length($i) > width[i]) width[i] = length($i)
    if (NR > 1 && $i !~ /^([0-9.]+%?|-)$/) is_text[i] = 1
  }
}
END {
  for (row = 1; row <= NR; row++) {
    line = ""
    for (i = 1; i <= fields; i++) {
      side = is_text[i] ? "-" : ""
      line = line sprintf("%" side width[i] "s  ", cell[row, i])
    }
    sub(/ +$/, "", line)
    print line
  }
}
