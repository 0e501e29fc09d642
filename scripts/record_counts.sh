#!/bin/bash -p
# Puts rows into a device's record of counts: scripts/record_counts.sh FOLDER <rows.csv
# The rows come with a line of names. Each replaces the row of FOLDER/counts.csv for the same step,
# configuration, device, shape and source, or is added; columns that it has no value for stay empty. Rows that
# tell no commit and date are of now. The rows are sorted by step.
export LC_ALL=C
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# shellcheck source=scripts/origin.sh
. scripts/origin.sh
# shellcheck source=scripts/whole.sh
. scripts/whole.sh
folder=$1
file=$folder/counts.csv
mkdir -p "$folder"
exec 9<"$folder" && flock 9 # what two of these add at once is added by one after the other
recorded=$file
[ -f "$file" ] || recorded=/dev/null
rows=$(awk -v commit="$commit" -v date="$date" '
  BEGIN {
    FS = ","
    header = "step,configuration,device,dtype,batch,heads,kv_heads,seq_q,seq_kv,head_dim,causal,source," \
      "global_load_requests,global_load_sectors,global_store_requests,global_store_sectors," \
      "shared_load_requests,shared_load_wavefronts,shared_store_requests,shared_store_wavefronts," \
      "tensor_core_operations,async_copy_bytes,block_barriers,divergent_branches," \
      "dram_read_bytes,dram_write_bytes,commit,date"
    columns = split(header, column)
    keys = 12
  }
  function keep(row,    i, key, field) {
    split(row, field)
    for (i = 1; i <= keys; i++) key = key FS field[i]
    if (!(key in rows)) order[++count] = key
    rows[key] = row
  }
  FILENAME != "-" {
    if (!/^#/ && !/^step,/) keep($0)
    next
  }
  /^#/ { next }
  /^step,/ {
    for (i = 1; i <= NF; i++) at[$i] = i
    next
  }
  {
    row = ""
    for (i = 1; i <= columns; i++) {
      value = column[i] in at ? $at[column[i]] : column[i] == "commit" ? commit : column[i] == "date" ? date : ""
      row = row (i > 1 ? FS : "") value
    }
    keep(row)
  }
  END {
    print "# What one forward pass asks of memory and tensor cores; source: emulator (the source as g++" \
      " compiled it) or ncu"
    print header
    for (i = 1; i <= count; i++) print rows[order[i]]
  }' "$recorded" -)
{ head -n 2 <<<"$rows" && tail -n +3 <<<"$rows" | sort --stable --field-separator=, --key=1,1; } | write_whole "$file"
echo "written: $file"
