# Every combination of the values of some columns, once, as a line "dtype=fp16<tab>head_dim=64":
#   awk -f scripts/csv.awk -f plots/pages.awk -v columns="dtype head_dim" FILE
# Without columns, or without rows, one empty line: one page.
# They become part of a file's name: other signs than letters, digits and . _ - end the program with status 2.
BEGIN { count = split(columns, column, " ") }
{
  line = ""
  for (i = 1; i <= count; i++) {
    if (field(column[i]) !~ /^[A-Za-z0-9._-]*$/) refuse(column[i] " is " field(column[i]) ", of which no chart is named")
  }
  for (i = 1; i <= count; i++) line = line (i > 1 ? "\t" : "") column[i] "=" field(column[i])
  if (!seen[line]++) print line
}
END { if (!length(seen)) print "" }
