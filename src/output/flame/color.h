/* SPDX-License-Identifier: BSD-2-Clause */
/* Colours of a flame graph's frames: a range for each kind, within it always the same one for a name. */
#ifndef OUTPUT_FLAME_COLOR_H
#define OUTPUT_FLAME_COLOR_H

#include "output/flame/graph.h"

#define FLAME_COLOR_SIZE 8

/* "#ffa040"; light enough for dark text. */
void flame_color(enum flame_frame_kind kind, const char *label, char text[FLAME_COLOR_SIZE]);

/* What the legend calls a kind: "native". */
const char *flame_color__word(enum flame_frame_kind kind);

#endif
