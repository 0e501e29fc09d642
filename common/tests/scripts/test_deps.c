// Runs scripts/deps.sh without a network: scripts replace apt-get, dpkg-deb and pip, and gnuplot is
// missing. Other users' files in the prefix stay, and only the requested packages are left there. The
// script asks whether the machine has fonts for gnuplot; here it searches the test's own fonts.conf.
#define _GNU_SOURCE
#include "toolkit.h"

#define APT                                                                                        \
  "#!/bin/bash\n"                                                                                  \
  "case \" $* \" in\n"                                                                             \
  "*' -s '*) echo 'Inst gnuplot-nox (5.4)' ;;\n"                                                   \
  "*' download '*)\n"                                                                              \
  "  if [ -e $LAB/slow ]; then touch $LAB/began && sleep 20; fi\n"                                 \
  "  echo deb >gnuplot-nox.deb ;;\n"                                                               \
  "esac\n"
#define DPKG                                                                                       \
  "#!/bin/bash\n"                                                                                  \
  "mkdir -p $3/usr/bin && printf '#!/bin/bash\\n' >$3/usr/bin/gnuplot-nox && "                     \
  "chmod +x $3/usr/bin/gnuplot-nox\n"
// pip as python3 -m pip install ... --target FOLDER PACKAGE==VERSION; and python3 -c "import numpy"
#define PIP                                                                                        \
  "#!/bin/bash\n"                                                                                  \
  "if [ $1 = -c ]; then [ ! -e $LAB/no_numpy ]; exit; fi\n"                                        \
  "if [ $3 = --version ]; then [ ! -e $LAB/no_pip ]; exit; fi\n"                                   \
  "echo \"$*\" >>$LAB/asked\n"                                                                     \
  "[ ! -e $LAB/offline ] || { cat $LAB/offline; exit 1; }\n"                                       \
  "while [ $1 != --target ]; do shift; done\n"                                                     \
  "mkdir -p $2/nvidia/cu13/bin && printf '#!/bin/bash\\necho listing\\n' "                         \
  ">$2/nvidia/cu13/bin/nvdisasm && chmod +x $2/nvidia/cu13/bin/nvdisasm\n"

static void enter(void) {
  toolkit_enter();
  cr_assert(mkdir("path", 0700) == 0);
  toolkit_write_program("path/apt-get", APT);
  toolkit_write_program("path/dpkg-deb", DPKG);
  toolkit_write_program("path/python3", PIP);
  // The folder has all programs of this machine, except gnuplot, sudo and those that are replaced.
  const script_result linked = toolkit_run(
      "for folder in /usr/bin /bin /usr/local/bin; do "
      "find $folder/ -maxdepth 1 ! -type d ! -name 'gnuplot*' ! -name sudo ! -name 'python3*' "
      "-print0 | "
      "xargs -0 ln -s -t path 2>/dev/null; done; mkdir mine mine/download && echo keep "
      ">mine/download/precious && "
      "echo keep >mine/packages && grep -q /etc/fonts/fonts.conf scripts/deps/prefix.sh && "
      "sed -i s:/etc/fonts/fonts.conf:fonts.conf: scripts/deps/prefix.sh && touch fonts.conf");
  cr_assert_eq(linked.status, 0, "%s", linked.out);
}

TestSuite(deps, .init = enter, .fini = toolkit_leave, .timeout = 60);

#define DEPS "export LAB=$PWD PATH=$PWD/path; scripts/deps.sh "
#define KEPT "cat mine/download/precious mine/packages; ls -A mine"

Test(deps, a_prefix_keeps_what_is_in_it) {
  const script_result result = toolkit_run(DEPS "mine 2>&1; " KEPT);
  EXPECT(result, "deps: missing: gnuplot (the charts)", "unpacked into mine: gnuplot-nox",
         "keep\nkeep\ndownload\nenv.mk\nenv.sh\npackages\nusr\n");
  const script_result found =
      toolkit_run("PATH=$PWD/path bash -c '. mine/env.sh; command -v gnuplot'");
  EXPECT(found, "mine/usr/bin/");
}

// NumPy, Thrust and CUB are asked for with the tests alone. The machine may have the headers; a folder of CPATH has some.
Test(deps, packages_that_are_wanted_for_the_tests) {
  const script_result result = toolkit_run(
      "sed -i 's: /usr/bin/python3::' scripts/examples.sh; touch no_numpy; unset C_INCLUDE_PATH; "
      "sed -i 's: /usr/include /usr/local/include::' scripts/deps/missing.sh; "
      "mkdir -p headers/thrust && touch headers/thrust/version.h; " DEPS
      "--missing; CPATH=$PWD/headers scripts/deps.sh --missing; echo; "
      "scripts/deps.sh --missing --without-tests");
  EXPECT(result, "wanted python3-numpy\nwanted libthrust-dev\nwanted libcub-dev\n",
         "wanted python3-numpy\nwanted libcub-dev\n\n");
  cr_assert(!strstr(strstr(result.out, "\n\n"), "numpy"), "%s", result.out);
  cr_assert(!strstr(strstr(result.out, "\n\n"), "thrust"), "%s", result.out);
}

Test(deps, gnuplot_gets_fonts_where_the_machine_has_none) {
  const script_result result = toolkit_run("rm fonts.conf; " DEPS "mine 2>&1; " KEPT);
  EXPECT(result, "keep\nkeep\ndownload\nenv.mk\nenv.sh\nfonts.conf\npackages\nusr\n");
  const script_result found =
      toolkit_run("bash -c '. mine/env.sh; cat $FONTCONFIG_FILE'; grep FONT mine/env.mk");
  EXPECT(found, "usr/share/fonts", "FONTCONFIG_FILE := $(deps_root)/fonts.conf");
}

// A compiler needs root or a distribution of its own, so no message names a command that cannot bring it.
Test(deps, compilers_are_not_unpacked) {
  script_result result = toolkit_run("rm path/gcc; " DEPS "mine 2>&1; echo $?");
  EXPECT(result, "error: the lab cannot go on without gcc (compiles C)",
         ": a compiler does not work from a folder of its own\n",
         "as root: ", "compilers without root: conda create", "2\n");
  result = toolkit_run("ln -s /bin/true path/gnuplot; rm path/apt-get; " DEPS "2>&1");
  EXPECT(result, "error: the lab cannot go on without gcc", "there is no apt-get here");
  cr_expect(!strstr(result.out, "PREFIX=.deps"), "%s", result.out);
}

Test(deps, a_prefix_without_debian) {
  const script_result result = toolkit_run("rm path/apt-get; " DEPS "mine 2>&1");
  EXPECT(result, "deps: going on without gnuplot",
         ": only Debian's packages can be unpacked into mine, and there is no apt-get here\n");
}

Test(deps, an_interrupted_download_leaves_nothing) {
  const script_result result = toolkit_run(
      "touch slow; export LAB=$PWD PATH=$PWD/path; setsid scripts/deps.sh mine >log 2>&1 & "
      "for i in $(seq 100); do [ -e began ] && break; sleep 0.1; done; "
      "ls -d mine/unpacking.* | wc -l; kill -s TERM -- -$!; wait $!; " KEPT);
  EXPECT(result, "1\n", "keep\nkeep\ndownload\npackages\n");
}

Test(deps, a_prefix_with_a_file_of_the_same_name) {
  const script_result result =
      toolkit_run("echo mine >mine/env.sh; " DEPS "mine 2>&1; echo $?; cat mine/env.sh; " KEPT);
  EXPECT(result, "error: mine/env.sh is not the lab's", "2\nmine\nkeep\nkeep\n",
         "download\nenv.sh\npackages\n");
}

// It installs one version and no other package of pip's choice; a second run changes nothing.
Test(deps, nccl) {
  const script_result result =
      toolkit_run(DEPS "--nccl mine 2>&1 && " DEPS "--nccl mine 2>&1; wc -l <asked; cat asked; "
                       "readlink mine/nccl; " KEPT);
  EXPECT(result, "NCCL ", " is in mine/nccl\n", " is in mine/nccl\n",
         "1\n-m pip install --no-deps ", "nvidia-nccl-cu",
         "==", "/nvidia/nccl\nkeep\nkeep\ndownload\n");
}

Test(deps, the_disassembler) {
  script_result result = toolkit_run(DEPS "--nvdisasm mine 2>&1 && " DEPS "--nvdisasm mine 2>&1; "
                                          "wc -l <asked; cat asked; mine/usr/bin/nvdisasm; " KEPT);
  EXPECT(result, "nvdisasm ", " is in mine\n", " is in mine\n", "1\n-m pip install --no-deps ",
         "nvidia-cuda-nvdisasm==", "listing\n", "keep\nkeep\ndownload\nenv.mk\nenv.sh\nnvidia-",
         "packages\nusr\n");
  result = toolkit_run("rm -rf mine/nvidia* mine/usr; echo disk full >offline; " DEPS
                       "--nvdisasm mine 2>&1; echo $?; " KEPT);
  EXPECT(result, "error: pip could not fetch nvidia-cuda-nvdisasm ",
         ": disk full (log:", "2\nkeep\nkeep\n", "download\nenv.mk\nenv.sh\npackages\n");
  result = toolkit_run("printf 'NewConnectionError\\nNo matching distribution' >offline; " DEPS
                       "--nvdisasm mine 2>&1; touch no_pip; " DEPS "--nvdisasm mine 2>&1; echo $?");
  EXPECT(result, ": it cannot reach its server (log:", "error: fetching nvidia-cuda-nvdisasm ",
         " needs python3 with pip, which is not here: install both", "2\n");
}

// A browser of a hundred megabytes is asked for by the test of the lab book alone.
Test(deps, the_browser_is_for_the_test_of_the_book) {
  const script_result book = toolkit_run("rm -f path/chromium; " DEPS
                                         "--missing --book-check; echo; " DEPS "--missing --book");
  const char *both = strstr(book.out, "\n\n");
  cr_expect(strncmp(book.out, "required ", 9) == 0 && strstr(book.out, "required chromium\n"),
            "its test does not ask for the browser: %s", book.out);
  cr_expect(both && !strstr(both, "chromium"), "the book asks for the browser: %s", book.out);
}
