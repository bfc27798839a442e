// SPDX-License-Identifier: BSD-2-Clause
// A library to preload: the kernel release becomes the value of FAKE_RELEASE.
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

int uname(struct utsname *name)
{
	const char *release = getenv("FAKE_RELEASE");
	int ret = (int)syscall(SYS_uname, name);

	if (!ret && release)
		strncpy(name->release, release, sizeof(name->release) - 1);
	return ret;
}
