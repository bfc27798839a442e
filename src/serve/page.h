/* SPDX-License-Identifier: BSD-2-Clause */
/* Chooses the response to a request. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "serve/http.h"
#include "serve/pages.h"
#include "serve/request.h"
#include "serve/response.h"

/*
 * Answers a complete request; `local`: of a client on this machine. Returns 0 or -ENOMEM; the
 * caller clears the response either way.
 */
int page__respond(const struct http_options *options, struct pages *pages,
		  const struct request *request, bool local, struct response *response);

#endif
