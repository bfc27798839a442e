/* SPDX-License-Identifier: BSD-2-Clause */
/* Members of JSON objects from others, checked: whole numbers and hashes of communicators. */
#ifndef NCCL_JSON_MEMBERS_H
#define NCCL_JSON_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json_reader.h"

/* Whether `value`, which may be NULL, is a whole number from 0 to 2^63. */
bool json_members__whole(const struct json_value *value, uint64_t *number);
/* The same for a member. */
bool json_members__count(const struct json_value *json, const char *key, uint64_t *number);
/* A whole number below `limit`; anything else is `unknown`. */
int32_t json_members__small(const struct json_value *json, const char *key, int32_t limit,
			    int32_t unknown);
/* "0x9f3ac1" */
bool json_members__hash(const struct json_value *json, const char *key, uint64_t *hash);

#endif
