# Small faults that a program plants in each source (common/tools/mutants), and who caught them on the emulator.
# Arguments: DEVICE
# Data: ../emulated-DEVICE/mutants.csv (make mutants RECORD=1 DEVICE=cpu)
{
  name = field("source")
  sub(/\/attention\.cu$/, "", name)
  sub(/^steps\//, "", name)
  sub(/^common\/kernel\//, "", name)
  if (!(name in count)) source[++sources] = name
  verdict = field("verdict")
  sub(/^wrong reason: /, "", verdict)
  if (verdict == "") verdict = "not tried" # as before the tools had to give one
  count[name]++
  of[name, verdict]++
  count["all"]++
  of["all", verdict]++
}
function line(name, title,  tried) {
  tried = count[name] - of[name, "not tried"]
  row(title "\t" count[name] "\t" tried "\t" of[name, "compile"] + 0 "\t" of[name, "check"] + 0 "\t" of[name, "sanitize"] + 0 \
    "\t" of[name, "hang"] + 0 "\t" of[name, "same"] + of[name, "reason"] + 0 "\t" of[name, "survives"] + of[name, "unknown"] + 0)
}
END {
  header("source\tmutants\ttried\tcompiler\tcheck\tsanitize\thangs\tno fault\tsurvive", 1)
  for (i = 1; i <= sources; i++) line(source[i], "`" source[i] "`")
  line("all", "all")
  origin()
}
