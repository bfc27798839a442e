// SPDX-License-Identifier: BSD-2-Clause
// What became of data for OTLP, in JSON, see parts.h.
#include "output/json/parts.h"

#include "export/counts.h"
#include "export/settings.h"

static void write_lost(struct json *j, const struct export_counts *counts)
{
	json__key(j, "lost");
	json__object_begin(j);
	for (int loss = 0; loss < EXPORT_LOSSES; loss++)
		json__key_u64(j, export_loss__word((enum export_loss)loss), counts->lost[loss]);
	json__object_end(j);
}

void json_exports__write(struct json *j, const struct export_counts *exports)
{
	json__key(j, "otlp");
	json__object_begin(j);
	for (int signal = 0; signal < EXPORT_SIGNALS; signal++) {
		json__key(j, export_signal__word((enum export_signal)signal));
		json__object_begin(j);
		json__key_u64(j, "delivered", exports[signal].items);
		json__key_u64(j, "queued", exports[signal].queued_items);
		write_lost(j, &exports[signal]);
		json__object_end(j);
	}
	json__object_end(j);
}
