/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What form of the metrics page a client is sent, by its Accept and
 * Accept-Encoding headers (RFC 9110, sections 12.4 and 12.5).
 */
#ifndef SERVE_NEGOTIATE_H
#define SERVE_NEGOTIATE_H

#include <stdbool.h>

#include "output/metrics/exposition.h"

/*
 * OpenMetrics where the client names application/openmetrics-text of a version
 * that is spoken here (1.0.0, 0.0.1 or none given), with a quality that is not
 * 0 and not below that of plain text; Prometheus text in all other cases, also
 * where nothing matches. `accept` is the header's value, several of them joined
 * by commas, NULL when there is none. `*content_type` is set to the response's
 * Content-Type, a static string; an OpenMetrics client that only speaks 0.0.1
 * reads that version in it.
 */
enum exposition negotiate__exposition(const char *accept, const char **content_type);

/*
 * Whether the response is to be compressed: gzip (or *, where gzip is not
 * named) has a quality that is not 0 and not below that of identity.
 */
bool negotiate__gzip(const char *accept_encoding);

#endif
