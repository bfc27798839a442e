// SPDX-License-Identifier: BSD-2-Clause
// Looks at threads, see looker.h.
#include "cli/session/looker.h"

#include <stdlib.h>

#include "base/clock.h"
#include "target/memory_reader.h"

struct looker {
	const struct log *log;
	struct memory_reader *memory;
	struct dumper *dumper; /* NULL: not loaded yet, or unavailable */
	bool refused;
};

struct looker *looker__new(const struct log *log)
{
	struct looker *looker = calloc(1, sizeof(*looker));

	if (looker)
		looker->log = log;
	return looker;
}

void looker__free(struct looker *looker)
{
	if (!looker)
		return;
	dumper__free(looker->dumper);
	memory_reader__free(looker->memory);
	free(looker);
}

static bool load(struct looker *looker)
{
	struct error err = {0};

	if (looker->dumper || looker->refused)
		return looker->dumper;
	looker->memory = memory_reader__new(looker->log);
	looker->refused =
		!looker->memory || dumper__new(looker->memory, looker->log, &looker->dumper, &err);
	if (looker->refused)
		log__info(looker->log, "cannot look at what threads are doing: %s", err.text);
	return looker->dumper;
}

struct dump *looker__look(struct looker *looker, const pid_t *pids, size_t count)
{
	const struct dump_request request = {
		.pids = pids,
		.count = count,
		.since_ns = clock__boot_ns(),
		.threads_alone = true,
	};
	struct dump *dump = NULL;

	if (!looker || !count || !load(looker) || dumper__take(looker->dumper, &request, &dump))
		return NULL;
	return dump;
}
