// SPDX-License-Identifier: BSD-2-Clause
// The help page of `gpuprobe top`, see table.h.
#include "output/top/table.h"

static const char text[] =
	"Keys\n"
	"  q, F10      quit; on a page: back           h, ?, F1   this page\n"
	"  arrows, PgUp, PgDn, Home, End   choose a process; on a page: scroll\n"
	"  Enter       open the process: threads, kernels, memory call sites, findings\n"
	"  M           sort by memory                  G          by growth of memory\n"
	"  L           by launches                     W          by time in waits\n"
	"  C           by bytes copied                 N          by pid\n"
	"  < >         the previous or next order      r          reverse the order\n"
	"  /, F4       show command lines, pids, containers and pods with this text only\n"
	"  u           show one user's processes       Esc        show all again\n"
	"  t, F5       tree: children below parents    p          whole path of programs\n"
	"  1           GPUs: a line each, or one       space      pause\n"
	"  d           seconds between readings        Ctrl-Z     suspend\n"
	"Recordings (-i)\n"
	"  left, right the reading before or after     Home, End  the first or last one\n"
	"  [ ]         the same, also on a page        space      play, one each second\n"
	"\n"
	"Columns (- is unknown; rates are of the latest interval)\n"
	"  MEMORY      live device memory; what NVML reports, if the process ran before\n"
	"              gpuprobe; > more than this, because NVML does not report it\n"
	"  GROWTH/s    change of live device memory, over up to a minute\n"
	"  LAUNCH/s    launches of kernels and graphs\n"
	"  COPY IN     copies to the device; COPY OUT: to the host\n"
	"  WAIT        time of threads in waits, synchronous copies and frees; two\n"
	"              threads that wait all the time have 200 %\n"
	"  STEP        usual time of a step that the program repeats\n"
	"  IDLE        share of the latest minute in which the GPU provably had no work\n"
	"              of the process\n"
	"  VERDICT     GPU-bound: the program waits for the GPU; host-bound: the GPU\n"
	"              waits for the program; waiting: for another process; no work;\n"
	"              idle: no CUDA call since attach; - if unclear\n";

int top_help__add(struct top_page *page)
{
	return top_page__add_lines(page, text);
}
