# shellcheck shell=bash
# The record of the mutants, mutants.csv: which of them it has a verdict of, and how new rows come into it. To be sourced
# from the root of the lab behind planted_bug.sh, by mutants.sh.

# mutants_untried CSV: of the mutants on its input, lines of source, number, place, operator, change and more, prints
# those that the file has no verdict of. The file need not exist.
mutants_untried() {
  local tried=$1
  [ -f "$tried" ] || tried=/dev/null
  awk -F '\t' -v tried="$tried" '
    function quoted(text) { gsub(/"/, "\"\"", text); return "\"" text "\"," }
    BEGIN {
      while ((getline line <tried) > 0) {
        rest = line
        for (i = 1; i <= 5 && match(rest, /^"([^"]|"")*",/); i++) rest = substr(rest, RLENGTH + 1)
        if (rest !~ /^"(not tried|unknown)?",/) known[substr(line, 1, length(line) - length(rest))]
      }
    }
    {
      split($3, at, ":")
      if (!((quoted($1) quoted(at[2]) quoted(at[3]) quoted($4) quoted($5)) in known)) print
    }'
}

# mutants_merge OLD_CSV ROWS SOURCE...: prints the new mutants.csv. It has the file's rows of all sources but these,
# and ROWS, with $commit and $date. A mutant that was not tried this time keeps the row that it has in the file; if it
# survived there and has got a reason since, its verdict becomes that. The file need not exist.
mutants_merge() {
  local old=$1 rows=$2
  [ -f "$old" ] || old=/dev/null
  echo source,line,column,operator,change,verdict,step,message,reason,commit,date
  {
    tail -n +2 "$old" | grep -v -F "${@/#/-e\"}" || true
    record_rows "$rows" 9 | awk -v old="$old" '
      # The mutant: source, line, column, operator and change.
      function key(line,  i, length_of_key, rest) {
        for (rest = line; i < 5 && match(rest, /^"([^"]|"")*",/); i++) {
          length_of_key += RLENGTH
          rest = substr(rest, RLENGTH + 1)
        }
        return substr(line, 1, length_of_key)
      }
      BEGIN { while ((getline line <old) > 0) row_of[key(line)] = line }
      {
        mutant = key($0)
        rest = substr($0, length(mutant) + 1)
        if (rest !~ /^"not tried",/ || !(mutant in row_of)) {
          print
          next
        }
        was = row_of[mutant]
        if (substr(was, length(mutant) + 1) ~ /^"",/) {
          print
          next
        }
        if (substr(was, length(mutant) + 1) ~ /^"survives",/ && rest !~ /^"not tried","","","",/)
          sub(/^"not tried",/, "\"reason\",", rest)
        else
          rest = substr(was, length(mutant) + 1)
        print mutant rest
      }'
  } | sort --stable --field-separator=, --key=1,1
}
