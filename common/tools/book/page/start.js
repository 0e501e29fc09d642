"use strict";
// The last script: all views are there.
drawFrame();
addEventListener("hashchange", show);
show();
