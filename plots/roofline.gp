# What bounds a step: the slope is what memory can deliver to it, the level what the multipliers can do. No step can be
# above this roof. One that is far below it waits for neither alone: for shared memory, for latency, for barriers, or
# for one after the other. Thick: this GPU, measured; thin: the data sheet; dotted: slower multipliers.
# Title: Roofline
# Data: ladder.csv (make ladder), counts.csv (make count DEVICE=gpu), ceilings.csv (make ceilings)
# On: gpu
# Takes: STEPS
y_title = "TFLOP/s"
canvas_width = 1200; canvas_height = 860
load "plots/style.gp"
set logscale xy 10
set xlabel "floating-point operations for each byte read from or written to DRAM"
set xrange [left:right]
set yrange [lowest:highest]
set grid xtics ytics
if (dumb) {
  set key outside right noenhanced
} else {
  set lmargin at screen 0.08
  set rmargin at screen 0.84
  set bmargin at screen 135.0 / canvas_height
}
do for [i = 1:|level|] {
  if (!dumb) { set label 200 + i level_name[i] at graph 1.01,first level_y[i] left tc rgb grey font ",17" }
}
do for [i = 1:|step_name|] {
  if (!dumb) {
    set arrow 300 + i from step_x[i],step_y[i] to step_x[i] * 1.5,label_y[i] nohead lw 0.7 lc rgb colour(step_style[i]) back
    set label 300 + i step_name[i] at step_x[i] * 1.55,label_y[i] left front boxed tc rgb ink(step_style[i]) font ",17"
  }
}
level_dash(i) = i == 1 ? 1 : 3
roof(x, slope, level) = slope * x < level ? slope * x : level
plot for [i = 1:|level|] roof(x, slope, level[i]) with lines lc rgb grey lw 2 dt level_dash(i), \
     for [i = 1:|vendor|] roof(x, vendor_slope, vendor[i]) with lines lc rgb grey lw 0.5, \
     for [i = 1:|step_name|] "+" every ::0::0 using (step_x[i]):(step_y[i]) with points \
       pt marker(step_style[i]) lc rgb colour(step_style[i]) ps 1 title dumb ? step_name[i] : ""
