# Gives an SVG of gnuplot's a title and a description, for readers who cannot see it:
#   awk -f scripts/describe_svg.awk TEXT SVG
# The first line of TEXT is the title, and all others are the description. gnuplot's own names for its lines are
# taken out.
function of_xml(text) {
  gsub(/\\/, "", text) # gnuplot's marks
  gsub(/&/, "\\&amp;", text)
  gsub(/</, "\\&lt;", text)
  gsub(/>/, "\\&gt;", text)
  return text
}
FNR == NR {
  if (FNR == 1) title = of_xml($0)
  else description = description (FNR > 2 ? " " : "") of_xml($0)
  next
}
/<title>Gnuplot<\/title>/ {
  print "<title id=\"title\">" title "</title>"
  next
}
/<desc>Produced by GNUPLOT/ {
  print "<desc id=\"description\">" description "</desc>"
  next
}
!named && /<svg/ { svg = 1 }
svg && />/ {
  sub(/>/, " role=\"img\" aria-labelledby=\"title description\">")
  svg = 0
  named = 1
}
{ gsub(/<title>[^<]*<\/title>/, "") }
{ print }
