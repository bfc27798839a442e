/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel names in text for people: labels (symbol/kernel_label.h), or whole names if wanted. */
#ifndef OUTPUT_KERNEL_TEXT_H
#define OUTPUT_KERNEL_TEXT_H

#include <stdbool.h>

#include "model/model.h"

#define KERNEL_TEXT_SIZE 32 /* room for what replaces a name that is unknown */

/*
 * Returns the kernel's name, raw; if it is unknown, its handle as text in `room`. The name belongs
 * to the kernel.
 */
const char *kernel_text__name(const struct kernel *kernel, bool full_names,
			      char room[KERNEL_TEXT_SIZE]);

/* The same for a call site that launches; NULL if the name is unknown. */
const char *kernel_text__name_at(const struct call_site *site, bool full_names);

#endif
