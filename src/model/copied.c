// SPDX-License-Identifier: BSD-2-Clause
// What a process has copied or set, see copied.h.
#include "model/copied.h"

#include "base/saturate.h"

struct copied process__copied(const struct process *process, enum copy_kind kind)
{
	struct copied copied = {0};

	for (int async = 0; async < 2; async++) {
		const struct copy_totals *copies = &process->copies[kind][async];

		copied.calls += copies->calls + copies->unfollowed_calls;
		saturate__add(&copied.bytes, copies->bytes);
		saturate__add(&copied.bytes, copies->unfollowed_bytes);
		saturate__add(&copied.pageable_bytes, copies->pageable_bytes);
	}
	return copied;
}
