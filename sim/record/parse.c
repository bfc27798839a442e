// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parses durations and sizes in the CUDA_SIM_ variables. A setting that is not understood ends the
 * process: otherwise a test that wrongly believes that it injected a failure would pass.
 */
#include "record/internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sim_parse__duration(const char *text, double *ns, const char **end)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *behind;
	double value = strtod(text, &behind);

	if (behind == text || !(value >= 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		size_t length = strlen(units[i].unit);

		if (!strncmp(behind, units[i].unit, length)) {
			*ns = value * units[i].ns;
			*end = behind + length;
			return true;
		}
	}
	return false;
}

bool sim_parse__latency(const char *text, struct sim_latency *latency, const char **end)
{
	double ns;

	*latency = (struct sim_latency){ 0 };
	do {
		if (!sim_parse__duration(text, &ns, &text))
			return false;
		if (!strncmp(text, "/B", 2)) {
			latency->byte_ns += ns;
			text += 2;
		} else {
			latency->fixed_ns += ns;
		}
	} while (*text++ == '+');
	*end = text - 1;
	return true;
}

bool sim_parse__size(const char *text, uint64_t *bytes)
{
	static const char suffixes[] = "KMGT";
	char *behind;
	unsigned long long value = strtoull(text, &behind, 10);
	const char *suffix;

	if (behind == text || *text == '-')
		return false;
	*bytes = value;
	if (!*behind)
		return true;
	suffix = strchr(suffixes, *behind);
	if (!suffix || behind[1])
		return false;
	*bytes = value << (10 * (suffix - suffixes + 1));
	return true;
}

const char *sim_parse__next_setting(const char *list, const char *name, char separator)
{
	size_t length = strlen(name);

	while (list && *list) {
		if (!strncmp(list, name, length) && list[length] == separator)
			return list + length + 1;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return NULL;
}

bool sim_parse__is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	while (list && *list) {
		if (!strncmp(list, name, length) && (!list[length] || list[length] == ','))
			return true;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return false;
}

void sim_parse__refuse(const char *variable, const char *text, const char *why)
{
	fprintf(stderr, "simulated CUDA: %s: \"%s\": %s\n", variable, text, why);
	_exit(1);
}
