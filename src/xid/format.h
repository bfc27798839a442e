/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the tracepoint nvidia:nvidia_dev_xid. Where its fields are is said by the tracepoint's
 * file `format` in tracefs, since other versions of the driver may have them elsewhere.
 */
#ifndef XID_FORMAT_H
#define XID_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/xids.h"

struct xid_format {
	/* of the 32-bit numbers that say where the texts are (__data_loc) */
	uint32_t device, message;
	uint32_t number; /* of the 32-bit error code */
};

/*
 * Finds the fields dev, error_code and msg in the text of the file. Returns 0, or -ENOTSUP with a
 * message if one is missing or of another form.
 */
int xid_format__parse(const char *text, struct xid_format *format, struct error *err);

/* Reads a record of `size` bytes. Returns false if it is not one. */
bool xid_format__read(const struct xid_format *format, const void *record, size_t size,
		      struct xid_report *report);

#endif
