/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words for the model's enumerators. All forms of output use them, so that a kind has the same name
 * in reports, JSON and metrics.
 */
#ifndef OUTPUT_ENUM_NAMES_H
#define OUTPUT_ENUM_NAMES_H

#include "gpuprobe/profile.h"
#include "model/model.h"
#include "model/start.h"

const char *enum_names__memory_kind(enum memory_kind kind); /* "device" */
const char *enum_names__copy_kind(enum copy_kind kind);	    /* "H2D" */
/* One TALLY_* flag. */
const char *enum_names__tally_flag(uint16_t flag);

/*
 * The word for a call's kind, which is function_desc.kind, read according to the operation; "-" if
 * the operation has no kinds.
 */
const char *enum_names__kind_of(enum operation operation, uint8_t kind);

const char *enum_names__object_kind(enum object_kind kind);
const char *enum_names__wait_scope(enum wait_scope scope); /* "stream" */
/* "on-cpu", "lock": an activity of a thread, enum host_kind */
const char *enum_names__host_kind(unsigned int kind);
const char *enum_names__site_kind(enum site_kind kind);		/* "allocation" */
const char *enum_names__time_class(enum time_class class);	/* "launch" */
const char *enum_names__start_part(enum start_part part);	/* "before CUDA" */
const char *enum_names__implicit_wait(enum implicit_wait wait); /* "copy" */
const char *enum_names__copy_host(enum copy_host host);		/* "pinned" */
const char *enum_names__layer(enum layer layer);		/* "driver" */
const char *enum_names__rate_family(enum rate_family family);	/* "launch" */
const char *enum_names__rate_families(enum rate_family family); /* "launches" */
const char *enum_names__section(enum section section);		/* "memory" */
const char *enum_names__loss_name(enum loss loss);		/* "ring_full" */
const char *enum_names__loss_text(enum loss loss);		/* a description for people */

#endif
