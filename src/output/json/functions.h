/* SPDX-License-Identifier: BSD-2-Clause */
/* The JSON report's plain counts: by function as they were counted, and by device. */
#ifndef OUTPUT_JSON_FUNCTIONS_H
#define OUTPUT_JSON_FUNCTIONS_H

#include "base/json.h"
#include "model/model.h"

/* Keys `functions` and `devices` of the process's object. */
void json_functions__write(struct json *j, unsigned int sections, const struct process *p);

#endif
