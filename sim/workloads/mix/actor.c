// SPDX-License-Identifier: BSD-2-Clause
/*
 * One action after the other, of all families mixed.
 */
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
		if (slot->library)	/* is of no context */
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

void actor__act(struct actor *actor)
{
	static const struct {
		uint32_t below;
		void (*act)(struct actor *actor);
	} acts[] = {
		{ 30, memory__act }, { 52, copy__act }, { 58, set__act }, { 72, launch__act },
		{ 77, wait__act }, { 81, event__act }, { 84, stream__act }, { 88, graph__act },
		{ 91, module__act }, { 94, device__act }, { 95, virtual__act }, { 96, ipc__act },
		{ 97, pool__act }, { 98, context__act }, { 100, memory__act },
	};
	uint32_t what = actor__below(actor, 100);
	uint32_t i = 0;

	actor__forget_gone(actor);
	if (actor->here.device < 0 && !actor__chance(actor, 8)) {
		device__act(actor);
		return;
	}
	while (acts[i].below <= what)
		i++;
	acts[i].act(actor);
	if (actor->here.device < 0)
		actor__find_here(actor);
	actor->actions++;
}
