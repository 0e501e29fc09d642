# Shortens demangled kernel names, one a line: attention_kernel<half, 64, 128x64x4x2> is left of
# void attention_kernel<__half, 64, configuration<128, 64, 4, 2> >(__half const*, ...).
{
  gsub(/\(anonymous namespace\)::/, "")
  gsub(/__nv_bfloat16/, "bf16")
  gsub(/__half/, "half")
  gsub(/emulator::number16<emulator::fp16_format>/, "half")
  gsub(/emulator::number16<emulator::bf16_format>/, "bf16")
  gsub(/> >/, ">>")
  while (match($0, /configuration<[0-9, ]+>/)) {
    numbers = substr($0, RSTART + 14, RLENGTH - 15)
    gsub(/, /, "x", numbers)
    $0 = substr($0, 1, RSTART - 1) numbers substr($0, RSTART + RLENGTH)
  }
  # Outside of angle brackets, a blank ends the return type and a parenthesis the name.
  name = ""
  depth = 0
  for (i = 1; i <= length($0); i++) {
    c = substr($0, i, 1)
    if (c == "<") depth++
    if (c == ">") depth--
    if (depth == 0 && c == "(") break
    name = depth == 0 && c == " " ? "" : name c
  }
  print name
}
