# The tools that a record of planted bugs says to see one of them, such as "check, sanitize":
#   awk -f scripts/csv.awk -f scripts/workshop/seen_by.awk -v step=04_online_softmax -v title="..." bugs.csv
# A tool sees a bug that makes a program hang as well. Prints nothing where the bug is not in the record.
field("step") == step && field("title") == title {
  tools = ""
  if (field("check") ~ /^(caught|hangs)$/) tools = "check"
  if (field("sanitize") ~ /^(caught|hangs)$/) tools = tools (tools == "" ? "" : ", ") "sanitize"
}
END { if (!refused && tools != "") print tools }
