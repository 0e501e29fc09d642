# For merge_rows.sh: prints a header, the rows of the second file that stay, and those of the first, which is the new one.
# Values stay in columns of their names, as one of the files may be of a lab that records more: columns that only the old
# one has come behind those of the new one, unless no row of it stays.
FNR == 1 {
  files++
  header_read = 0
}
/^#/ || /^$/ { next }
{ cells = split_row($0, cell) }
!header_read {
  for (i = 1; i <= cells; i++) {
    if (!(cell[i] in place)) {
      name[++columns] = cell[i]
      place[cell[i]] = columns
    }
    to[i] = place[cell[i]]
  }
  if (files == 1) {
    own = columns
    if ("gpus" in place) gpus = place["gpus"]
  }
  header_read = 1
  next
}
{
  for (i = 1; i <= cells; i++) value[rows + 1, to[i]] = cell[i]
  timed = cell[1] FS (gpus ? value[rows + 1, gpus] : "")
  if (files == 1) {
    replaced[timed]
    new_rows = ++rows
  } else if (timed in replaced) {
    for (i = 1; i <= cells; i++) delete value[rows + 1, to[i]]
  } else {
    rows++
  }
}
END {
  if (rows == new_rows) columns = own
  for (i = 1; i <= columns; i++) printf "%s%s", name[i], (i < columns ? "," : "\n")
  for (row = new_rows + 1; row <= rows; row++) print_row(row)
  for (row = 1; row <= new_rows; row++) print_row(row)
}

function print_row(row,  i) {
  for (i = 1; i <= columns; i++) printf "%s%s", value[row, i], (i < columns ? "," : "\n")
}

# Splits a line into its fields as they stand. One in quotes may hold commas, and its quotes stay (RFC 4180).
function split_row(rest, cell,  count) {
  do {
    if (!match(rest, /^"([^"]|"")*"/)) match(rest, /^[^,]*/)
    cell[++count] = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
  } while (sub(/^,/, "", rest))
  return count
}
