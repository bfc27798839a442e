// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the JSON report share, see json_parts.h.
#include "output/json_parts.h"

#include <inttypes.h>

void json_parts__key_address(struct json *j, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, address);
	json__key_string(j, key, text);
}

void json_parts__key_device(struct json *j, uint8_t device)
{
	json__key(j, "device");
	if (device == DEVICE_UNKNOWN)
		json__null(j);
	else
		json__u64(j, device);
}
