// SPDX-License-Identifier: BSD-2-Clause
// Enumerators as words, see words.h.
#include "output/words.h"

const char *words__memory_kind(enum memory_kind kind)
{
	switch (kind) {
	case MEMORY_DEVICE:
		return "device";
	case MEMORY_MANAGED:
		return "managed";
	case MEMORY_POOL:
		return "pool";
	case MEMORY_HOST:
		return "host";
	default:
		return "unknown";
	}
}

const char *words__copy_kind(enum copy_kind kind)
{
	switch (kind) {
	case COPY_H2H:
		return "H2H";
	case COPY_H2D:
		return "H2D";
	case COPY_D2H:
		return "D2H";
	case COPY_D2D:
		return "D2D";
	case COPY_DEFAULT:
		return "default";
	case COPY_P2P:
		return "P2P";
	case COPY_SET:
		return "set";
	default:
		return "unknown";
	}
}

const char *words__wait_scope(enum wait_scope scope)
{
	switch (scope) {
	case WAIT_STREAM:
		return "stream";
	case WAIT_EVENT:
		return "event";
	case WAIT_CONTEXT:
		return "device";
	default:
		return "unknown";
	}
}

const char *words__layer(enum layer layer)
{
	return layer == LAYER_RUNTIME ? "runtime" : "driver";
}

const char *words__section(enum section section)
{
	switch (section) {
	case SECTION_MEMORY:
		return "memory";
	case SECTION_LAUNCH:
		return "launches";
	case SECTION_COPY:
		return "copies";
	default:
		return "unknown";
	}
}

const char *words__loss_name(enum loss loss)
{
	static const char *const names[LOSS_COUNT] = {
#define LOSS_NAME(id, name, text) [LOSS_##id] = (name),
		LOSSES(LOSS_NAME)
#undef LOSS_NAME
	};

	return names[loss];
}

const char *words__loss_text(enum loss loss)
{
	static const char *const texts[LOSS_COUNT] = {
#define LOSS_TEXT(id, name, text) [LOSS_##id] = (text),
		LOSSES(LOSS_TEXT)
#undef LOSS_TEXT
	};

	return texts[loss];
}
