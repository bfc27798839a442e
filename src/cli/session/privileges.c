// SPDX-License-Identifier: BSD-2-Clause
// Gives up privileges, see privileges.h.
#include "cli/session/privileges.h"

#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>

#include "privilege/capabilities.h"
#include "privilege/sandbox.h"

static void report_lacking(uint64_t effective, const struct log *log)
{
	for (size_t i = 0; i < CAPABILITY_USES; i++) {
		const struct capability_use *use = &capability_uses[i];

		if (!use->perf_only && !capabilities__suffice(effective, use->number))
			log__warn(log, "without %s: %s", use->name, use->without);
	}
}

int privileges__give_up(enum link_kind links, const struct log *log, struct error *err)
{
	struct capabilities kept = {0};
	int ret = capabilities__keep_needed(links == LINKS_TRACEFS, err);

	if (!ret)
		ret = capabilities__read(&kept, err);
	/* CAP_SYS_ADMIN, given up now, had included them. */
	if (!ret)
		ret = capabilities__require(kept.effective, err);
	if (ret)
		return ret;
	if (kept.effective & UINT64_C(1) << CAP_SYS_ADMIN)
		log__warn(log, "keeping CAP_SYS_ADMIN: probes by tracefs need it");
	report_lacking(kept.effective, log);
	return 0;
}

int privileges__confine(enum link_kind links, bool network, struct error *err)
{
	const char *urls = secure_getenv("DEBUGINFOD_URLS");
	bool asks = urls && *urls;
	const struct sandbox_options options = {
		.tracefs = links == LINKS_TRACEFS,
		.samples = true,
		.network = network || asks,
		.cache = asks,
	};

	return sandbox__enter(&options, err);
}

int privileges__give_up_all(struct error *err)
{
	int ret = capabilities__give_up_all();

	if (ret)
		return error__set(err, ret, "cannot give up capabilities: %s", strerror(-ret));
	return sandbox__enter(&(struct sandbox_options){0}, err);
}
