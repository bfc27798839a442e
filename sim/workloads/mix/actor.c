// SPDX-License-Identifier: BSD-2-Clause
/* Runs one action after another, of all families mixed. */
#include "mix.h"

#include <string.h>

void actor__find_here(struct actor *actor)
{
	CUdevice device;

	if (cuCtxGetDevice(&device))
		actor->here = (struct home){ .device = -1 };
	else
		actor->here = (struct home){ device, actor->mix->generations[device], 0 };
}

static bool is_gone(const struct actor *actor, const struct home *home)
{
	return home->device >= 0 && !home->context &&
	       home->generation != actor->mix->generations[home->device];
}

void actor__forget_gone(struct actor *actor)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < actor->nr_held; i++) {
		if (!is_gone(actor, &actor->held[i].home))
			actor->held[kept++] = actor->held[i];
		else
			memory__forget(&actor->held[i]);
	}
	actor->nr_held = kept;
	for (int i = 0; i < MIX_STREAMS; i++)
		if (is_gone(actor, &actor->streams[i].home))
			actor->streams[i] = (struct stream_slot){ 0 };
	for (int i = 0; i < MIX_EVENTS; i++)
		if (is_gone(actor, &actor->events[i].home))
			actor->events[i] = (struct event_slot){ 0 };
	for (int i = 0; i < MIX_MODULES; i++) {
		struct module_slot *slot = &actor->modules[i];

		if (!is_gone(actor, &slot->home))
			continue;
		if (slot->library)	/* not in a context */
			slot->home.generation = actor->mix->generations[slot->home.device];
		else
			*slot = (struct module_slot){ 0 };
	}
	if (actor->here.device >= 0)
		actor->here.generation = actor->mix->generations[actor->here.device];
}

void actor__recover(struct actor *actor, bool new_thread)
{
	CUcontext context = NULL;

	death__disarm();
	while (!new_thread && !cuCtxGetCurrent(&context) && context)
		(void)cuCtxPopCurrent(&context);
	actor->here = (struct home){ .device = -1 };
	for (uint32_t i = 0; i < actor->nr_held; i++)
		if (actor->held[i].home.context && actor->held[i].kind != HOLD_POOL)
			actor->held[i--] = actor->held[--actor->nr_held];
	for (int i = 0; i < MIX_STREAMS; i++)
		if (actor->streams[i].home.context)
			actor->streams[i] = (struct stream_slot){ 0 };
	for (int i = 0; i < MIX_EVENTS; i++)
		if (actor->events[i].home.context)
			actor->events[i] = (struct event_slot){ 0 };
	for (int i = 0; i < MIX_MODULES; i++)
		if (actor->modules[i].home.context)
			actor->modules[i] = (struct module_slot){ 0 };
}

/*
 * Modules and contexts are rare: after each one that ends, all kernels of the process are new to
 * gpuprobe until it has read its maps.
 */
static const struct {
	const char *name;
	uint32_t weight;
	void (*act)(struct actor *actor);
} families[] = {
	{ "memory", 320, memory__act }, { "copy", 220, copy__act }, { "set", 60, set__act },
	{ "launch", 140, launch__act }, { "wait", 50, wait__act }, { "event", 40, event__act },
	{ "stream", 30, stream__act }, { "graph", 40, graph__act }, { "module", 1, module__act },
	{ "device", 30, device__act }, { "virtual", 15, virtual__act }, { "ipc", 10, ipc__act },
	{ "pool", 10, pool__act }, { "context", 1, context__act },
};

#define FAMILIES (sizeof(families) / sizeof(*families))

uint32_t actor__families(const char *list)
{
	uint32_t mask = 0;

	if (!list)
		return (1u << FAMILIES) - 1;
	while (*list) {
		size_t length = strcspn(list, ",");
		uint32_t i = 0;

		while (i < FAMILIES && (strlen(families[i].name) != length ||
					strncmp(families[i].name, list, length)))
			i++;
		if (i == FAMILIES)
			give_up("no family of that name: %s", list);
		mask |= 1u << i;
		list += length + (list[length] == ',');
	}
	return mask;
}

static uint32_t pick_family(struct actor *actor)
{
	uint32_t enabled = actor->mix->families, sum = 0, draw;
	uint32_t i;

	for (i = 0; i < FAMILIES; i++)
		sum += enabled >> i & 1 ? families[i].weight : 0;
	draw = actor__below(actor, sum);
	for (i = 0; i < FAMILIES - 1; i++) {
		if (!(enabled >> i & 1))
			continue;
		if (draw < families[i].weight)
			break;
		draw -= families[i].weight;
	}
	return i;
}

void actor__act(struct actor *actor)
{
	actor__forget_gone(actor);
	if (actor->here.device < 0 && !actor__chance(actor, 8)) {
		device__act(actor);
		return;
	}
	families[pick_family(actor)].act(actor);
	if (actor->here.device < 0)
		actor__find_here(actor);
	actor->actions++;
}
