/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Goes through the readings of a recording for the screen of `gpuprobe top -i`, and keeps what is
 * learnt over time (findings, rates) as it was at the reading that is shown.
 */
#ifndef CLI_COMMANDS_TOP_PLAYER_H
#define CLI_COMMANDS_TOP_PLAYER_H

#include "cli/commands/top_watch.h"
#include "cli/session/replay.h"
#include "model/model.h"
#include "output/top/view.h"

struct top_player;

/*
 * `replay` is at its first reading, and `watch` has its findings and rates, which the player makes
 * anew where it goes back; both must outlive it. `interval`: seconds from one reading to the next
 * that is shown; 0: each one. NULL if out of memory.
 */
struct top_player *top_player__new(struct replay *replay, struct top_watch *watch, double interval);
void top_player__free(struct top_player *player); /* NULL ok */

/*
 * Reads the recording once and shows its first reading. Warns of what is missing. Returns 0 or a
 * negative errno with a message.
 */
int top_player__begin(struct top_player *player, struct error *err);

/* The model of the reading that is shown. */
struct model *top_player__model(const struct top_player *player);

/* Shows TOP_FIRST_READING to TOP_LAST_READING. Returns 0 or a negative errno with a message. */
int top_player__move(struct top_player *player, enum top_action move, struct error *err);

bool top_player__is_last(const struct top_player *player);

/* Seconds from the reading before to the one that is shown. */
double top_player__interval(const struct top_player *player);

/*
 * "reading 12 of 60, 11.0 s": which one it is, and how long after attach. If it cannot be read, the
 * time is that of the one that is shown instead.
 */
void top_player__describe(const struct top_player *player, char *text, size_t size);

#endif
