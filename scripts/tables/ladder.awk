# What each step brings, at the ladder's shape; against the peers, where they were timed at that shape.
# Arguments: DEVICE
# Data: ladder.csv (make ladder)
# With: peers.csv (make peers)
file == "ladder" {
  if (!count) {
    shape = problem()
    subtitle = problem_text()
  }
  if (problem() != shape) next # one shape a table
  name[++count] = field("step")
  time[count] = time_cell()
  workspace[count] = field("workspace_bytes")
  milliseconds[count] = timed() ? field("median_ms") : 0
  tflops[count] = timed() ? field("tflops") : ""
  speedup[count] = field("base_step") == field("step") ? "" : ratio_cell("speedup")
  speedup_before[count] = ratio_cell("speedup_before")
  same_tile[count] = same_tile_cell()
  if (same_tile[count] != "") tiles_there = 1
  if (field("base_step") != "") base = field("base_step")
}
file == "peers" { peers_there = 1 }
file == "peers" && timed() && problem() == shape {
  if (is_step(field("step"))) {
    beside_peers[field("step")] = field("median_ms")
    if (field("share_best") == "") next
    share_of_best[field("step")] = field("share_best")
    paired[field("step"), "flash"] = ratio_cell("share_flash")
    paired[field("step"), "best"] = ratio_cell("share_best")
    next
  }
  if (field("step") == "sdpa_flash") flash = field("median_ms")
  if (!best || field("median_ms") < best) {
    best = field("median_ms")
    best_name = readable(field("step"))
  }
}
# Returns the step's own words for what it adds.
function summary(step,  path, line) {
  path = "steps/" step "/attention.cu"
  while ((getline line <path) > 0) {
    if (line !~ /\*attention_summary\(/) continue
    if (line !~ /"/) getline line <path
    sub(/^[^"]*"/, "", line)
    sub(/".*/, "", line)
    close(path)
    return line
  }
  close(path)
  return ""
}
# Returns the step's share of the speed of a peer. The time is that of the peers' own run, where the step was in it.
function share(i, peer) {
  if (!peer || !milliseconds[i]) return ""
  return peer / (name[i] in beside_peers ? beside_peers[name[i]] : milliseconds[i])
}
# Returns this share as a cell; it comes from pairs of one round where the record has them. A share of a step that was
# not timed beside the peers is marked, because it compares two runs.
function share_cell(i, peer, which,  text) {
  if ((name[i], which) in paired) return paired[name[i], which]
  text = share_text(share(i, peer))
  if (text == "" || name[i] in beside_peers) return text
  two_runs = 1
  return "≈ " text
}
# The rule of the documents that the lab began with.
function verdict(value) {
  return value == "" ? "" : value < 0.5 ? "stop and profile" : value < 1 ? "keep going" : "ahead"
}
END {
  print subtitle ".\n"
  header("step\tadds\tms [95 %]\tTFLOP/s\t× step " (base == "" ? "01" : substr(base, 1, 2)) "\t× before" (tiles_there ? "\t× before, same tile" : "") "\tworkspace" \
    (best ? "\tof SDPA flash\tof the best peer\tverdict" : ""), 2)
  for (i = 1; i <= count; i++) {
    first_time = i == 1 ? milliseconds[1] : first_time
    line = readable(name[i]) "\t" summary(name[i]) "\t" time[i] "\t" significant(tflops[i])
    line = line "\t" (speedup[i] != "" ? speedup[i] : first_time && milliseconds[i] ? significant(first_time / milliseconds[i]) : "")
    line = line "\t" (speedup_before[i] != "" ? speedup_before[i] : before && milliseconds[i] ? significant(before / milliseconds[i]) : "")
    if (tiles_there) line = line "\t" same_tile[i]
    line = line "\t" (workspace[i] == "" ? "" : workspace[i] < 1000 ? workspace[i] " B" : count_text(workspace[i], " ") "B")
    if (best) line = line "\t" share_cell(i, flash, "flash") "\t" share_cell(i, best, "best") "\t" \
      verdict(name[i] in share_of_best ? share_of_best[name[i]] : share(i, best))
    row(line)
    if (milliseconds[i]) before = milliseconds[i]
  }
  if (best) {
    print "\nThe fastest peer that was timed at this shape is " best_name ". Below 0.5 of its speed the verdict is" \
      " \"stop and profile\", and below 1 it is \"keep going\"." \
      (two_runs ? "\nThe sign ≈ stands where step and peer were timed in different runs." : "")
  } else if (peers_there) {
    print "\nNo peer was timed at this shape."
  }
  origin()
}
