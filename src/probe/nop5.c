// SPDX-License-Identifier: BSD-2-Clause
// Kernels on which probes on a five-byte nop end forked children; see nop5.h.
#include "probe/nop5.h"

#include <stdio.h>
#include <sys/utsname.h>

bool nop5__is_harmful_on(const char *release)
{
	unsigned int major = 0, minor = 0;

	return sscanf(release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 18));
}

bool nop5__is_harmful(void)
{
	struct utsname name;

	return uname(&name) || nop5__is_harmful_on(name.release);
}
