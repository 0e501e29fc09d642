# Prints the lines of code of a C or CUDA source, without comments and blank lines, and with one blank for each run
# of blanks.
{
  code = ""
  quote = ""
  plain = !comment && !index($0, "\"") && !index($0, "'") && !index($0, "/*")
  if (plain) { # as most lines are, and character by character they take ten times as long
    comment_at = index($0, "//")
    code = comment_at ? substr($0, 1, comment_at - 1) : $0
  } else for (i = 1; i <= length($0); i++) {
    character = substr($0, i, 1)
    two = substr($0, i, 2)
    if (comment) {
      if (two == "*/") comment = 0
      i += two == "*/"
    } else if (quote != "") {
      if (character == quote) quote = ""
      if (character == "\\") character = two
      i += length(character) - 1
      code = code character
    } else if (two == "//") {
      break
    } else if (two == "/*") {
      comment = 1
      i++
      code = code " "
    } else {
      if (character == "\"" || character == "'") quote = character
      code = code character
    }
  }
  gsub(/[ \t]+/, " ", code)
  sub(/^ /, "", code)
  sub(/ $/, "", code)
  if (code != "") print code
}
