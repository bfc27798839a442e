// SPDX-License-Identifier: BSD-2-Clause
// Where a rank was at several looks, see places.h.
#include "nccl/places.h"

#include <string.h>

#include "nccl/private.h"

/* Length of the innermost function's name in "sample (data.py:301) < main (train.py:60)". */
static size_t function_length(const char *where)
{
	size_t length = strcspn(where, " ");

	return length < NCCL_WHERE_SIZE ? length : NCCL_WHERE_SIZE - 1;
}

static bool is_same(const char *one, const char *other)
{
	size_t length = function_length(one);

	return length == function_length(other) && !memcmp(one, other, length);
}

static struct nccl_place *find(struct nccl_places *places, const char *where)
{
	for (size_t i = 0; i < places->count; i++)
		if (is_same(places->items[i].where, where))
			return &places->items[i];
	return NULL;
}

static struct nccl_place *make(struct nccl_places *places)
{
	struct nccl_place *rarest = &places->items[0];

	if (places->count < NCCL_PLACES)
		return &places->items[places->count++];
	for (size_t i = 1; i < places->count; i++)
		if (places->items[i].seen < rarest->seen)
			rarest = &places->items[i];
	rarest->seen = 0;
	return rarest;
}

static const struct nccl_place *most_seen(const struct nccl_places *places)
{
	const struct nccl_place *most = &places->items[0];

	for (size_t i = 1; i < places->count; i++)
		if (places->items[i].seen > most->seen)
			most = &places->items[i];
	return most;
}

const struct nccl_place *nccl_places__add(struct nccl_places *places, enum nccl_activity activity,
					  const char *where, const char *waits)
{
	struct nccl_place *place = find(places, where ? where : "");

	if (!place)
		place = make(places);
	place->activity = activity;
	nccl_text__copy(place->where, sizeof(place->where), where);
	nccl_text__copy(place->waits, sizeof(place->waits), waits);
	place->seen++;
	places->looks++;
	return most_seen(places);
}
