/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where and how OTLP is sent: --otlp-endpoint and the OTEL_* variables, as OpenTelemetry's
 * specification has them (specification/protocol/exporter.md,
 * specification/configuration/sdk-environment-variables.md).
 */
#ifndef EXPORT_SETTINGS_H
#define EXPORT_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "export/endpoint.h"
#include "export/pairs.h"

enum export_signal {
	EXPORT_METRICS = 0,
	EXPORT_LOGS,
	EXPORT_SIGNALS,
};

const char *export_signal__word(enum export_signal signal); /* "metrics" */

/* A PEM file; its content was read with the caller's permissions. */
struct export_pem {
	char *data; /* NULL: none */
	size_t length;
};

/* How one signal is sent. */
struct export_route {
	bool on;
	struct export_endpoint endpoint;
	struct export_pairs headers; /* secrets: never shown */
	unsigned int timeout_ms;     /* of a request */
	bool gzip;
	struct export_pem authorities, certificate, key;
};

struct export_settings {
	struct export_route routes[EXPORT_SIGNALS];
	unsigned int interval_ms;
	struct export_pairs resource; /* service.name, host.name and the user's own */
	char *instance;		      /* service.instance.id */
};

/*
 * Reads the variables. `endpoint`: the option's value, which wins over the variables; NULL: not
 * given; "none": nothing is sent. Reads files and variables, so it must run before privileges are
 * given up. Nothing is on if no endpoint is set. Returns 0, -ENOMEM, or -EINVAL and other negative
 * errnos with the reason, which contains no header; the caller clears the settings in any case.
 */
int export_settings__read(struct export_settings *settings, const char *endpoint,
			  struct error *err);
void export_settings__clear(struct export_settings *settings);

/* Whether anything is sent. */
bool export_settings__is_on(const struct export_settings *settings);

#endif
