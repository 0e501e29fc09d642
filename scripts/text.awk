# Functions for charts and tables, which write names and numbers and put names in order.

function is_step(name) { return name ~ /^[0-9]+_/ }

# Whether a record's step is the step with that number, such as "04". The record may hold a step of another name, whose
# number another step has by now.
function has_number(name, number,  folders) {
  if (name !~ "^" number "_") return 0
  if (!(number in folder_of) && number ~ /^[0-9]+$/) {
    folders = "ls -d steps/" number "_* 2>/dev/null"
    folders | getline folder_of[number]
    close(folders)
  }
  return folder_of[number] == "" || folder_of[number] == "steps/" name
}

# Returns a name as a reader says it, such as "04 online softmax", "SDPA flash", "FlashAttention-3 (quoted)", "04
# online softmax (own)", "PyTorch ring" of context_parallel_ring.
function readable(name) {
  sub(/_quoted$/, " (quoted)", name)
  sub(/^flash_attention_3/, "FlashAttention-3", name)
  sub(/^context_parallel_/, "PyTorch ", name)
  sub(/^sdpa_cudnn/, "sdpa_cuDNN", name)
  sub(/^sdpa_/, "SDPA ", name)
  gsub(/_/, " ", name)
  return name
}

# Returns a name such as "wgmma fp16" for tensor_wgmma_fp16.
function ceiling_text(name) {
  sub(/^tensor_/, "", name)
  gsub(/_/, " ", name)
  return name
}

# A number for each name, always the same: a step's own; from 100 the peers'; from 200 theirs where they are
# quoted; from 300 the steps that the reader draws beside the record. It is the place in lists, and the style of the line
# in charts.
function number_of(name,  peers, i) {
  if (sub(/_\(own\)$/, "", name)) return 300 + number_of(name)
  if (is_step(name)) return name + 0
  if (sub(/_quoted$/, "", name)) return 100 + number_of(name)
  if (name == "only_reading") return 0
  i = split("sdpa_math sdpa_efficient sdpa_flash sdpa_cudnn flash_attention_3", peers, " ")
  for (; i > 0; i--) if (peers[i] == name) return 100 + i
  return 106
}

# Puts the names of a set (its indices) into sorted[1..]: steps in their order, then the rest.
function sort_names(set, sorted,  count, name, i) {
  count = 0
  for (name in set) {
    for (i = count++; i > 0 && sort_key(sorted[i]) > sort_key(name); i--) sorted[i + 1] = sorted[i]
    sorted[i + 1] = name
  }
  return count
}
function sort_key(name) { return sprintf("%04d %s", number_of(name), name) }

function sort_numbers(set, sorted,  count, value, i) {
  count = 0
  for (value in set) {
    for (i = count++; i > 0 && sorted[i] + 0 > value + 0; i--) sorted[i + 1] = sorted[i]
    sorted[i + 1] = value
  }
  return count
}

# Returns a number with three digits, without an exponent, such as 0.5, 17.4, 1043.
function three_digits(value) { return sprintf(value < 999.5 ? "%.3g" : "%.0f", value) }

# Returns a count or bytes with three digits, such as "4.2 M", with `blank` between number and letter.
function count_text(count, blank,  unit) {
  for (unit = 0; count >= 999.5 && unit < 5; unit++) count /= 1000
  return sprintf("%.3g", count) (unit ? blank substr("kMGTP", unit, 1) : "")
}
