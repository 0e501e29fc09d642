# The look that all charts share. Colours: Okabe and Ito's palette, which colour-blind readers can tell
# apart; markers and dashes differ, too, for those who print in grey. The caller sets: terminal ("svg",
# "png" or "dumb"), output, and data: what the chart's awk program has written. A chart may set before:
# canvas_width, canvas_height (of the SVG, in pixels) and y_title.
load data
if (!exists("canvas_width")) { canvas_width = 900 }
if (!exists("canvas_height")) { canvas_height = 540 }
if (terminal eq "svg") set terminal svg size canvas_width,canvas_height dynamic enhanced font "Helvetica,15" background "white"
if (terminal eq "png") set terminal pngcairo size 1.5 * canvas_width,1.5 * canvas_height enhanced font "Helvetica,15" fontscale 1.15 linewidth 1.5 pointscale 1.6
if (terminal eq "dumb") set terminal dumb size 110,30 noenhanced
dumb = terminal eq "dumb"
if (!dumb) set output output

set datafile separator tab
set datafile missing "?"
set encoding utf8

# --- colours, markers and dashes by style: 0 is a ceiling, then a step's number, from 100 peers,
# --- from 200 what is quoted
blue = "#0072b2"; orange = "#e69f00"; grey = "#5f5f5f"; light = "#c8c8c8"
step_colours = "0x0072b2 0xd55e00 0x009e73 0xcc79a7 0x000000 0x56b4e9 0xe69f00"
step_markers = "7 5 9 11 13 15 4 6 8 10 12"
peer_markers = "1 2 3 6 4 8 10"
item(list, i) = int(real(word(list, 1 + i % words(list))))
is_step(style) = style > 0 && style < 100
colour(style) = is_step(style) ? item(step_colours, style - 1) : 0x5f5f5f
marker(style) = style == 0 ? -1 : is_step(style) ? item(step_markers, style - 1) : item(peer_markers, style % 100 - 1)
dash(style) = style == 0 || style >= 200 ? 3 : is_step(style) ? 1 : 2

# --- words: what the chart shows on the left above, its origin on the right below -----------------
if (!exists("y_title")) { y_title = "" }
if (dumb) {
  set title heading."\n".subtitle
  set ylabel y_title
} else {
  set label 1001 "{/:Bold=18 ".heading."}" at screen 0.02,1 - 25.0 / canvas_height left front
  set label 1002 subtitle at screen 0.02,1 - 54.0 / canvas_height left front noenhanced tc rgb grey
  set label 1003 corner at screen 0.985,14.0 / canvas_height right front noenhanced tc rgb grey font ",12"
  set label 1004 note at screen 0.02,14.0 / canvas_height left front noenhanced tc rgb grey font ",12"
  set lmargin at screen 0.105
  set label 1005 y_title at graph 0,1.04 left
  set rmargin at screen 0.97
  set tmargin at screen 0.82
  set bmargin at screen 0.19
}

set border 3 lw 1 lc rgb grey
set tics nomirror out
set xtics textcolor rgb grey
set ytics textcolor rgb grey
set grid ytics lc rgb light lw 1 dt solid
set key noautotitle
set style fill solid 0.9 noborder
set boxwidth 0.6
set bars small
