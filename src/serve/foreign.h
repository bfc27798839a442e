/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps pages of other sites from reading the metrics by the browser of
 * somebody who can reach them: directly, or by a name of theirs that leads to
 * this machine for a moment (DNS rebinding). Who needs no browser to ask is
 * not kept off: neither Prometheus, by whatever name, nor curl.
 */
#ifndef SERVE_FOREIGN_H
#define SERVE_FOREIGN_H

#include "serve/request.h"

/*
 * NULL, or why the request is refused, in words for a person. Refused is what
 *
 * - a browser asks because a page of another site has it do so, which it tells
 *   by Origin or Sec-Fetch-Site; a link that was followed is not that;
 * - a browser asks by a name that somebody else could have in the DNS: one with
 *   a dot in it which is neither an address, nor this machine's own name, nor
 *   below localhost, local or internal, which nobody can register.
 */
const char *foreign__why(const struct request_sender *sender);

#endif
