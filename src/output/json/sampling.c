// SPDX-License-Identifier: BSD-2-Clause
// Estimated numbers in JSON, see parts.h.
#include "output/json/parts.h"
#include "output/enum_names.h"

static void write_family(struct json *j, const struct sampling *sampling, enum rate_family family)
{
	json__key(j, enum_names__rate_family(family));
	json__object_begin(j);
	json__key_double(j, "share", sampling->share[family]);
	json__key_bool(j, "sampled", sampling->sampled[family]);
	json__object_end(j);
}

void json_sampling__write(struct json *j, const struct sampling *sampling)
{
	if (!sampling->max_overhead)
		return;
	json__key(j, "sampling");
	json__object_begin(j);
	json__key_double(j, "max_overhead", sampling->max_overhead);
	json__key_double(j, "overhead", sampling->overhead);
	json__key(j, "families");
	json__object_begin(j);
	for (enum rate_family family = 0; family < RATE_EXACT; family++)
		write_family(j, sampling, family);
	json__object_end(j);
	json__object_end(j);
}

static void write_calls(struct json *j, const struct family_calls *calls, enum rate_family family)
{
	json__key(j, enum_names__rate_family(family));
	json__object_begin(j);
	json__key_u64(j, "counted", calls->counted);
	json__key_u64(j, "missed", calls->missed);
	json__key_double(j, "share",
			 calls->counted ?
				 (double)calls->counted / (double)(calls->counted + calls->missed) :
				 0);
	json__object_end(j);
}

void json_sampling__write_process(struct json *j, const struct process *p)
{
	bool any = false;

	for (enum rate_family family = 0; family < RATE_EXACT; family++)
		any |= process__is_estimated(p, family);
	if (!any)
		return;
	json__key(j, "sampling");
	json__object_begin(j);
	for (enum rate_family family = 0; family < RATE_EXACT; family++)
		if (process__is_estimated(p, family))
			write_calls(j, &p->family_calls[family], family);
	json__object_end(j);
}

void json_sampling__key_estimated(struct json *j, const struct process *p, enum rate_family family)
{
	if (process__is_estimated(p, family))
		json__key_bool(j, "estimated", true);
}
