# Every combination of the values of some columns, once, as a line "dtype=fp16<tab>head_dim=64":
#   awk -f scripts/csv.awk -f plots/pages.awk -v columns="dtype head_dim" FILE
# Without columns, or without rows, one empty line: one page.
BEGIN { count = split(columns, column, " ") }
{
  line = ""
  for (i = 1; i <= count; i++) line = line (i > 1 ? "\t" : "") column[i] "=" field(column[i])
  if (!seen[line]++) print line
}
END { if (!length(seen)) print "" }
