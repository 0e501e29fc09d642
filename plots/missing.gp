# The page in place of a chart that has no data: it says what is missing and which command makes it.
load "plots/style.gp"
unset border
unset tics
unset grid
set xrange [0:1]
set yrange [0:1]
set label 1 nothing at graph 0.5,0.55 center noenhanced
plot NaN
