# Where the emulator's counts agree with the GPU's counters (ncu), and where not: a row for each kernel.
# Arguments: DEVICE
# Data: calibration.csv (make calibrate)
{
  kernel = field("kernel")
  if (!(kernel in compared)) name[++kernels] = kernel
  compared[kernel] += 0
  if (field("ncu") == "") {
    if (!(field("column") in uncounted)) missing = missing (missing == "" ? "" : ", ") "`" field("column") "`"
    uncounted[field("column")]
    next
  }
  compared[kernel]++
  if (field("emulator") + 0 == field("ncu") + 0) next
  apart[kernel]++
  differing[kernel] = differing[kernel] (apart[kernel] > 1 ? "; " : "") "`" field("column") "` " field("emulator") \
    ", " field("ncu")
}
END {
  header("kernel\tcolumns compared\tagree\tdiffer: the emulator's count, the GPU's", 1)
  for (i = 1; i <= kernels; i++)
    row(readable(name[i]) "\t" compared[name[i]] "\t" compared[name[i]] - apart[name[i]] "\t" differing[name[i]])
  if (missing != "") print "\nNo counter of this GPU tells " missing "."
  origin()
}
