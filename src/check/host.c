// SPDX-License-Identifier: BSD-2-Clause
// What the machine or a container allows gpuprobe to do; see host.h.
#include "check/host.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/quantity.h"
#include "target/text_file.h"
#include "privilege/capabilities.h"

#define INITIAL_PID_NAMESPACE 0xEFFFFFFCu /* PROC_PID_INIT_INO of the kernel */
#define YAMA_NO_ATTACH 3

/* --- reading --- */

bool host_facts__is_initial_map(const char *text)
{
	unsigned long inside, outside, count;

	return sscanf(text, "%lu %lu %lu", &inside, &outside, &count) == 3 && inside == 0 &&
	       outside == 0 && count == UINT32_MAX;
}

static enum tracefs_access find_tracefs(const char *root)
{
	static const char *const files[] = {"/sys/kernel/tracing/uprobe_events",
					    "/sys/kernel/debug/tracing/uprobe_events"};
	enum tracefs_access access = TRACEFS_ABSENT;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int ret = text_file__access(root, files[i], W_OK);

		if (!ret)
			return TRACEFS_WRITABLE;
		if (ret != -ENOENT && ret != -ENOTDIR)
			access = TRACEFS_DENIED;
	}
	return access;
}

bool host_facts__counts_memlock(const char *release)
{
	unsigned int major, minor;

	if (sscanf(release, "%u.%u", &major, &minor) != 2)
		return false;
	return major < 5 || (major == 5 && minor < 11);
}

void host_facts__read(const char *root, struct host_facts *facts)
{
	struct capabilities capabilities;
	struct utsname name;
	struct rlimit limit;
	char map[128];
	unsigned long pid_namespace = text_file__namespace(root, "/proc/self/ns/pid");

	*facts = (struct host_facts){.memlock = UNLIMITED, .ptrace_scope = -1};
	facts->capabilities = capabilities__read(&capabilities, NULL);
	facts->effective = capabilities.effective;
	facts->user_namespace = !text_file__read(root, "/proc/self/uid_map", map, sizeof(map)) &&
				!host_facts__is_initial_map(map);
	facts->pid_namespace = pid_namespace && pid_namespace != INITIAL_PID_NAMESPACE;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		facts->memlock = limit.rlim_cur;
	facts->memlock_counts = !uname(&name) && host_facts__counts_memlock(name.release);
	facts->has_paranoid =
		!text_file__number(root, "/proc/sys/kernel/perf_event_paranoid", &facts->paranoid);
	if (text_file__number(root, "/proc/sys/kernel/yama/ptrace_scope", &facts->ptrace_scope))
		facts->ptrace_scope = -1;
	facts->tracefs = find_tracefs(root);
	facts->no_proc = text_file__access(root, "/proc/sys/kernel", F_OK) != 0;
}

/* --- judging --- */

/* Container engines call CAP_BPF "BPF". */
static void say_lacking(const struct capability_use *use, bool required, struct check_list *list)
{
	char advice[160];

	snprintf(advice, sizeof(advice),
		 "run it as root (sudo), or with %s (in a container: --cap-add %s)", use->name,
		 use->name + strlen("CAP_"));
	check_list__lacks(list, "capabilities", required ? CHECK_MISSING : CHECK_DEGRADED, advice,
			  "no %s, which %s: %s", use->name, use->what, use->without);
	check_list__text(list, "capability", use->name);
}

static void judge_capabilities(const struct host_facts *facts, bool perf, struct check_list *list)
{
	char names[256] = "";
	size_t lacking = 0;

	if (facts->capabilities) {
		check_list__lacks(list, "capabilities", CHECK_MISSING, "let gpuprobe use capget(2)",
				  "cannot read them: %s", strerror(-facts->capabilities));
		return;
	}
	for (size_t i = 0; i < CAPABILITY_USES; i++) {
		const struct capability_use *use = &capability_uses[i];
		size_t length = strlen(names);

		if (use->perf_only && !perf)
			continue;
		if (capabilities__suffice(facts->effective, use->number)) {
			snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
				 use->name);
		} else {
			say_lacking(use, use->required, list);
			lacking++;
		}
	}
	if (!lacking)
		check_list__ok(list, "capabilities", "all that gpuprobe uses: %s", names);
}

static void judge_namespaces(const struct host_facts *facts, struct check_list *list)
{
	if (facts->no_proc) {
		check_list__lacks(list, "pid-namespace", CHECK_MISSING, "mount -t proc proc /proc",
				  "unknown: there is no /proc");
		return;
	}
	if (facts->user_namespace)
		check_list__lacks(list, "user-namespace", CHECK_MISSING,
				  "run it in the machine's own user namespace: not in a rootless "
				  "container, nor with "
				  "userns-remap",
				  "gpuprobe is in a user namespace of its own, where capabilities "
				  "do not allow BPF");
	else
		check_list__ok(list, "user-namespace", "the machine's own");
	if (facts->pid_namespace)
		check_list__lacks(list, "pid-namespace", CHECK_DEGRADED,
				  "run it in the machine's pid namespace: --pid=host, in "
				  "Kubernetes hostPID: true",
				  "gpuprobe is in a pid namespace of its own: it cannot see "
				  "processes outside");
	else
		check_list__ok(list, "pid-namespace",
			       "the machine's own: every process is visible");
}

static void judge_tracefs(const struct host_facts *facts, enum tracefs_use use,
			  struct check_list *list)
{
	if (use == TRACEFS_UNUSED)
		check_list__ok(list, "tracefs", "not needed with these links");
	else if (use == TRACEFS_USE_UNKNOWN)
		check_list__ok(list, "tracefs",
			       "unknown whether it is needed: see the line on links");
	else if (facts->tracefs == TRACEFS_WRITABLE)
		check_list__ok(list, "tracefs", "mounted, and accepts probes");
	else if (facts->tracefs == TRACEFS_DENIED)
		check_list__lacks(list, "tracefs", CHECK_MISSING,
				  "run it as root, with /sys/kernel/tracing mounted for writing",
				  "cannot write /sys/kernel/tracing/uprobe_events, which probes "
				  "need on this kernel");
	else
		check_list__lacks(list, "tracefs", CHECK_MISSING,
				  "mount -t tracefs tracefs /sys/kernel/tracing",
				  "there is no /sys/kernel/tracing/uprobe_events, which probes "
				  "need on this kernel");
}

static void judge_memlock(const struct host_facts *facts, struct check_list *list)
{
	if (facts->memlock == UNLIMITED)
		check_list__ok(list, "memlock", "unlimited");
	else if (facts->memlock_counts)
		check_list__lacks(list, "memlock", CHECK_DEGRADED, "ulimit -l unlimited",
				  "this kernel limits memory for BPF to %s",
				  quantity__bytes((double)facts->memlock).text);
	else
		check_list__ok(list, "memlock", "%s, which does not limit BPF since Linux 5.11",
			       quantity__bytes((double)facts->memlock).text);
}

static void judge_paranoid(const struct host_facts *facts, enum tracefs_use use,
			   struct check_list *list)
{
	if (!facts->has_paranoid)
		check_list__ok(list, "perf_event_paranoid", "unknown; CAP_PERFMON overrides it");
	else if (use == TRACEFS_USED && facts->paranoid > -1 &&
		 !capabilities__suffice(facts->effective, CAP_PERFMON))
		check_list__lacks(list, "perf_event_paranoid", CHECK_MISSING,
				  "run it as root (sudo), or with CAP_PERFMON",
				  "%ld: tracefs events need CAP_PERFMON", facts->paranoid);
	else
		check_list__ok(list, "perf_event_paranoid", "%ld, which does not restrict %s",
			       facts->paranoid,
			       use == TRACEFS_UNUSED ? "these links" :
						       "processes with CAP_PERFMON");
}

static void judge_ptrace_scope(const struct host_facts *facts, struct check_list *list)
{
	long scope = facts->ptrace_scope;

	if (facts->no_proc)
		return; /* reported with the namespaces */
	if (scope < 0 || scope > YAMA_NO_ATTACH)
		check_list__ok(
			list, "ptrace_scope",
			"no Yama in this kernel: nothing keeps gpuprobe from reading processes");
	else if (scope == YAMA_NO_ATTACH)
		check_list__lacks(list, "ptrace_scope", CHECK_DEGRADED,
				  "remove kernel.yama.ptrace_scope=3 from sysctl's settings and "
				  "reboot: it cannot be lowered",
				  "3: no program may read the memory of others: no Python frames, "
				  "some kernels without names");
	else if (scope > 0 && !capabilities__suffice(facts->effective, CAP_SYS_PTRACE))
		check_list__lacks(list, "ptrace_scope", CHECK_DEGRADED,
				  "run it as root (sudo), or with CAP_SYS_PTRACE",
				  "%ld: without CAP_SYS_PTRACE gpuprobe may read the memory of %s",
				  scope, scope == 1 ? "its own descendants only" : "no process");
	else
		check_list__ok(list, "ptrace_scope", "%ld, which does not restrict gpuprobe",
			       scope);
}

void check_host__judge(const struct host_facts *facts, enum tracefs_use use,
		       struct check_list *list)
{
	judge_capabilities(facts, use == TRACEFS_USED, list);
	judge_namespaces(facts, list);
	judge_tracefs(facts, use, list);
	judge_memlock(facts, list);
	judge_paranoid(facts, use, list);
	judge_ptrace_scope(facts, list);
}
