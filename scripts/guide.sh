#!/bin/bash -p
# Runs the commands of the guide, and compares their output: scripts/guide.sh [--all] [FILE.md...]
#
# A fence of three backquotes with these words begins a block of commands; one with `text output` right
# behind it holds what the commands say:
#   sh tested              run from the lab's folder, on the emulator; must end with 0
#   sh tested status=2     must end with 2
#   sh tested needs=gdb    left out where the program gdb is missing; several: needs=gdb,nvcc
#   sh slow                like tested, with --all alone: for what takes longer than a few seconds
# Other blocks are not run. A comment of HTML that begins with one of these lines, after `<!-- `, and ends with `-->` is
# run as well: it stands for what the reader does meanwhile, such as writing an exercise, and no page shows it.
# The blocks of a document are run in their order and share work/guide, which is empty at the start. A command that
# names work/NN_name, a reader's own file, works on work/guide/own/NN_name. Each line of
# an output block must come, in this order, in what the commands say; `...` in it stands for anything, and other
# lines may stand between.
#
# Without FILE: GUIDE.md, guide/*.md and the pages of the steps, steps/*/README.md; with TENTH=0 to 9 a tenth of them.
# Exit status 1 when a block fails, 2 when a document makes no sense or has nothing to test.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch work/guide
# shellcheck source=scripts/tenth.sh
. scripts/tenth.sh
all=no
part='' # of the documents, in words
if [ "${1-}" = --all ]; then
  all=yes
  shift
fi
if [ $# -eq 0 ]; then
  shopt -s nullglob
  documents=(GUIDE.md guide/*.md steps/*/README.md)
  take_tenth documents documents
  set -- "${documents[@]}"
fi
block_seconds=120 # a block that runs longer hangs
if [ $all = yes ]; then block_seconds=600; fi

# The settings of the caller's make must not reach the commands.
unset MAKEFLAGS MAKELEVEL MAKEOVERRIDES MFLAGS DEBUG SANITIZE MODE STEPS STEPS_FOLDER CONFIG ARGS WORK WERROR \
  BUG FROM FORCE PART QUICK NAME EMU_GPU EMU_GPUS GPUS TENTH
unset BXFI_MAP # Criterion takes a program for one of its workers that finds this
export LAB_WORK=work/guide/own # of the exercises, in the place of the reader's own
export DEVICE=cpu OMP_WAIT_POLICY=passive

refuse() { # document, line, sentence
  echo "error: $1:$2: $3" >&2
  exit 2
}

ran=0
left_out=0
failed=0

# Prints the first line of EXPECTED that does not come in SAID; status 1 when there is one.
first_missing() { # EXPECTED SAID
  awk '
    function escaped(text) { gsub(/[][\\.^$*+?(){}|]/, "\\\\&", text); return text }
    function trimmed(text) { sub(/[ \t\r]+$/, "", text); return text }
    heard { said[++lines] = trimmed($0); next }
    trimmed($0) == "" || trimmed($0) == "..." { next }
    {
      pattern = escaped(trimmed($0))
      gsub(/\\\.\\\.\\\./, ".*", pattern)
      do at++; while (at <= lines && said[at] !~ "^" pattern "$")
      if (at > lines) { print; exit 1 }
    }' heard=1 "$2" heard=0 "$1"
}

# Runs scratch/commands and judges what they say.
run_block() { # document, line, words
  local word tool wanted=0 slow=no status missing
  for word in $3; do
    case $word in
    sh | tested) ;;
    slow) slow=yes ;;
    status=*) wanted=${word#status=} ;;
    needs=*)
      for tool in $(tr , ' ' <<<"${word#needs=}"); do
        if ! command -v "$tool" >/dev/null && ! [ -x ".deps/usr/bin/$tool" ] &&
          ! [ -x "$(scripts/doctor.sh --cuda-home)/bin/$tool" ]; then
          echo "  skip  $1:$2: needs $tool, which is not here"
          left_out=$((left_out + 1))
          return
        fi
      done
      ;;
    *) refuse "$1" "$2" "'$word' is not a word that a block of commands may have: see scripts/guide.sh" ;;
    esac
  done
  if [ $slow = yes ] && [ $all = no ]; then
    left_out=$((left_out + 1))
    return
  fi
  [ -t 1 ] && printf '  ....  %s:%s' "$1" "$2"
  local before=$SECONDS
  status=0
  # In the background, because a shell that waits for a program in the foreground ends by Ctrl-C only after it.
  timeout --kill-after=5 $block_seconds bash -eu "$scratch/commands" >"$scratch/said" 2>&1 </dev/null &
  wait $! || status=$?
  [ -t 1 ] && printf '\r\033[K'
  ran=$((ran + 1))
  if [ "$status" -ne "$wanted" ]; then
    missing="it ended with $status where the document says $wanted"
    if [ "$status" -eq 124 ]; then missing="it was still running after $block_seconds s"; fi
  elif missing=$(first_missing "$scratch/expected" "$scratch/said"); then
    printf '  ok    %s:%s (%d s)\n' "$1" "$2" $((SECONDS - before))
    return
  else
    missing="it does not say, or not in this place: $missing"
  fi
  failed=$((failed + 1))
  printf '  FAIL  %s:%s: %s\n' "$1" "$2" "$missing"
  sed 's/^/        $ /' "$scratch/commands"
  sed 's/^/        /' "$scratch/said"
}

# shellcheck disable=SC2094,SC2001 # documents are only read; the pattern is more than a shell's
# Reads a document; a block of commands waits for the line behind it, in case its output stands there.
run_document() { # document
  local line number=0 state=text words='' begun=0 waiting='' end=''
  while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1))
    case $state,$line in
    text,'```sh tested'* | text,'```sh slow'* | text,'<!-- sh tested'* | text,'<!-- sh slow'*)
      if [ -n "$waiting" ]; then run_block "$1" "$begun" "$waiting"; fi
      waiting=''
      end='```'
      if [[ $line == '<!-- '* ]]; then end='-->'; fi
      state=commands words=${line#\`\`\`} begun=$number
      words=${words#<!-- }
      : >"$scratch/commands"
      : >"$scratch/expected"
      ;;
    commands,"$end") state=text waiting=$words ;;
    commands,*) sed "s|work/\\([0-9][0-9]_\\)|$LAB_WORK/\\1|g" <<<"$line" >>"$scratch/commands" ;;
    text,'```text output')
      [ -n "$waiting" ] || refuse "$1" $number "an output stands here, and no tested commands right before it"
      state=output
      ;;
    output,'```')
      state=text
      run_block "$1" "$begun" "$waiting"
      waiting=''
      ;;
    output,*) printf '%s\n' "$line" >>"$scratch/expected" ;;
    text,'```'*) state=other ;;
    other,'```') state=text ;;
    text,) ;;
    text,*)
      if [ -n "$waiting" ]; then run_block "$1" "$begun" "$waiting"; fi
      waiting=''
      ;;
    esac
  done <"$1"
  [ $state = text ] || refuse "$1" $number "the document ends inside of a block"
  if [ -n "$waiting" ]; then run_block "$1" "$begun" "$waiting"; fi
}

started=$SECONDS
for document in "$@"; do
  [ -r "$document" ] || refuse "$document" 0 "there is no such document"
  rm -rf work/guide
  run_document "$document"
done
if [ $((ran + left_out)) -eq 0 ]; then
  echo "error: nothing in $* is marked as tested" >&2
  exit 2
fi
if [ $failed -gt 0 ]; then
  echo "guide: $failed of $ran blocks do not do what the guide says"
  exit 1
fi
echo "guide: $ran blocks$part do what the guide says, $left_out are left out ($((SECONDS - started)) s)"
