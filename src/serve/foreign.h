/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps pages of other sites from reading the metrics through the browser of a user who can reach
 * them: directly, or by a name of theirs that resolves to this machine for a moment (DNS
 * rebinding). It does not restrict clients that are not browsers, such as Prometheus, by whatever
 * name, or curl.
 */
#ifndef SERVE_FOREIGN_H
#define SERVE_FOREIGN_H

#include "serve/request.h"

/*
 * Returns NULL, or why the request is refused, in words for a person. It refuses
 *
 * - requests that a browser makes on behalf of a page of another site, as Origin or Sec-Fetch-Site
 *   say; following a link is allowed;
 * - requests of a browser by a name that somebody else could have in the DNS: one with a dot in it
 *   that is neither an address, nor this machine's own name, nor below localhost, local or
 *   internal, which nobody can register.
 */
const char *foreign__why(const struct request_sender *sender);

#endif
