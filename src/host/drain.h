/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes what BPF programs have counted by stacks out of their map, and puts it where its stack says. A stack that has no
 * names yet is waited for.
 */
#ifndef HOST_DRAIN_H
#define HOST_DRAIN_H

#include "host/followed.h"

struct drain;
struct stacks;

/* `stacks` names them, NULL: none are taken. NULL without memory. */
struct drain *drain__new(struct stacks *stacks);
void drain__free(struct drain *drain);

/* Empties the map. `final`: what has no names by now will have none. */
void drain__take(struct drain *drain, struct followed_list *list, bool final);

#endif
