// SPDX-License-Identifier: BSD-2-Clause
// Members of JSON objects from others, see json_members.h.
#include "nccl/json_members.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE_LIMIT 9.2e18 /* fits 63 bits */

bool json_members__whole(const struct json_value *value, uint64_t *number)
{
	if (!value || value->type != JSON_NUMBER || value->number < 0 ||
	    value->number > WHOLE_LIMIT || value->number != (double)(uint64_t)value->number)
		return false;
	*number = (uint64_t)value->number;
	return true;
}

bool json_members__count(const struct json_value *json, const char *key, uint64_t *number)
{
	return json_members__whole(json_value__member(json, key), number);
}

int32_t json_members__small(const struct json_value *json, const char *key, int32_t limit,
			    int32_t unknown)
{
	uint64_t number;

	return json_members__count(json, key, &number) && number < (uint64_t)limit ?
		       (int32_t)number :
		       unknown;
}

bool json_members__hash(const struct json_value *json, const char *key, uint64_t *hash)
{
	const char *text = json_value__string(json, key);
	size_t length = text ? strlen(text) : 0;

	if (length < 3 || length > 18 || strncmp(text, "0x", 2) ||
	    strspn(text + 2, "0123456789abcdef") != length - 2)
		return false;
	*hash = strtoull(text, NULL, 16);
	return true;
}
