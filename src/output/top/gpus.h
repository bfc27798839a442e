/* SPDX-License-Identifier: BSD-2-Clause */
/* The lines of `gpuprobe top` about the machine's GPUs, as NVML reports them. */
#ifndef OUTPUT_TOP_GPUS_H
#define OUTPUT_TOP_GPUS_H

#include <stdbool.h>

#include "base/quantity.h"
#include "model/model.h"
#include "output/top/list.h"
#include "output/top/page.h"

/*
 * Adds a line a GPU, which names a process on it that is not in `list`, or one for all (`folded`).
 * 0 or -ENOMEM.
 */
int top_gpus__add(struct top_page *page, const struct model *model, const struct top_list *list,
		  bool folded, enum quantity_form form);

#endif
