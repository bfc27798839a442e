/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Chooses the form of the metrics page by the client's Accept and Accept-Encoding headers (RFC
 * 9110, sections 12.4 and 12.5).
 */
#ifndef SERVE_NEGOTIATE_H
#define SERVE_NEGOTIATE_H

#include <stdbool.h>

#include "output/metrics/exposition.h"

/*
 * Returns OpenMetrics if the client names application/openmetrics-text in a supported version
 * (1.0.0, 0.0.1 or none given) with a quality that is not 0 and not below that of plain text.
 * Returns Prometheus text otherwise, even if nothing matches. `accept` is the header's value,
 * several joined by commas; NULL if there is none. Sets `*content_type` to the response's
 * Content-Type, a static string; it names version 0.0.1 for an OpenMetrics client that only speaks
 * that.
 */
enum exposition negotiate__exposition(const char *accept, const char **content_type);

/*
 * Whether to compress the response: gzip (or *, if gzip is not named) has a quality that is not 0
 * and not below that of identity.
 */
bool negotiate__gzip(const char *accept_encoding);

#endif
