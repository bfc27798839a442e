// SPDX-License-Identifier: BSD-2-Clause
// Kernels whose return probes end processes with a seccomp filter; see return_probes.h.
#include "probe/return_probes.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>

bool return_probes__are_doubtful(const char *release)
{
	unsigned int major = 0, minor = 0;

	return sscanf(release, "%u.%u", &major, &minor) == 2 && major == 6 && minor >= 11 &&
	       minor <= 13;
}

int return_probes__judge(const char *release, const struct probe_selftest *trial, struct error *err)
{
	if (trial->filtered != TRIAL_KILLED)
		return 0;
	return error__set(err, -ENOTSUP,
			  "on kernel %s a return probe kills processes with a seccomp filter, as "
			  "in containers: boot "
			  "Linux 6.12.14, 6.13.3, 6.14 or newer, or watch only the start of calls "
			  "(--no-return-probes of gpuprobe and gpuprobe trace)",
			  release);
}

int return_probes__check(enum link_kind kind, struct error *err)
{
	struct probe_selftest trial;
	struct utsname name;
	struct error ignored;

	if (uname(&name) || !return_probes__are_doubtful(name.release) ||
	    probe_selftest__run(kind, &trial, &ignored))
		return 0;
	return return_probes__judge(name.release, &trial, err);
}
