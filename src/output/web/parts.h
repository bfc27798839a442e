/* SPDX-License-Identifier: BSD-2-Clause */
/* Parts that the data of a person's page share; all in overview.c. */
#ifndef OUTPUT_WEB_PARTS_H
#define OUTPUT_WEB_PARTS_H

#include "base/json.h"
#include "output/web/web.h"

/* Writes the first keys of each answer. */
void web_parts__write_head(struct json *j, const struct web_view *view);

/* Writes the keys of a process that the overview has: who it is, and what it does now. */
void web_parts__write_process(struct json *j, const struct web_view *view,
			      const struct process *process);

#endif
