#!/bin/bash -p
# Looks at this machine before anything is built: what the lab finds, what is missing and how to get
# it, and where the lab will run. Changes nothing, and takes less than five seconds.
#
#   scripts/doctor.sh               the whole table
#   scripts/doctor.sh --device      only `gpu` or `cpu`: where the lab will run
#   scripts/doctor.sh --gpu         nothing, or a sentence and exit status 2 where there is no GPU to run on
#   scripts/doctor.sh --arch        only the architecture to compile for, such as sm_90a; nothing
#                                   without a GPU
#   scripts/doctor.sh --cuda-home   only the folder of the CUDA toolkit; nothing without one
#
# Exit status: 0 when the lab can run, if only on the CPU; 2 when something required is missing.
export LC_ALL=C
set -u
started=${EPOCHREALTIME/[.,]/}
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
# shellcheck source=/dev/null
if [[ -r .deps/env.sh ]]; then . .deps/env.sh; fi

# ---------------------------------------------------------------------------- CUDA, quickly

cuda_home() {
  local nvcc
  nvcc=$(command -v nvcc) && nvcc=$(readlink -f "$nvcc")
  for nvcc in "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" "$nvcc" /usr/local/cuda/bin/nvcc; do
    if [[ -n $nvcc && -x $nvcc ]]; then
      echo "${nvcc%/bin/nvcc}"
      return
    fi
  done
}

# The driver's device nodes: one a GPU, or /dev/dxg under Windows' Linux.
has_gpu_node() {
  local node
  if [[ ${CUDA_VISIBLE_DEVICES-0} == '' || ${CUDA_VISIBLE_DEVICES-0} == -1 ]]; then return 1; fi
  for node in /dev/nvidia[0-9]* /dev/dxg; do
    if [[ -c $node ]]; then return 0; fi
  done
  return 1
}

quick_device() { if [[ -n $(cuda_home) ]] && has_gpu_node; then echo gpu; else echo cpu; fi; }

# Prints nvidia-smi's answer for each GPU that programs may use, or with CUDA_VISIBLE_DEVICES for the first.
query_gpus() {
  local first=${CUDA_VISIBLE_DEVICES-}
  first=${first%%,*}
  if ! has_gpu_node || ! command -v nvidia-smi >/dev/null; then return; fi
  # A MIG slice has the properties of its GPU, for which nvidia-smi wants no slice's name.
  if [[ $first == MIG-* ]]; then first=; fi
  timeout 3 nvidia-smi ${first:+-i "$first"} --query-gpu="$1" --format=csv,noheader,nounits
}

# 9.0 -> sm_90a: the `a` opens wgmma and TMA on 9.0, tcgen05 on 10.0.
architecture() {
  local compute_capability=$1
  case $compute_capability in
  9.0 | 10.0) echo "sm_${compute_capability/./}a" ;;
  [0-9]*.[0-9]*) echo "sm_${compute_capability/./}" ;;
  esac
}

case ${1-} in
--device) quick_device && exit ;;
--gpu)
  if [[ $(quick_device) != gpu ]]; then
    echo "error: DEVICE=gpu needs a GPU and the CUDA toolkit, and they are not both here, as make doctor says:" \
      "DEVICE=cpu runs the same on the emulator" >&2
    exit 2
  fi
  exit
  ;;
--arch) architecture "$(query_gpus compute_cap 2>/dev/null | head -n 1)" && exit ;;
--cuda-home) cuda_home && exit ;;
--help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' scripts/doctor.sh && exit ;;
'') ;;
*)
  echo "error: scripts/doctor.sh does not know ${1@Q}: see scripts/doctor.sh --help" >&2
  exit 2
  ;;
esac

# ------------------------------------------------------------------------------- the table

reset=''
declare -A colour=([ok]='' [optional]='' [old]='' [missing]='')
if [[ -t 1 ]]; then
  reset=$'\e[0m'
  colour=([ok]=$'\e[32m' [optional]=$'\e[33m' [old]=$'\e[31m' [missing]=$'\e[31m')
fi

# row VERDICT ITEM FOUND [HELP]: HELP says how to get what is not there, or what follows.
# needed VERDICT ITEM FOUND [HELP]: the same for what the lab cannot run without.
row() {
  printf '%s%-8s%s  %-18s  %s\n' "${colour[$1]}" "$1" "$reset" "$2" "$3"
  if [[ -n ${4-} ]]; then printf '%30s-> %s\n' '' "$4"; fi
}

needed() {
  row "$@"
  if [[ $1 != ok ]]; then broken+=${broken:+, }$2; fi
}
broken=

# seconds_left LIMIT: until LIMIT seconds after the start, at least a tenth.
seconds_left() {
  awk -v now="${EPOCHREALTIME/[.,]/}" -v started="$started" -v limit="$1" \
    'BEGIN { left = limit - (now - started) / 1e6; print (left > 0.1 ? left : 0.1) }'
}

# Prints the first version number in a text, such as 12.2.0.
version_in() { grep -o -m 1 -E '[0-9]+\.[0-9]+(\.[0-9]+)*' <<<"$1" | head -n 1; }

# shellcheck source=scripts/scratch.sh
. scripts/scratch.sh
make_scratch

# The slow answers are asked for first and read last.
query_gpus name,compute_cap,memory.total,memory.free,driver_version,mig.mode.current \
  >"$scratch/gpus" 2>"$scratch/gpus.error" &
gpus_pid=$!
timeout 3 python3 - >"$scratch/python" 2>/dev/null <<'END' &
import importlib.metadata, platform
print(platform.python_version())
print(importlib.metadata.version("torch"))
END
python_pid=$!
missing=$(scripts/deps.sh --missing)
install="make deps"
install_compiler=$install
if ((EUID != 0)) && ! sudo -n true 2>/dev/null; then
  install="make deps PREFIX=.deps"
  install_compiler="scripts/deps.sh says how to install it" # a compiler does not work from a folder of its own
fi

# shellcheck source=scripts/doctor/machine.sh
. scripts/doctor/machine.sh
# shellcheck source=scripts/doctor/cuda.sh
. scripts/doctor/cuda.sh

# The verbs of the Makefile that this machine can do, and those that it cannot and why.
print_verbs() {
  local can='' cannot=''
  # verb NAME TRUTH REASON
  verb() {
    if ! cat Makefile make/*.mk 2>/dev/null | grep -q "^$1:"; then return; fi
    if [[ $2 == yes ]]; then can+=${can:+, }$1; else cannot+=${cannot:+, }"$1 ($3)"; fi
  }
  on_gpu() { if [[ -z $no_gpu ]]; then echo yes; fi; }
  no_gpu_or() { echo "${no_gpu:-no $1}"; }
  verb build yes
  verb run yes
  verb hunt "$(is_missing patch || echo yes)" "no patch"
  verb ladder yes
  verb sanitize "$([[ -z $no_gpu && $lacking == *compute-sanitizer* ]] || echo yes)" \
    "no compute-sanitizer, but with DEVICE=cpu"
  verb compare yes
  verb check "$(is_missing libcriterion-dev || echo yes)" "no Criterion"
  verb plots "$([[ -n $no_charts ]] || echo yes)" "$no_charts"
  verb format "$(is_missing clang-format-14 || echo yes)" "no clang-format 14"
  verb ptxas "$([[ -n $home ]] && echo yes)" "no nvcc"
  verb sass "$([[ -n $home && $lacking != *nvdisasm* ]] && echo yes)" "no nvdisasm"
  verb bench "$(on_gpu)" "$no_gpu"
  verb sweep yes
  verb ncu "$([[ $lacking != *ncu* ]] && on_gpu)" "$(no_gpu_or ncu)"
  verb peers "$([[ -n ${torch-} ]] && on_gpu)" "$(no_gpu_or PyTorch)"
  verb spread "$([[ -n ${torch-} ]] && on_gpu)" "$(no_gpu_or PyTorch)"
  echo
  echo "Works here$([[ $device == cpu || -z $no_gpu ]] || echo " with DEVICE=cpu"): $can.${cannot:+ Does not: $cannot.}"
}

check_compilers
check_clang
check_tools
check_machine
check_cuda
if [[ -n $broken ]]; then
  echo
  echo "The lab cannot run yet: repair first what the lines above say of $broken."
  exit 2
fi
print_verbs
echo "DEVICE=$device: $why."
