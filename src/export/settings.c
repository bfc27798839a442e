// SPDX-License-Identifier: BSD-2-Clause
// Where and how OTLP is sent, see settings.h.
#include "export/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privilege/file_rights.h"

#define DEFAULT_INTERVAL_MS 60000
#define LEAST_INTERVAL_MS 100
#define DEFAULT_TIMEOUT_MS 10000
#define DEFAULT_SERVICE "gpuprobe"
#define PEM_MAX (1 << 20)
#define NAME_SIZE 64

static const char *const paths[EXPORT_SIGNALS] = {"v1/metrics", "v1/logs"};
static const char *const signal_words[EXPORT_SIGNALS] = {"METRICS", "LOGS"};

const char *export_signal__word(enum export_signal signal)
{
	return signal == EXPORT_METRICS ? "metrics" : "logs";
}

/*
 * A variable; empty ones count as unset. Not secure_getenv: a gpuprobe with file capabilities, as
 * in the image, is configured by variables too. All that they decide is where the caller's own
 * data goes, and files that they name are opened with the caller's permissions.
 */
static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* OTEL_EXPORTER_OTLP_METRICS_X, or else OTEL_EXPORTER_OTLP_X; `name`: which of them it is. */
static const char *of_signal(enum export_signal signal, const char *what, char name[NAME_SIZE])
{
	const char *value;

	snprintf(name, NAME_SIZE, "OTEL_EXPORTER_OTLP_%s_%s", signal_words[signal], what);
	value = variable(name);
	if (value)
		return value;
	snprintf(name, NAME_SIZE, "OTEL_EXPORTER_OTLP_%s", what);
	return variable(name);
}

static bool is_true(const char *value)
{
	return value && !strcasecmp(value, "true");
}

static int read_ms(const char *name, const char *text, unsigned int least, unsigned int *value,
		   struct error *err)
{
	unsigned long number;
	char *end;

	if (!text)
		return 0;
	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || number < least || number > INT_MAX)
		return error__set(err, -EINVAL,
				  "%s='%.40s' is not a number of milliseconds from %u", name, text,
				  least);
	*value = (unsigned int)number;
	return 0;
}

/* --- files --- */

static int read_file(struct export_pem *pem, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret = 0;
	struct stat file;
	ssize_t length;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &file) || !S_ISREG(file.st_mode))
		ret = -EINVAL;
	else if (file.st_size > PEM_MAX)
		ret = -EFBIG;
	pem->data = ret ? NULL : malloc(PEM_MAX);
	if (pem->data) {
		length = read(fd, pem->data, PEM_MAX);
		if (length < 0)
			ret = -errno;
		pem->length = length > 0 ? (size_t)length : 0;
	} else if (!ret) {
		ret = -ENOMEM;
	}
	close(fd);
	return ret;
}

static int read_pem(enum export_signal signal, const char *what, struct export_pem *pem,
		    struct error *err)
{
	char name[NAME_SIZE];
	const char *path = of_signal(signal, what, name);
	struct file_rights rights;
	int ret;

	if (!path)
		return 0;
	ret = file_rights__take_invokers(&rights);
	if (!ret) {
		ret = read_file(pem, path);
		file_rights__give_back(&rights);
	}
	return ret ? error__set(err, ret, "cannot read %s='%.200s': %s", name, path,
				strerror(-ret)) :
		     0;
}

static void clear_pem(struct export_pem *pem)
{
	if (pem->data)
		explicit_bzero(pem->data, pem->length);
	free(pem->data);
}

/* --- one signal --- */

/* The list OTEL_METRICS_EXPORTER may name other exporters than "otlp", or "none". */
static bool is_wanted(enum export_signal signal)
{
	char name[NAME_SIZE];
	const char *list;

	snprintf(name, sizeof(name), "OTEL_%s_EXPORTER", signal_words[signal]);
	list = variable(name);
	return !list || strstr(list, "otlp");
}

static int read_endpoint(enum export_signal signal, const char *option, struct export_route *route,
			 struct error *err)
{
	char name[NAME_SIZE];
	const char *text = option, *path = paths[signal];
	int ret;

	if (option) {
		snprintf(name, sizeof(name), "--otlp-endpoint");
	} else {
		text = of_signal(signal, "ENDPOINT", name);
		/* A signal's own endpoint is used as it is. */
		if (strcmp(name, "OTEL_EXPORTER_OTLP_ENDPOINT") != 0)
			path = NULL;
	}
	if (!text)
		return 0;
	ret = export_endpoint__parse(&route->endpoint, text, path, err);
	if (ret)
		return error__prefix(err, ret, "%s", name);
	route->on = true;
	return 0;
}

/* gpuprobe speaks one of the three protocols. */
static int check_protocol(enum export_signal signal, struct error *err)
{
	char name[NAME_SIZE];
	const char *protocol = of_signal(signal, "PROTOCOL", name);

	if (!protocol || !strcmp(protocol, "http/protobuf"))
		return 0;
	return error__set(err, -EINVAL,
			  "%s='%.40s', but gpuprobe sends http/protobuf only: set that, and an "
			  "endpoint for it, usually port 4318",
			  name, protocol);
}

static int read_compression(enum export_signal signal, struct export_route *route,
			    struct error *err)
{
	char name[NAME_SIZE];
	const char *word = of_signal(signal, "COMPRESSION", name);

	route->gzip = !word || !strcmp(word, "gzip");
	if (route->gzip || !strcmp(word, "none"))
		return 0;
	return error__set(err, -EINVAL, "%s='%.40s' is not gzip or none", name, word);
}

/* Both lists count; of a header in both the signal's own. */
static int read_headers(enum export_signal signal, struct export_route *route, struct error *err)
{
	char name[NAME_SIZE];
	const char *all = variable("OTEL_EXPORTER_OTLP_HEADERS"), *own;
	int ret = 0;

	if (all)
		ret = export_pairs__parse(&route->headers, all, true, "OTEL_EXPORTER_OTLP_HEADERS",
					  err);
	snprintf(name, sizeof(name), "OTEL_EXPORTER_OTLP_%s_HEADERS", signal_words[signal]);
	own = variable(name);
	if (!ret && own)
		ret = export_pairs__parse(&route->headers, own, true, name, err);
	return ret;
}

static int read_route(enum export_signal signal, const char *option, struct export_route *route,
		      struct error *err)
{
	char name[NAME_SIZE];
	const char *timeout;
	int ret;

	if (!is_wanted(signal))
		return 0;
	ret = read_endpoint(signal, option, route, err);
	if (ret || !route->on)
		return ret;
	ret = check_protocol(signal, err);
	if (!ret)
		ret = read_compression(signal, route, err);
	if (!ret)
		ret = read_headers(signal, route, err);
	route->timeout_ms = DEFAULT_TIMEOUT_MS;
	timeout = of_signal(signal, "TIMEOUT", name);
	if (!ret)
		ret = read_ms(name, timeout, 1, &route->timeout_ms, err);
	if (!ret)
		ret = read_pem(signal, "CERTIFICATE", &route->authorities, err);
	if (!ret)
		ret = read_pem(signal, "CLIENT_CERTIFICATE", &route->certificate, err);
	if (!ret)
		ret = read_pem(signal, "CLIENT_KEY", &route->key, err);
	return ret;
}

/* --- who sends --- */

/* The first line of /etc/machine-id; empty if there is none, as in most containers. */
static void read_machine_id(char id[64])
{
	FILE *in = fopen("/etc/machine-id", "re");

	id[0] = '\0';
	if (!in)
		return;
	if (fgets(id, 64, in))
		id[strcspn(id, "\n")] = '\0';
	fclose(in);
}

static int set_unless_given(struct export_pairs *pairs, const char *name, const char *value)
{
	return export_pairs__find(pairs, name) || !*value ? 0 :
							    export_pairs__set(pairs, name, value);
}

static int name_host(struct export_settings *settings)
{
	char host[HOST_NAME_MAX + 1] = "", id[64];
	const char *own;
	int ret;

	gethostname(host, sizeof(host) - 1);
	read_machine_id(id);
	ret = set_unless_given(&settings->resource, "host.name", host);
	if (!ret)
		ret = set_unless_given(&settings->resource, "host.id", id);
	if (ret)
		return ret;
	own = export_pairs__find(&settings->resource, "service.instance.id");
	if (!own)
		own = export_pairs__find(&settings->resource, "host.name");
	settings->instance = strdup(own ? own : "unknown");
	/* Each resource has an instance of its own. */
	export_pairs__remove(&settings->resource, "service.instance.id");
	return settings->instance ? 0 : -ENOMEM;
}

static int read_resource(struct export_settings *settings, struct error *err)
{
	const char *attributes = variable("OTEL_RESOURCE_ATTRIBUTES");
	const char *service = variable("OTEL_SERVICE_NAME");
	int ret = 0;

	if (attributes)
		ret = export_pairs__parse(&settings->resource, attributes, false,
					  "OTEL_RESOURCE_ATTRIBUTES", err);
	if (ret)
		return ret;
	if (service)
		ret = export_pairs__set(&settings->resource, "service.name", service);
	else
		ret = set_unless_given(&settings->resource, "service.name", DEFAULT_SERVICE);
	if (!ret)
		ret = name_host(settings);
	return ret ? error__set(err, ret, "out of memory") : 0;
}

int export_settings__read(struct export_settings *settings, const char *endpoint, struct error *err)
{
	int ret = 0;

	*settings = (struct export_settings){.interval_ms = DEFAULT_INTERVAL_MS};
	if (is_true(variable("OTEL_SDK_DISABLED")) || (endpoint && !strcmp(endpoint, "none")))
		return 0;
	for (int signal = 0; signal < EXPORT_SIGNALS && !ret; signal++)
		ret = read_route((enum export_signal)signal, endpoint, &settings->routes[signal],
				 err);
	if (ret || !export_settings__is_on(settings))
		return ret;
	ret = read_ms("OTEL_METRIC_EXPORT_INTERVAL", variable("OTEL_METRIC_EXPORT_INTERVAL"),
		      LEAST_INTERVAL_MS, &settings->interval_ms, err);
	return ret ? ret : read_resource(settings, err);
}

bool export_settings__is_on(const struct export_settings *settings)
{
	for (int signal = 0; signal < EXPORT_SIGNALS; signal++)
		if (settings->routes[signal].on)
			return true;
	return false;
}

void export_settings__clear(struct export_settings *settings)
{
	for (int signal = 0; signal < EXPORT_SIGNALS; signal++) {
		struct export_route *route = &settings->routes[signal];

		export_endpoint__clear(&route->endpoint);
		export_pairs__clear(&route->headers);
		clear_pem(&route->authorities);
		clear_pem(&route->certificate);
		clear_pem(&route->key);
	}
	export_pairs__clear(&settings->resource);
	free(settings->instance);
	*settings = (struct export_settings){0};
}
