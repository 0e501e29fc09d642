# Which GPU runs which steps: what the steps need (scripts/made_for.sh), for the GPUs of scripts/gpus.txt.
# Arguments:
BEGIN {
  FS = " +"
  while ((getline <"scripts/gpus.txt") > 0) {
    if (/^#/) continue
    gpu[++gpus] = $1
    block[$1] = $3
    names[$1] = $4
    for (i = 5; i <= NF; i++) names[$1] = names[$1] " " $i
    all = all (all == "" ? "" : " ") $1
  }
  command = "CDPATH= cd steps && echo */attention.cu"
  command | getline listed
  close(command)
  count = split(listed, step, " ")
  for (i = 1; i <= count; i++) {
    sub(/\/.*/, "", step[i])
    wmma[step[i]] = holds("steps/" step[i] "/attention.cu", "wmma.cuh")
    words = words " " step[i]
  }
  command = "STEPS_FOLDER=steps scripts/made_for.sh '" all "'" words
  while ((command | getline) > 0) made[$1, $2] = 1
  if (close(command)) exit 2
  print "| GPU | architecture | shared memory of a block | steps | of these without bf16 |"
  print "|---|---|---:|---|---|"
  for (g = 1; g <= gpus; g++)
    print "| " names[gpu[g]] " | " gpu[g] " | " block[gpu[g]] " KB | " list(gpu[g], 0) " | " list(gpu[g], 1) " |"
  exit
}

function holds(path, words,  line, found) {
  while ((getline line <path) > 0) if (index(line, words)) found = 1
  close(path)
  return found
}

# The steps made for the architecture, such as "01 to 07, 10"; of these those whose fragments have no bf16 there.
function list(architecture, without_bf16,  i, text, first, last, number) {
  first = last = 0
  for (i = 1; i <= count + 1; i++) {
    if (i <= count && ((step[i], architecture) in made) &&
        (!without_bf16 || (wmma[step[i]] && architecture ~ /^sm_[67]/))) {
      if (!first) first = i
      last = i
      continue
    }
    if (first)
      text = text (text == "" ? "" : ", ") substr(step[first], 1, 2) \
        (last > first ? (last > first + 1 ? " to " : ", ") substr(step[last], 1, 2) : "")
    first = 0
  }
  return text
}
