# shellcheck shell=bash
# Functions that ptxas.sh, sass.sh and ptx.sh share. They compile a step's kernels and name them. To be sourced from
# the root of the lab.

nvcc=${NVCC:-nvcc}
steps=${STEPS_FOLDER:-steps} # as in make/config.mk
# The flags are those of make/build.mk. --keep leaves the PTX, the cubin and the object of one compilation.
nvcc_flags=(-std=c++17 -O3 -lineinfo -DNDEBUG -Icommon -Icommon/kernel -Xcompiler "-fPIC,-Wall,-Wextra" -Xptxas -v --keep)
if [ -n "${NCCL_HOME:-}" ]; then nvcc_flags+=(-isystem "$NCCL_HOME/include"); fi # for steps for several GPUs

# need_nvcc VERB: ends the script where there is no compiler.
need_nvcc() {
  if ! command -v "$nvcc" >/dev/null; then
    echo "error: $1 needs nvcc, the CUDA compiler: install the CUDA toolkit or set NVCC" >&2
    exit 2
  fi
}

# pairs "ARCHITECTURE..." STEP...: a line "STEP ARCHITECTURE" for each that the step can be made for.
pairs() {
  local all
  all=$(scripts/made_for.sh "$@") || return
  if [ -z "$all" ]; then
    echo "error: none of the steps given (${*:2}) is made for $1: give ARCH, see their" \
      "first comment for what they need" >&2
    return 2
  fi
  echo "$all"
}

# compile STEP ARCHITECTURE FOLDER OBJECT [FLAG...]: attention.{ptx,cubin} and the compiler's log. OBJECT is where the object
# goes; "" leaves out the code for the host.
compile() {
  local step=$1 architecture=$2 folder=$3 result=(-c -o "$4")
  if [ -z "$4" ]; then result=(-cubin -o "$folder/attention.cubin"); fi
  mkdir -p "$folder"
  "$nvcc" "${nvcc_flags[@]}" "${@:5}" --keep-dir "$folder" \
    -gencode "arch=compute_${architecture#sm_},code=$architecture" \
    "${result[@]}" "$steps/$step/attention.cu" >"$folder/log" 2>&1 &&
    [ -s "$folder/attention.ptx" ] && [ -s "$folder/attention.cubin" ] && touch "$folder/compiled"
}

# compile_all VERB FOLDER [FLAG...] <pairs: several at a time, each into FOLDER/STEP.ARCHITECTURE. Where "first" stands
# behind a pair, only the first configuration for each head_dim is compiled (common/kernel/configurations.cuh), and where
# "one" does, that for head_dim 64 in fp16 alone (common/kernel/kernel.cuh). "bare" means the same without the code for the
# host, so the step gets no object. Ends the script with the compiler's words when one fails. The code for the host is the
# same for all architectures, and takes longer than the small kernels. So it is compiled with one architecture of each step
# alone, one with all configurations if there is any, and the object is FOLDER/STEP.o.
compile_all() {
  local verb=$1 folder=$2 step architecture few started=0 number pair object
  local -A has_object=() whole=()
  local -a all
  mapfile -t all
  number=${#all[@]}
  for pair in "${all[@]}"; do
    read -r step architecture few <<<"$pair"
    if [ -z "$few" ]; then whole[$step]=yes; fi
  done
  for pair in "${all[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-$(nproc)}" ]; do wait -n; done
    started=$((started + 1))
    if [ -t 2 ]; then
      printf '\r%s: compiling %d of %d: %s\033[K' "$verb" "$started" "$number" "$pair" >&2
    else
      printf '%s: compiling %d of %d: %s\n' "$verb" "$started" "$number" "$pair" >&2
    fi
    read -r step architecture few <<<"$pair"
    object=''
    if [ -z "${has_object[$step]-}" ] && [ "$few" != bare ] && { [ -z "$few" ] || [ -z "${whole[$step]-}" ]; }; then
      object=$folder/$step.o has_object[$step]=yes
    fi
    compile "$step" "$architecture" "$folder/$step.$architecture" "$object" "${@:3}" \
      ${few:+-DLAB_FIRST_CONFIGURATION} $([[ $few != one && $few != bare ]] || echo -DLAB_ONE_DIM) &
  done
  wait
  [ -t 2 ] && printf '\r\033[K' >&2
  for pair in "${all[@]}"; do
    read -r step architecture few <<<"$pair"
    if ! [ -f "$folder/$step.$architecture/compiled" ]; then
      cat "$folder/$step.$architecture/log" >&2
      echo "error: $steps/$step/attention.cu does not compile for $architecture" >&2
      exit 1
    fi
  done
}

# Makes the first of the tab-separated fields of each row readable, which is a kernel's mangled name.
readable_names() {
  local rows
  rows=$(cat)
  paste <(cut -f 1 <<<"$rows" | c++filt | awk -f scripts/readable_names.awk) <(cut -f 2- <<<"$rows")
}
