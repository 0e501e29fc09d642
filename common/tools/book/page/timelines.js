"use strict";
// Timelines of a block's warps, where they have been recorded.
function timelineFiles(step) {
  return Object.keys(lab.text).filter((path) => /\/timeline-[^/]*\.csv$/.test(path) && (!step || table(path).some((row) => row.step === step)));
}
function hasTimelines(step) { return timelineFiles(step).length > 0; }
