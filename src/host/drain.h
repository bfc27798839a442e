/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Takes what BPF programs have counted by stack out of their map and adds it to the location that
 * the stack means. If a stack has no names yet, its counts wait for them.
 */
#ifndef HOST_DRAIN_H
#define HOST_DRAIN_H

#include "host/followed.h"

struct drain;
struct stacks;

/* `stacks` names the stacks; NULL: no stacks are captured. Returns NULL if out of memory. */
struct drain *drain__new(struct stacks *stacks);
void drain__free(struct drain *drain);

/* Empties the map. `final`: stacks that have no names by now will not get any. */
void drain__take(struct drain *drain, struct followed_list *list, bool final);

#endif
