// SPDX-License-Identifier: BSD-2-Clause
// Names of kernels in text for people, see kernel_text.h.
#include "output/kernel_text.h"

#include <inttypes.h>
#include <stdio.h>

const char *kernel_text__name(const struct kernel *kernel, bool full_names,
			      char room[KERNEL_TEXT_SIZE])
{
	const char *name = full_names || !kernel->label ? kernel->name : kernel->label;

	if (kernel->is_rest)
		return "other kernels (unknown)";
	if (!name)
		snprintf(room, KERNEL_TEXT_SIZE, "0x%" PRIx64 " (unknown)", kernel->handle);
	return name ? name : room;
}

const char *kernel_text__name_at(const struct call_site *site, bool full_names)
{
	if (full_names && site->kernel)
		return site->kernel;
	return site->kernel_label ? site->kernel_label : site->kernel_short;
}
