// SPDX-License-Identifier: BSD-2-Clause
// Colours by kind and name, see parts.h.
#include "output/flame/parts.h"

#include <stdio.h>

struct range {
	uint8_t least[3], span[3]; /* red, green, blue */
	const char *word;
};

static const struct range ranges[FLAME_FRAME_KINDS] = {
	[FLAME_NATIVE] = {{210, 115, 60}, {40, 85, 30}, "native"},
	[FLAME_PYTHON] = {{95, 165, 215}, {50, 50, 40}, "Python"},
	[FLAME_CUDA] = {{120, 185, 60}, {40, 45, 40}, "CUDA function"},
	[FLAME_KERNEL] = {{170, 135, 215}, {40, 40, 40}, "kernel"},
	[FLAME_ERROR] = {{225, 85, 95}, {25, 40, 40}, "error"},
	[FLAME_PROCESS] = {{150, 205, 195}, {40, 30, 30}, "process"},
	[FLAME_MARK] = {{195, 195, 195}, {0, 0, 0}, "not known"},
};

/* FNV-1a: the same on every machine. */
static uint32_t hash_of(const char *label)
{
	uint32_t hash = 2166136261u;

	for (; *label; label++)
		hash = (hash ^ (unsigned char)*label) * 16777619u;
	return hash ^ hash >> 16;
}

void flame_color(enum flame_frame_kind kind, const char *label, char text[FLAME_COLOR_SIZE])
{
	const struct range *range = &ranges[kind];
	uint32_t hash = hash_of(label);
	uint8_t color[3];

	for (int i = 0; i < 3; i++)
		color[i] =
			(uint8_t)(range->least[i] + range->span[i] * (hash >> 8 * i & 0xff) / 255);
	snprintf(text, FLAME_COLOR_SIZE, "#%02x%02x%02x", color[0], color[1], color[2]);
}

const char *flame_color__word(enum flame_frame_kind kind)
{
	return ranges[kind].word;
}
