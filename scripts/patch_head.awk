# What the head of the variant's patch says, as a line; nothing where the patch is no more.
function patch_head(name,  path, line, text, inside) {
  path = "steps/" field("step") "/variants/" field("variant") ".patch"
  while ((getline line <path) > 0 && line !~ /^--- /) {
    if (sub("^" name ": *", "", line)) {
      inside = 1
      text = line
    } else if (inside && sub(/^ +/, "", line)) {
      text = text " " line
    } else {
      inside = 0
    }
  }
  close(path)
  return text
}
