// SPDX-License-Identifier: BSD-2-Clause
// The file descriptor limit; see descriptors.h.
#include "base/descriptors.h"

#include <sys/resource.h>

void descriptors__raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
