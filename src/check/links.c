// SPDX-License-Identifier: BSD-2-Clause
// Judges BPF and links; see links.h.
#include "check/links.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "probe/object.h"

#define AS_ROOT "run it as root (sudo gpuprobe check)"

/* "session", "multi", "perf": the values of GPUPROBE_LINKS. */
static const char *word_of(enum link_kind kind)
{
	static const char *const words[] = {
		[LINKS_SESSION] = "session", [LINKS_MULTI] = "multi", [LINKS_TRACEFS] = "perf"};

	return words[kind];
}

static void judge_bpf(const struct link_facts *facts, struct check_list *list)
{
	if (facts->program == -EPERM || facts->program == -EACCES)
		check_list__lacks(list, "bpf", CHECK_MISSING,
				  "run it as root (sudo), or with CAP_BPF and CAP_PERFMON; in a "
				  "container --privileged, or "
				  "these and a seccomp profile that allows bpf(2)",
				  "the kernel refuses BPF programs: %s", strerror(-facts->program));
	else if (facts->program == -ENOSYS)
		check_list__lacks(list, "bpf", CHECK_MISSING,
				  "boot a kernel with CONFIG_BPF_SYSCALL=y",
				  "this kernel, or sandbox, has no bpf(2)");
	else if (facts->program)
		check_list__lacks(list, "bpf", CHECK_MISSING,
				  "run gpuprobe check -vv, which prints the kernel's reasons",
				  "the kernel refuses BPF programs: %s", strerror(-facts->program));
	else if (facts->reading)
		check_list__lacks(list, "bpf", CHECK_MISSING, "see the line on lockdown",
				  "BPF programs may not read the kernel's memory: %s",
				  strerror(-facts->reading));
	else
		check_list__ok(list, "bpf",
			       "the kernel loads BPF programs, and they may read its memory");
}

static void judge_kind(const struct link_facts *facts, struct check_list *list)
{
	const char *by_choice = facts->forced ? ", by GPUPROBE_LINKS" : "";

	if (facts->chosen)
		check_list__lacks(list, "links", CHECK_MISSING, "unset GPUPROBE_LINKS", "%s",
				  facts->choice_error.text);
	else if (facts->kind == LINKS_TRACEFS)
		check_list__lacks(list, "links", CHECK_DEGRADED,
				  facts->forced ?
					  "unset GPUPROBE_LINKS" :
					  "boot Linux 6.6 or newer, which has uprobe_multi links",
				  "tracefs events%s: gpuprobe needs CAP_SYS_ADMIN, and "
				  "--max-overhead is unavailable",
				  by_choice);
	else
		check_list__ok(list, "links",
			       "uprobe_multi%s: one link per library for all its functions",
			       by_choice);
	if (!facts->chosen)
		check_list__text(list, "kind", word_of(facts->kind));
}

static void judge_session(const struct link_facts *facts, struct check_list *list)
{
	if (facts->kind == LINKS_SESSION)
		check_list__ok(list, "session",
			       "session probes: a launch costs one trap, and the result of one in "
			       "%d is checked",
			       LAUNCH_SAMPLE);
	else
		check_list__lacks(list, "session", CHECK_DEGRADED,
				  facts->features.uprobe_session ?
					  "unset GPUPROBE_LINKS" :
					  "boot Linux 6.13 or newer, or use --check-launches, "
					  "which makes each launch cost more",
				  "no session probes%s: results of launches are checked only with "
				  "--check-launches",
				  facts->features.uprobe_session ? ", by GPUPROBE_LINKS" : "");
}

/* Which processes the probes affect besides the targets. */
static void judge_reach(const struct link_facts *facts, struct check_list *list)
{
	static const char readers[] =
		"programs that read such a library by a private mapping (git add, llvm-strip) "
		"then read breakpoints";

	if (facts->kind == LINKS_SESSION)
		check_list__ok(list, "reach",
			       "with -p of one process that has CUDA's libraries, and with "
			       "COMMAND, probes are in "
			       "one process as long as only that one may call CUDA; otherwise in "
			       "CUDA's libraries, "
			       "for all processes of the machine: %s",
			       readers);
	else
		check_list__lacks(list, "reach", CHECK_DEGRADED,
				  facts->features.uprobe_session ? "unset GPUPROBE_LINKS" :
								   "boot Linux 6.13 or newer",
				  "probes are in CUDA's libraries, for all processes of the "
				  "machine, even with -p "
				  "and COMMAND: %s",
				  readers);
}

/* A failure for lack of descriptors says nothing about the kernel. */
static const char *advice_on(const struct attempt *attempt, const char *otherwise)
{
	return attempt->ret == -EMFILE || attempt->ret == -ENFILE ?
		       "raise the limit of open files: ulimit -n 1024" :
		       otherwise;
}

static void judge_probing(const struct link_facts *facts, struct check_list *list)
{
	const struct probe_selftest *trial = &facts->trial;

	if (!facts->probing.made)
		check_list__lacks(list, "probes", CHECK_MISSING, "see the line on tracefs",
				  "not tried without tracefs");
	else if (facts->foreign_proc)
		check_list__lacks(list, "probes", CHECK_MISSING, "mount -t proc proc /proc",
				  "/proc belongs to another pid namespace, or is not mounted: "
				  "gpuprobe finds no processes");
	else if (facts->probing.ret)
		check_list__lacks(list, "probes", CHECK_MISSING,
				  advice_on(&facts->probing,
					    "boot a kernel with CONFIG_UPROBES=y and "
					    "CONFIG_UPROBE_EVENTS=y, and see "
					    "the lines on capabilities and lockdown"),
				  "%s", facts->probing.error.text);
	else if (trial->plain == TRIAL_KILLED)
		check_list__lacks(list, "probes", CHECK_MISSING,
				  "do not use gpuprobe on this kernel in this sandbox",
				  "a probe killed a process of gpuprobe's own");
	else if (trial->plain != TRIAL_RETURNED || trial->hits != 2 * trial->calls + 1)
		check_list__lacks(
			list, "probes", CHECK_MISSING,
			"report it with this output: counts by this kernel's probes are unreliable",
			"%" PRIu64 " calls of a function of gpuprobe's own, and one without a "
			"return, ran %" PRIu64 " probes, not %" PRIu64,
			trial->calls, trial->hits, 2 * trial->calls + 1);
	else
		check_list__ok(list, "probes",
			       "%" PRIu64
			       " calls of a function of gpuprobe's own were seen at entry and at "
			       "return",
			       trial->calls);
}

static void judge_filters(const struct link_facts *facts, struct check_list *list)
{
	if (!facts->probing.made || facts->probing.ret || facts->trial.plain != TRIAL_RETURNED)
		return;
	if (facts->trial.filtered == TRIAL_KILLED)
		check_list__lacks(
			list, "seccomp", CHECK_MISSING,
			"boot Linux 6.14, 6.13.3, 6.12.14 or newer; until then do not watch "
			"processes with seccomp "
			"filters, such as those of containers",
			"return probes kill processes with a seccomp filter on this kernel");
	else if (facts->trial.filtered == TRIAL_NOT_MADE)
		check_list__lacks(list, "seccomp", CHECK_DEGRADED,
				  "run it where seccomp filters can be set",
				  "could not test return probes in processes with seccomp filters");
	else
		check_list__ok(
			list, "seccomp",
			"processes with seccomp filters (containers) return from probed calls");
}

static void judge_iterator(const struct link_facts *facts, const struct kernel_types *types,
			   struct check_list *list)
{
	if (!facts->iterator.made)
		return;
	if (facts->iterator.ret)
		check_list__lacks(
			list, "iterator", CHECK_MISSING,
			advice_on(&facts->iterator,
				  types->one_process ?
					  "run gpuprobe check -vv, which prints the kernel's "
					  "reasons" :
					  "run it in the machine's pid namespace, or boot Linux "
					  "6.1 or newer"),
			"no iterator over mappings, which identifies the probed files: %s",
			facts->iterator.error.text);
	else if (!types->one_process)
		check_list__lacks(list, "iterator", CHECK_DEGRADED, "boot Linux 6.1 or newer",
				  "the iterator over mappings visits all processes: each new "
				  "library takes longer");
	else
		check_list__ok(
			list, "iterator",
			"the iterator over mappings identifies the files that the kernel probes");
}

static void judge_object(const struct attempt *attempt, const char *topic, const char *what,
			 struct check_list *list)
{
	if (!attempt->made)
		return;
	if (attempt->ret)
		check_list__lacks(
			list, topic, CHECK_MISSING,
			advice_on(attempt,
				  "run gpuprobe check -vv, which prints the kernel's reasons"),
			"%s", attempt->error.text);
	else
		check_list__ok(list, topic, "the kernel accepts the programs of %s", what);
}

/* Without it the rest of diagnose still works. */
static void judge_threads(const struct attempt *attempt, struct check_list *list)
{
	if (!attempt->made)
		return;
	if (attempt->ret)
		check_list__lacks(
			list, "threads", CHECK_DEGRADED,
			advice_on(attempt,
				  "run gpuprobe check -vv, which prints the kernel's reasons"),
			"gpuprobe diagnose cannot follow what threads do between their calls: %s",
			attempt->error.text);
	else
		check_list__ok(list, "threads",
			       "gpuprobe diagnose can follow what threads do between their calls");
}

static void judge_maps(const struct link_facts *facts, const struct kernel_types *types,
		       struct check_list *list)
{
	if (facts->features.lazy_maps)
		check_list__ok(list, "maps", "BPF maps take memory as they need it");
	else
		check_list__lacks(list, "maps", CHECK_DEGRADED,
				  "boot Linux 6.1 or newer, or give smaller --max-allocations and "
				  "--max-processes",
				  "BPF maps take all their memory at the start");
	if (types->counts_mappings)
		check_list__ok(list, "copies",
			       "threads remember which addresses are pageable memory");
	else
		check_list__lacks(list, "copies", CHECK_DEGRADED, "boot Linux 6.13 or newer",
				  "each copy from pageable memory looks up its mapping again, and "
				  "costs more");
}

static bool is_reported(const struct check_list *list, size_t first, const char *topic)
{
	for (size_t i = first; i < list->count; i++)
		if (!strcmp(list->lines[i].topic, topic))
			return true;
	return false;
}

/* Names the trials that could not run; they have no line of their own. */
static void say_untried(size_t first, struct check_list *list)
{
	static const char *const topics[] = {"session", "probes",  "seccomp", "iterator", "monitor",
					     "tracer",	"threads", "maps",    "copies"};
	const size_t count = sizeof(topics) / sizeof(*topics);
	char names[128] = "";

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(names);

		if (!is_reported(list, first, topics[i]))
			snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
				 topics[i]);
	}
	if (!*names)
		return;
	check_list__lacks(list, "untried", CHECK_DEGRADED,
			  "fix what is missing in the lines above, and check again",
			  "not tried: %s", names);
	for (size_t i = 0; i < count; i++)
		if (!is_reported(list, first, topics[i]))
			check_list__text(list, "topics", topics[i]);
}

static void judge_tried(const struct link_facts *facts, const struct kernel_types *types,
			struct check_list *list)
{
	static const struct kernel_types none;

	judge_session(facts, list);
	judge_reach(facts, list);
	judge_probing(facts, list);
	judge_filters(facts, list);
	judge_iterator(facts, types ? types : &none, list);
	judge_object(&facts->monitor, "monitor",
		     facts->stacks == STACK_OFF ? "the monitor" : "the monitor, with call stacks",
		     list);
	judge_object(&facts->tracer, "tracer", "gpuprobe trace", list);
	judge_threads(&facts->threads, list);
	if (types)
		judge_maps(facts, types, list);
}

void check_links__judge(const struct link_facts *facts, const struct kernel_types *types,
			struct check_list *list)
{
	size_t first = list->count;

	judge_bpf(facts, list);
	if (facts->program)
		check_list__lacks(list, "links", CHECK_MISSING, AS_ROOT,
				  "unknown: a BPF program must be loaded to find out");
	else
		judge_kind(facts, list);
	if (!facts->program && !facts->chosen)
		judge_tried(facts, types, list);
	say_untried(first, list);
}
