# Prints the order of what the warps of a block did on the emulator, one column for each warp:
#   awk -f scripts/csv.awk -f scripts/order_text.awk -v most=60 order.csv    # the first 60 events; without it all
# The file is what the emulator writes with EMU_ORDER (common/emulator/runtime/history.h). There are no times. Of four
# warps that multiply together with wgmma, the first stands for all.
{
  count++
  number[count] = field("number")
  warp[count] = field("warp") + 0
  event[count] = field("event")
  operation[count] = field("operation")
  times[count] = field("times")
  barrier[count] = field("barrier")
  place[count] = (field("file") == "attention.cu" ? "" : field("file")) ":" field("line")
  follows[count] = field("after")
  under_way[count] = field("under_way")
  there[warp[count]] = 1
  warp_of[field("number")] = warp[count]
  if (operation[count] ~ /^wgmma/) groups = 1
  if (event[count] != "goes_on") turn(warp[count], operation[count])
}
# Counts the turns of a warp, and those that it passes before it waits for what it has queued in the turn.
function turn(w, what) {
  if (what == "bar.sync") {
    in_turn[w] = 1
    waited[w] = 0
  } else if (what == "bar.arrive" && in_turn[w]) {
    turns[w]++
    early[w] += !waited[w]
    in_turn[w] = 0
  } else if (what == "wgmma.wait_group") {
    waited[w] = 1
  }
}
function words(i,  text) {
  text = operation[i]
  sub(/^mbarrier\.try_wait\.parity/, "wait", text)
  sub(/^mbarrier\.arrive\.expect_tx/, "expect", text)
  sub(/^mbarrier\.arrive/, "arrive", text)
  sub(/^cp\.async\.bulk\.tensor.*/, "copy", text)
  sub(/^wgmma\.mma_async.*/, "wgmma", text)
  sub(/^wgmma\.commit_group/, "commit", text)
  sub(/^wgmma\.wait_group/, "wait for products", text)
  sub(/^bar\.sync/, "wait for turn", text)
  sub(/^bar\.arrive/, "pass turn", text)
  if (under_way[i] > 0) text = text " but " under_way[i]
  if (barrier[i] != "") text = text " " barrier[i]
  if (times[i] > 1) text = text " x" times[i]
  return text
}
function cell(i) {
  if (event[i] == "goes_on" && follows[i] == "cluster") return "goes on, another block of the cluster has come"
  if (event[i] == "goes_on") return "goes on" (follows[i] > 0 ? " after " follows[i] (warp_of[follows[i]] in column ? "" : " (warp " warp_of[follows[i]] ")") : ", the copy is there")
  return (event[i] == "waits" ? "[" words(i) "]" : words(i)) " " place[i]
}
END {
  if (!count) exit
  for (w = 0; w < 32; w++) {
    if (!(w in there) || (groups && w % 4 != 0) || columns == 6) continue
    column[w] = ++columns
    name[columns] = w
  }
  for (i = 1; i <= count; i++) {
    if (!(warp[i] in column)) continue
    if (most && shown == most) {
      more++
      continue
    }
    shown++
    last_shown = i
    if (length(cell(i)) > width) width = length(cell(i))
  }
  if (width > 44) width = 44
  line = sprintf("%6s", "event")
  for (c = 1; c <= columns; c++) line = line sprintf("  %-" width "s", "warp " name[c] (groups ? "-" name[c] + 3 : ""))
  sub(/ +$/, "", line)
  print line
  if (number[1] > 1) printf "%6s  the emulator has kept the last %d events, and not the first %d\n", "...", count, number[1] - 1
  for (i = 1; i <= count; i++) {
    if (!(warp[i] in column)) continue
    line = sprintf("%6d", number[i])
    for (c = 1; c < column[warp[i]]; c++) line = line sprintf("  %-" width "s", "")
    if (i <= last_shown) print line "  " substr(cell(i), 1, width)
    if (under_way[i] != "" && event[i] != "goes_on") {
      waits[warp[i]]++
      left[warp[i]] += under_way[i] > 0
    }
  }
  if (more) printf "%6s  %d more %s: COUNT=all shows all of them, and COUNT=%d twice as many\n", "...", more, (more > 1 ? "lines" : "line"), 2 * most
  print ""
  print "There are no times here: a warp waits at what stands in [], and goes on after the event of that number."
  print "BLOCK=1,0,0 shows another block, and KERNEL=name another kernel of the step."
  for (c = 1; c <= columns; c++)
    if (waits[name[c]])
      print "warps " name[c] "-" name[c] + 3 ": " left[name[c]] + 0 " of " waits[name[c]] " waits for products leave another product under way"
  for (c = 1; c <= columns; c++)
    if (turns[name[c]])
      print "warps " name[c] "-" name[c] + 3 ": " early[name[c]] + 0 " of " turns[name[c]] " turns are passed before the wait for their products"
}
