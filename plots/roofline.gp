# What bounds a step: the slope is what memory can deliver to it, the level what the multipliers can do.
# Left of the ridge a step waits for DRAM, right of it for its own instructions. Thick: this GPU, measured;
# thin: the data sheet.
# Title: Roofline
# Data: ladder.csv (make ladder), counts.csv (make count DEVICE=gpu), ceilings.csv (make ceilings)
# On: gpu
y_title = "TFLOP/s"
load "plots/style.gp"
set logscale xy 10
set xlabel "floating-point operations for each byte read from or written to DRAM"
set xrange [left:right]
set yrange [lowest:highest]
set grid xtics ytics
if (dumb) {
  set key outside right noenhanced
} else {
  set rmargin at screen 0.8
}
do for [i = 1:|level|] {
  if (!dumb) { set label 200 + i level_name[i] at graph 1.01,first level_y[i] left tc rgb grey font ",12" }
}
do for [i = 1:|step_name|] {
  if (!dumb) { set label 300 + i step_name[i] at step_x[i],label_y[i] left offset 1.2,0 front tc rgb colour(step_style[i]) font ",12" }
}
level_dash(i) = i == 1 ? 1 : 3
roof(x, slope, level) = slope * x < level ? slope * x : level
plot for [i = 1:|level|] roof(x, slope, level[i]) with lines lc rgb grey lw 2 dt level_dash(i), \
     for [i = 1:|vendor|] roof(x, vendor_slope, vendor[i]) with lines lc rgb grey lw 0.5, \
     for [i = 1:|step_name|] "+" every ::0::0 using (step_x[i]):(step_y[i]) with points \
       pt marker(step_style[i]) lc rgb colour(step_style[i]) ps 1 title dumb ? step_name[i] : ""
