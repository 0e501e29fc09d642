# Boxes: row, 5 %, 25 %, 75 % and 95 % of the samples, style, name, what is said on the right. Samples: row, value.
# All in percent from the step's median. The shape: the one that most steps were timed at; of several
# the nearest to 4096 queries, head_dim 64, fp16, no mask.
field("microseconds") != "" && is_step(field("step")) {
  key = problem()
  rounds[key, field("step")]++
  rounds_throttled[key, field("step")] += throttled()
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
  steps = steps_of[chosen]
  lowest = -0.5 # percent: the axis shows at least this
  highest = 0.5
  for (i = 1; i <= steps; i++) measure(i)
  for (i = 1; i <= steps; i++) count_beyond(i)
  words(text_of[chosen], 
    "Thick line: the median, which stands on the right; box: the middle half of the samples; whiskers: 5 % to 95 %.")
  print "$samples << END"
  for (i = 1; i <= steps; i++) print_samples(i)
  print "END\n$boxes << END"
  for (i = 1; i <= steps; i++)
    print i "\t" box[i] "\t" number_of(name[chosen, i]) "\t" readable(name[chosen, i]) "\t" said[i]
  print "END"
  for (i = 1; i <= steps; i++) description = description (i > 1 ? "; " : "") readable(name[chosen, i]) " " said[i]
  print "description = " quoted(description ".")
  printf "steps = %d\nlowest = %g\nhighest = %g\nrow_height = 34\n", steps, 1.1 * lowest, 1.2 * highest
  printf "canvas_width = 1440\ncanvas_height = %d\ndumb_height = %d\n", 230 + 34 * steps, 2 * steps + 10
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
  median_of[i] = median
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

# The few far above the axis are said, not shown.
function count_beyond(i,  j, held) {
  for (j = 1; j <= count[i]; j++) if (percent[i, j] > 1.15 * highest) beyond[i]++
  held = rounds_throttled[chosen, name[chosen, i]]
  if (held) any_throttled = 1
  said[i] = "median " time_text(median_of[i]) ", n = " count[i] \
    (beyond[i] ? "; " beyond[i] " above, to " sprintf("%+.3g %%", largest[i]) : "") \
    (held ? "; * in " held " of " rounds[chosen, name[chosen, i]] " rounds" : "")
}
function time_text(microseconds) {
  return microseconds < 1000 ? sprintf("%.4g us", microseconds) : sprintf("%.4g ms", microseconds / 1000)
}
# Beside one another, so that none hides another.
function print_samples(i,  j) {
  for (j = 1; j <= count[i]; j++)
    if (percent[i, j] <= 1.15 * highest) printf "%g\t%g\n", i + 0.5 * (j * 0.618 % 1 - 0.5), percent[i, j]
}
