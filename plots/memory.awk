# Lines of sequence length and bytes: Q, K, V, O and lse with the step's workspace, divided by the batch.
# Steps whose bytes agree, but for a thousandth, share a line. Set by the page: head_dim. Both types of elements have the same
# size, and the mask changes nothing, so any row of a length will do.
file == "bench" && field("check") == "ok" && field("workspace_bytes") != "" && field("head_dim") == head_dim {
  heads = field("heads")
  if (heads > most_heads) most_heads = heads # the grid's, where a length was measured with two shapes
  elements = 2 * heads * field("seq_q") + 2 * field("kv_heads") * field("seq_kv")
  bytes[heads, field("step"), field("seq_q")] = \
    2 * elements * head_dim + 4 * heads * field("seq_q") + field("workspace_bytes") / field("batch")
}
END {
  for (key in bytes) {
    split(key, part, SUBSEP)
    if (part[1] != most_heads) continue
    step_set[part[2]]
    length_set[part[3]]
    if (!lowest || bytes[key] < lowest) lowest = bytes[key]
    if (bytes[key] > highest) highest = bytes[key]
  }
  lengths = sort_numbers(length_set, seq)
  steps = sort_names(step_set, step)
  if (!steps) {
    nothing("No step was right" page_text() ".")
    exit
  }
  words("heads " most_heads ", head_dim " head_dim ", 16-bit elements: Q, K, V, O, lse and workspace",
    "×: how many times as much a length twice as long needs. Both axes are logarithmic.")
  for (i = 1; i <= steps; i++) join_group(step[i])
  lowest /= 1.5
  highest *= 1.5
  for (group = 1; group <= groups; group++) add_group(group)
  end_panel("", lowest, highest)
  print_lines(seq, lengths)
}

# More than a thousandth apart: a counter in the workspace makes no line of its own.
function far(a, b) { return a > 1.001 * b || b > 1.001 * a }

# Puts a step into the first group that needs as many bytes, at every length that both have.
function join_group(name,  group, j, agrees, number) {
  number = name
  sub(/_.*/, "", number)
  for (group = 1; group <= groups + 1; group++) {
    agrees = 1
    for (j = 1; j <= lengths; j++)
      if ((most_heads, name, seq[j]) in bytes && (group, seq[j]) in group_bytes &&
          far(bytes[most_heads, name, seq[j]], group_bytes[group, seq[j]])) agrees = 0
    if (agrees) break
  }
  if (group > groups) {
    groups = group
    group_style[group] = number_of(name)
  }
  for (j = 1; j <= lengths; j++)
    if ((most_heads, name, seq[j]) in bytes) group_bytes[group, seq[j]] = bytes[most_heads, name, seq[j]]
  members[group] = members[group] (members[group] == "" ? "" : " ") number
}

# Numbers of steps as a text, "01 to 03, 24": "to" leaves out none, since a step that was not timed may need other bytes.
function ranges(members,  member, count, i, first, text) {
  count = split(members, member, " ")
  for (i = first = 1; i <= count; i++) {
    if (i < count && member[i + 1] == member[i] + 1) continue
    text = text (text == "" ? "" : ", ") member[first] (i == first ? "" : i == first + 1 ? ", " member[i] : " to " member[i])
    first = i + 1
  }
  return (count == 1 ? "step " : "steps ") text
}

# Its label tells what a length twice as long costs.
function add_group(group,  j, points, before, last, growth) {
  for (j = 1; j <= lengths; j++) {
    if (!((group, seq[j]) in group_bytes)) continue
    points = points point(seq[j], sprintf("%.0f", group_bytes[group, seq[j]]))
    before = last
    last = seq[j]
  }
  if (before) growth = log(group_bytes[group, last] / group_bytes[group, before]) / log(last / before)
  add_line(ranges(members[group]) (before ? sprintf(": ×%.1f", 2 ^ growth) : ""), group_style[group], points)
}
