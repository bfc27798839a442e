// SPDX-License-Identifier: BSD-2-Clause
// Reads, judges and gives up capabilities; see capabilities.h.
#include "privilege/capabilities.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>

const struct capability_use capability_uses[CAPABILITY_USES] = {
	{CAP_BPF, "CAP_BPF", "loads BPF programs and creates their maps", "nothing can be watched",
	 true, false},
	{CAP_PERFMON, "CAP_PERFMON", "attaches probes and lets BPF programs read memory",
	 "nothing can be watched", true, false},
	{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
	 "reads mappings, files and memory of other users' processes",
	 "in other users' processes, and those with capabilities that gpuprobe lacks, only "
	 "libraries that the loader "
	 "or --libcuda-path names get probes, and stacks have no names",
	 false, false},
	{CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH", "reads files that only their owners may read",
	 "other users' libraries and programs that only their owners may read, or that were "
	 "deleted, get no probes and no names",
	 false, false},
	{CAP_CHECKPOINT_RESTORE, "CAP_CHECKPOINT_RESTORE",
	 "opens mapped files by /proc/PID/map_files",
	 "libraries that were deleted or replaced while in use get no probes", false, false},
	{CAP_SYS_ADMIN, "CAP_SYS_ADMIN",
	 "attaches probes by tracefs, where the kernel has no uprobe_multi links",
	 "nothing can be watched", true, true},
};

static uint64_t set_of(cap_t caps, cap_flag_t flag)
{
	cap_flag_value_t value;
	uint64_t set = 0;

	for (int cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++)
		if (!cap_get_flag(caps, cap, flag, &value) && value == CAP_SET)
			set |= UINT64_C(1) << cap;
	return set;
}

int capabilities__read(struct capabilities *capabilities, struct error *err)
{
	cap_t caps = cap_get_proc();

	memset(capabilities, 0, sizeof(*capabilities));
	if (!caps)
		return error__set(err, -errno, "cannot read the capabilities of this process: %s",
				  strerror(errno));
	capabilities->effective = set_of(caps, CAP_EFFECTIVE);
	capabilities->permitted = set_of(caps, CAP_PERMITTED);
	capabilities->inheritable = set_of(caps, CAP_INHERITABLE);
	cap_free(caps);
	for (int cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++) {
		if (cap_get_bound(cap) == 1)
			capabilities->bounding |= UINT64_C(1) << cap;
		if (cap_get_ambient(cap) == 1)
			capabilities->ambient |= UINT64_C(1) << cap;
	}
	return 0;
}

uint64_t capabilities__effective(void)
{
	cap_t caps = cap_get_proc();
	uint64_t set = caps ? set_of(caps, CAP_EFFECTIVE) : 0;

	cap_free(caps);
	return set;
}

bool capabilities__suffice(uint64_t effective, int number)
{
	uint64_t wanted = UINT64_C(1) << number;

	if (number == CAP_BPF || number == CAP_PERFMON || number == CAP_CHECKPOINT_RESTORE)
		wanted |= UINT64_C(1) << CAP_SYS_ADMIN;
	return effective & wanted;
}

char *capabilities__lacking(uint64_t effective, bool perf, char *text, size_t size)
{
	size_t length = 0;

	text[0] = '\0';
	for (size_t i = 0; i < CAPABILITY_USES; i++) {
		const struct capability_use *use = &capability_uses[i];

		if (capabilities__suffice(effective, use->number) || (use->perf_only && !perf) ||
		    length >= size)
			continue;
		length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "",
					   use->name);
	}
	return text;
}

int capabilities__require(uint64_t effective, struct error *err)
{
	char names[128];
	bool enough = true;

	for (size_t i = 0; i < CAPABILITY_USES; i++)
		if (capability_uses[i].required && !capability_uses[i].perf_only)
			enough &= capabilities__suffice(effective, capability_uses[i].number);
	if (enough)
		return 0;
	capabilities__lacking(effective, false, names, sizeof(names));
	return capabilities__refused(names, err);
}

int capabilities__refused(const char *lacking, struct error *err)
{
	if (*lacking)
		return error__set(err, -EPERM,
				  "no permission to load BPF programs, without %s: run as root "
				  "(sudo), or grant what is missing",
				  lacking);
	return error__set(
		err, -EPERM,
		"no permission to load BPF programs: run as root (sudo), or with CAP_BPF, "
		"CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH and "
		"CAP_CHECKPOINT_RESTORE");
}

/* The bounding set goes first: changing it needs CAP_SETPCAP, which is given up with the rest. */
static int drop_bounding(uint64_t kept, uint64_t effective)
{
	if (!(effective & UINT64_C(1) << CAP_SETPCAP))
		return 0; /* a normal user: no_new_privs has made the set meaningless */
	for (int cap = 0; cap < 64 && CAP_IS_SUPPORTED(cap); cap++)
		if (!(kept & UINT64_C(1) << cap) && cap_drop_bound(cap))
			return -errno;
	return 0;
}

static int set_process(uint64_t kept)
{
	cap_t caps = cap_init();
	int ret = 0;

	if (!caps)
		return -errno;
	for (int cap = 0; cap < 64 && !ret; cap++) {
		cap_value_t value = cap;

		if (!(kept & UINT64_C(1) << cap))
			continue;
		if (cap_set_flag(caps, CAP_PERMITTED, 1, &value, CAP_SET) ||
		    cap_set_flag(caps, CAP_EFFECTIVE, 1, &value, CAP_SET))
			ret = -errno;
	}
	if (!ret && cap_set_proc(caps))
		ret = -errno;
	cap_free(caps);
	return ret;
}

int capabilities__keep_needed(bool perf, struct error *err)
{
	struct capabilities now;
	uint64_t kept = 0;
	int ret = capabilities__read(&now, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < CAPABILITY_USES; i++)
		if (perf || !capability_uses[i].perf_only)
			kept |= now.permitted & UINT64_C(1) << capability_uses[i].number;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = -errno;
	if (!ret)
		ret = drop_bounding(kept, now.effective);
	if (!ret && cap_reset_ambient())
		ret = -errno;
	if (!ret)
		ret = set_process(kept);
	return ret ? error__set(err, ret, "cannot give up capabilities: %s", strerror(-ret)) : 0;
}

int capabilities__give_up_all(void)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || cap_reset_ambient())
		return -errno;
	return set_process(0);
}
