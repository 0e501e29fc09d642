# Counts instructions by kernel: awk -v names="HMMA LDS" -f count.awk <rows
# Reads rows of tabs, mangled kernel name and instruction; writes for each kernel, in the order they
# come, its name, all its instructions, and how many begin with each name: "ld.shared" counts
# ld.shared.v4.f32 but not ld.sharedness.
BEGIN {
  FS = OFS = "\t"
  count = split(names, name, " ")
}
!($1 in all) { kernels[++number] = $1 }
{
  all[$1]++
  for (i = 1; i <= count; i++)
    if (index($2 ".", name[i] ".") == 1 || index($2, name[i] "::") == 1) counted[$1, i]++
}
END {
  for (k = 1; k <= number; k++) {
    line = kernels[k] OFS all[kernels[k]]
    for (i = 1; i <= count; i++) line = line OFS (counted[kernels[k], i] + 0)
    print line
  }
}
