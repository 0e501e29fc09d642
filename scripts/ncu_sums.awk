# Reads what scripts/ncu.sh chose to count, lines "column factor metric", and then what `ncu --csv --page
# raw` printed: a line of names, one of units, one for each kernel. Prints for each kernel, numbered from 0,
# and each column "number <tab> column <tab> value". Exit status 1 when that is not what it finds.

# Splits a line of CSV into its fields, without the quotes.
function split_csv(line, fields,    count, quoted, field, i, c) {
  count = 0
  quoted = 0
  field = ""
  for (i = 1; i <= length(line); i++) {
    c = substr(line, i, 1)
    if (c == "\"") {
      if (quoted && substr(line, i + 1, 1) == "\"") {
        field = field c
        i++
      } else {
        quoted = !quoted
      }
    } else if (c == "," && !quoted) {
      fields[++count] = field
      field = ""
    } else {
      field = field c
    }
  }
  fields[++count] = field
  return count
}

# Numbers have commas between thousands.
function number(text) {
  gsub(/,/, "", text)
  return text + 0
}

NR == FNR {
  terms++
  column[terms] = $1
  factor[terms] = $2
  metric[terms] = $3
  next
}
!/^"/ { next } # what ncu says of itself
{ sub(/\r$/, "") }
!names {
  names = split_csv($0, name)
  for (i = 1; i <= names; i++) at[name[i]] = i
  for (t = 1; t <= terms; t++) {
    if (!(metric[t] in at)) {
      printf "error: ncu did not count %s\n", metric[t] >"/dev/stderr"
      failed = 1
    }
  }
  if (!("ID" in at)) failed = 1
  if (failed) exit
  next
}
{
  split_csv($0, value)
  if (value[at["ID"]] == "") next # units
  delete sum
  for (t = 1; t <= terms; t++) sum[column[t]] += number(value[at[metric[t]]]) * factor[t]
  for (c in sum) printf "%d\t%s\t%.15g\n", kernels, c, sum[c]
  kernels++
}
END { exit failed || !kernels }
