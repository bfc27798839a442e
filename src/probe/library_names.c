// SPDX-License-Identifier: BSD-2-Clause
// Names of libraries for a BPF object, see library_names.h.
#include "probe/library_names.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/api.h"

/* Adds the first eight characters of `name`, of `length`, unless they are there. */
static void add(struct config *config, const char *name, size_t length)
{
	uint64_t word = 0;
	size_t at = 0;

	memcpy(&word, name, length < sizeof(word) ? length : sizeof(word));
	while (at < LIBRARY_NAMES && config->library_names[at] && config->library_names[at] != word)
		at++;
	if (at < LIBRARY_NAMES)
		config->library_names[at] = word;
}

static void add_all(struct config *config, const char *names)
{
	for (const char *name = names; name; name = strchr(name, ',')) {
		name += *name == ',';
		add(config, name, strcspn(name, ","));
	}
}

void library_names__fill(struct config *config, const struct library_names *names)
{
	for (size_t i = 0; i < api_probe_count; i++) {
		const struct api_probe *probe = &api_probes[i];

		if (names->tensors || (names->exhaustion && probe->action == TENSOR_EXHAUSTED))
			add(config, probe->library, strlen(probe->library));
	}
	for (size_t row = 0; names->handles && row < api_function_count; row++)
		add_all(config, api_functions[row].libraries);
}
