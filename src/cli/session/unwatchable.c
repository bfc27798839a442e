// SPDX-License-Identifier: BSD-2-Clause
// Reports target processes that cannot be watched, see unwatchable.h.
#include "cli/session/unwatchable.h"

#include "target/proc.h"

/* An ended process is only compared by its pid. */
static bool is_known(const struct unwatchable *unwatchable, pid_t pid, uint64_t start_ns)
{
	for (size_t i = 0; i < unwatchable->count; i++) {
		const struct unwatchable_process *known = &unwatchable->known[i];

		if (known->pid == pid &&
		    (!start_ns || !known->start_ns || known->start_ns == start_ns))
			return true;
	}
	return false;
}

void unwatchable__report(struct unwatchable *unwatchable, pid_t pid,
			 const struct attach_failure *attach_failure, const struct log *log)
{
	struct process_info info;
	uint64_t start_ns;

	if (!*attach_failure->text.text)
		return;
	start_ns = proc__info(pid, &info) ? 0 : info.start_ns;
	if (is_known(unwatchable, pid, start_ns))
		return;
	if (unwatchable->count < UNWATCHABLE_KNOWN)
		unwatchable->known[unwatchable->count++] =
			(struct unwatchable_process){pid, start_ns};
	else
		unwatchable->more = true;
	if (unwatchable->count <= unwatchable->named && !unwatchable->more)
		log__warn(log, "%s", attach_failure->text.text);
	else
		log__info(log, "%s", attach_failure->text.text);
}

void unwatchable__report_rest(const struct unwatchable *unwatchable, const struct log *log)
{
	size_t rest = unwatchable->count > unwatchable->named ?
			      unwatchable->count - unwatchable->named :
			      0;

	/*
	 * Adds at least one for those that did not fit; one process may have been met several
	 * times.
	 */
	if (unwatchable->more)
		log__warn(log,
			  "at least %zu more processes could not be watched: --verbose names them",
			  rest + 1);
	else if (rest)
		log__warn(log, "%zu more process%s could not be watched: --verbose names %s", rest,
			  rest == 1 ? "" : "es", rest == 1 ? "it" : "them");
}
