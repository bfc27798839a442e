/* SPDX-License-Identifier: BSD-2-Clause */
/* The report of an allocation that failed for good: at most 25 lines for a person, and JSON. */
#ifndef OUTPUT_OOM_OOM_TEXT_H
#define OUTPUT_OOM_OOM_TEXT_H

#include <stdio.h>

#include "base/json.h"
#include "model/oom.h"

/* `wall` is the time of the failure. All text of watched processes is escaped. */
void oom_text__print(FILE *out, const struct oom *oom, const struct timespec *wall);

/* Fills in the line of code, from the stack. */
void oom_text__name_line(struct oom *oom);

/* Writes the key "oom" with the model's reports so far. */
void oom_json__write(struct json *j, const struct model *model);

#endif
