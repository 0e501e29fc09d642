# The look that all charts share. The caller sets: terminal ("svg" or "dumb"), output, and data: what the chart's awk
# program has written. A chart may set before: y_title, and canvas_width and canvas_height in pixels, where its
# data does not say them. Letters are large enough for a picture that is shown at half its size, and its ground is
# white, so that it can be read on a dark page.
load data
if (!exists("canvas_width")) { canvas_width = 1400 }
if (!exists("canvas_height")) { canvas_height = 840 }
dumb = terminal eq "dumb"
if (!dumb) set terminal svg size canvas_width,canvas_height dynamic enhanced font "Helvetica,20" background "white"
dumb_width = int(system("width=${COLUMNS:-$(tput cols 2>/dev/null </dev/tty)}; echo ${width:-110}"))
if (dumb) set terminal dumb size (dumb_width < 111 ? dumb_width - 1 : 110),(exists("dumb_height") ? dumb_height : 30) noenhanced
if (!dumb) set output output

set datafile separator tab
set datafile missing "?"
set encoding utf8

# --- colours, markers and dashes by style: 0 is a ceiling, then a step's number, from 100 peers, from 200 what is
# --- quoted, from 300 the reader's own steps. A family of steps has one colour of Okabe and Ito's palette, which
# --- colour-blind readers can tell apart; inside it shades and markers differ.
grey = "#5f5f5f"; light = "#c8c8c8"
float32_colours = "0x0072b2 0x56b4e9 0x00466e 0x3d8fc0"
wmma_colours    = "0xe69f00 0xa87400"
mma_colours     = "0x009e73 0x006248 0x4cc9a4"
hopper_colours  = "0xd55e00 0x8a3d00 0xf08a3c 0x6b2f00 0xd55e00 0x8a3d00 0xf08a3c 0xb04e00"
later_colours   = "0xcc79a7 0x8f3f6d 0xa85a86"
step_markers    = "7 5 9 11 13 15 4 6 8 10 12"
peer_markers    = "1 2 3 6 4 8 10"
item(list, i) = int(real(word(list, 1 + int(i) % words(list))))
is_step(style) = style > 0 && style < 100 || style > 300
family(step) = step <= 4 ? float32_colours : step <= 6 ? wmma_colours : step <= 9 ? mma_colours : \
               step <= 17 ? hopper_colours : later_colours
first_of_family(step) = step <= 4 ? 1 : step <= 6 ? 5 : step <= 9 ? 7 : step <= 17 ? 10 : 18
colour(style) = style > 300 ? 0x000000 : is_step(style) ? item(family(style), style - first_of_family(style)) : 0x6f6f6f
# A text in that colour, which is darker: 4.5 times as dark as white, as letters of this size need to be read.
shade(c, part) = (int((c >> 16 & 255) * part) << 16) + (int((c >> 8 & 255) * part) << 8) + int((c & 255) * part)
ink(style) = shade(colour(style), 0.6)
marker(style) = style == 0 ? -1 : is_step(style) ? item(step_markers, style - 1) : item(peer_markers, int(style) % 100 - 1)
dash(style) = is_step(style) ? 1 : style == 0 || style >= 200 ? 3 : 2
width(style) = style > 300 ? 3.5 : 2

# --- words: what the chart shows on the left above, its origin on the right below -----------------
if (!exists("y_title")) { y_title = "" }
if (!exists("sentence")) { sentence = "" }
if (dumb) {
  set title heading."\n".subtitle
  set ylabel y_title
} else {
  set label 1001 "{/:Bold=26 ".heading."}" at screen 0.015,1 - 32.0 / canvas_height left front
  set label 1002 subtitle at screen 0.015,1 - 66.0 / canvas_height left front noenhanced tc rgb grey
  set label 1006 sentence at screen 0.015,1 - 95.0 / canvas_height left front noenhanced tc rgb grey
  set label 1003 corner at screen 0.985,17.0 / canvas_height right front noenhanced tc rgb grey font ",16"
  # A long note stands above the origin: a letter is up to ten pixels wide where a reader's machine has no Helvetica.
  above_corner = 10 * (strlen(note) + strlen(corner)) > 0.97 * canvas_width ? 21.0 : 0
  set label 1004 note at screen 0.015,(17.0 + above_corner) / canvas_height left front noenhanced tc rgb grey font ",16"
  set lmargin at screen 0.105
  set label 1005 y_title at graph 0,1.04 left
  set rmargin at screen 0.97
  set tmargin at screen 1 - 165.0 / canvas_height
  set bmargin at screen 115.0 / canvas_height
}

# For those who do not see the picture: scripts/plot.sh puts it into the SVG.
if (exists("described")) {
  set print described
  print heading
  print (subtitle eq "" ? "" : subtitle.". ").sentence." ".(exists("description") ? description : nothing)." ".note." ".corner
  set print
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
set style textbox opaque noborder
