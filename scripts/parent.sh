# shellcheck shell=bash
# The step that another one comes after. To be sourced, and told the folder of the steps in `steps`.
# shellcheck disable=SC2154 # steps

# parent STEP: prints the name of the step that STEP comes after, which its first comment may name as
# `// After: NN_name`; else the one before it by number, and nothing for the first.
parent() {
  local named before='' folder
  named=$(sed -n '/^[^/]/q; s|^// After: *\([^ ]*\).*|\1|p' "$steps/$1/attention.cu")
  if [ -n "$named" ]; then
    if [ ! -f "$steps/$named/attention.cu" ]; then
      echo "error: $steps/$1/attention.cu says that it comes after $named, and there is no such step" >&2
      exit 2
    fi
    echo "$named"
    return
  fi
  for folder in "$steps"/[0-9]*/; do # in order of their numbers
    folder=$(basename "$folder")
    if [ "$folder" = "$1" ]; then break; fi
    before=$folder
  done
  echo "$before"
}
