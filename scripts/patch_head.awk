# What the head of the variant's patch says, or of the substep's, as a line; nothing where the patch is no more.
function patch_head(name,  path, line, text, inside) {
  path = "steps/" field("step") "/" (file ~ /^substeps/ ? "substeps" : "variants") "/" field("variant") ".patch"
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
