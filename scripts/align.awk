# Aligns tab-separated rows: words to the left, columns that begin with a number or "-" to the right.
BEGIN { FS = "\t" }
{
  fields = NF > fields ? NF : fields
  for (i = 1; i <= NF; i++) {
    cell[NR, i] = $i
    if (letters($i) > width[i]) width[i] = letters($i)
    if (NR > 1 && $i !~ /^([0-9.]+%?|-)$/) is_text[i] = 1
  }
}
END {
  for (row = 1; row <= NR; row++) {
    line = ""
    for (i = 1; i <= fields; i++) {
      blanks = sprintf("%" width[i] - letters(cell[row, i]) "s", "")
      line = line (is_text[i] ? cell[row, i] blanks : blanks cell[row, i]) "  "
    }
    sub(/ +$/, "", line)
    print line
  }
}
# Returns how many letters a text in UTF-8 has. In the C locale, in which scripts run, length counts bytes; the
# bytes from 0x80 to 0xbf continue a letter.
function letters(text) {
  gsub(/[\200-\277]/, "", text)
  return length(text)
}
