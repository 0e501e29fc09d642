# Boxes: place, 5 %, 25 %, 75 % and 95 % of the samples, what is said above, name. Samples: place, value.
# All in percent from the step's median. The shape: the one that most steps were timed at; of several
# the nearest to 4096 queries, head_dim 64, fp16, no mask.
field("microseconds") != "" && is_step(field("step")) {
  key = problem()
  if ((key, field("step")) in place) { # a line for each round
    samples[key, place[key, field("step")]] = samples[key, place[key, field("step")]] " " field("microseconds")
    next
  }
  place[key, field("step")] = ++steps_of[key]
  text_of[key] = problem_text()
  taste[key] = -8 * distance(log(field("seq_q") / 4096)) - 4 * (field("head_dim") != 64) \
    - 2 * (field("dtype") != "fp16") - field("causal")
  samples[key, steps_of[key]] = field("microseconds")
  name[key, steps_of[key]] = field("step")
}
function distance(value) { return value < 0 ? -value : value }
END {
  for (key in steps_of)
    if (chosen == "" || steps_of[key] > steps_of[chosen] || steps_of[key] == steps_of[chosen] &&
        (taste[key] > taste[chosen] || taste[key] == taste[chosen] && key < chosen)) chosen = key
  if (chosen == "") {
    nothing("No samples of a step are recorded.")
    exit
  }
  words(text_of[chosen] "; box: middle half, whiskers: 5 % to 95 %")
  steps = steps_of[chosen]
  lowest = -0.5 # percent: the axis shows at least this
  highest = 0.5
  for (i = 1; i <= steps; i++) measure(i)
  print "$samples << END"
  for (i = 1; i <= steps; i++) print_samples(i)
  print "END\n$boxes << END"
  for (i = 1; i <= steps; i++) {
    lines = readable(name[chosen, i])
    gsub(/ /, "\\n", lines)
    print i - 1 "\t" box[i] "\t" above[i] "\t" lines
  }
  print "END"
  printf "steps = %d\nlowest = %g\nhighest = %g\n", steps, 1.1 * lowest, 1.6 * highest
}

# Of the sorted samples, in percent from their median.
function quantile(count, part,  place, whole) {
  place = 1 + part * (count - 1)
  whole = int(place)
  return sorted[whole] + (place - whole) * (sorted[whole < count ? whole + 1 : whole] - sorted[whole])
}
function measure(i,  value, j, k, median) {
  count[i] = split(samples[chosen, i], value, " ")
  for (j = 1; j <= count[i]; j++) {
    for (k = j - 1; k > 0 && sorted[k] > value[j] + 0; k--) sorted[k + 1] = sorted[k]
    sorted[k + 1] = value[j] + 0
  }
  median = quantile(count[i], 0.5)
  for (j = 1; j <= count[i]; j++) {
    sorted[j] = 100 * (sorted[j] / median - 1)
    percent[i, j] = 100 * (value[j] / median - 1)
  }
  box[i] = quantile(count[i], 0.05) "\t" quantile(count[i], 0.25) "\t" quantile(count[i], 0.75) "\t" \
    quantile(count[i], 0.95)
  if (quantile(count[i], 0.02) < lowest) lowest = quantile(count[i], 0.02)
  if (quantile(count[i], 0.95) > highest) highest = quantile(count[i], 0.95)
  largest[i] = sorted[count[i]]
}

# Beside one another, so that none hides another. The few far above the axis are said, not shown.
function print_samples(i,  j, beyond) {
  for (j = 1; j <= count[i]; j++) {
    if (percent[i, j] > 1.2 * highest) beyond++
    else printf "%g\t%g\n", i - 1 + 0.4 * (j * 0.618 % 1 - 0.5), percent[i, j]
  }
  above[i] = "n = " count[i] (beyond ? "\\n" beyond " above,\\nto " sprintf("%+.3g %%", largest[i]) : "")
}
