// SPDX-License-Identifier: BSD-2-Clause
// Where and how OTLP is sent: by the option and the variables, as OpenTelemetry specifies them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "export/settings.h"

static void unset(void)
{
	static const char *const names[] = {
		"OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
		"OTEL_EXPORTER_OTLP_HEADERS",
		"OTEL_EXPORTER_OTLP_LOGS_HEADERS",
		"OTEL_EXPORTER_OTLP_TIMEOUT",
		"OTEL_EXPORTER_OTLP_LOGS_TIMEOUT",
		"OTEL_EXPORTER_OTLP_COMPRESSION",
		"OTEL_EXPORTER_OTLP_PROTOCOL",
		"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
		"OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_METRIC_EXPORT_INTERVAL",
		"OTEL_RESOURCE_ATTRIBUTES",
		"OTEL_SERVICE_NAME",
		"OTEL_SDK_DISABLED",
		"OTEL_LOGS_EXPORTER",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unsetenv(names[i]);
}

static int prepare(void **state)
{
	(void)state;
	unset();
	return 0;
}

static struct export_settings read_settings(const char *option)
{
	struct export_settings settings;
	struct error err = {""};
	int ret = export_settings__read(&settings, option, &err);

	if (ret)
		fail_msg("%s", err.text);
	return settings;
}

static void expect_error(const char *option, const char *message)
{
	struct export_settings settings;
	struct error err = {""};

	assert_int_equal(export_settings__read(&settings, option, &err), -EINVAL);
	if (!strstr(err.text, message))
		fail_msg("'%s' is not in '%s'", message, err.text);
	assert_null(strstr(err.text, "s3cr3t"));
	export_settings__clear(&settings);
}

static void nothing_without_an_endpoint(void **state)
{
	struct export_settings settings = read_settings(NULL);

	(void)state;
	assert_false(export_settings__is_on(&settings));
	export_settings__clear(&settings);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://h:1", 1);
	settings = read_settings("none");
	assert_false(export_settings__is_on(&settings));
	export_settings__clear(&settings);
	setenv("OTEL_SDK_DISABLED", "TRUE", 1);
	settings = read_settings("http://h:2");
	assert_false(export_settings__is_on(&settings));
	export_settings__clear(&settings);
}

static void endpoints(void **state)
{
	struct export_settings settings;

	(void)state;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "https://h/base/?key=s3cr3t", 1);
	setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://[::1]:9/own", 1);
	settings = read_settings(NULL);
	assert_string_equal(settings.routes[EXPORT_METRICS].endpoint.url, "http://[::1]:9/own");
	assert_string_equal(settings.routes[EXPORT_METRICS].endpoint.host, "::1");
	assert_string_equal(settings.routes[EXPORT_METRICS].endpoint.authority, "[::1]:9");
	assert_int_equal(settings.routes[EXPORT_METRICS].endpoint.port, 9);
	assert_false(settings.routes[EXPORT_METRICS].endpoint.tls);
	assert_string_equal(settings.routes[EXPORT_LOGS].endpoint.target,
			    "/base/v1/logs?key=s3cr3t");
	assert_string_equal(settings.routes[EXPORT_LOGS].endpoint.shown,
			    "https://h:443/base/v1/logs");
	assert_true(settings.routes[EXPORT_LOGS].endpoint.tls);
	export_settings__clear(&settings);
	settings = read_settings("http://other");
	assert_string_equal(settings.routes[EXPORT_METRICS].endpoint.url,
			    "http://other:80/v1/metrics");
	assert_string_equal(settings.routes[EXPORT_LOGS].endpoint.url, "http://other:80/v1/logs");
	export_settings__clear(&settings);
	setenv("OTEL_LOGS_EXPORTER", "none", 1);
	settings = read_settings("http://other");
	assert_true(settings.routes[EXPORT_METRICS].on);
	assert_false(settings.routes[EXPORT_LOGS].on);
	export_settings__clear(&settings);
	expect_error("h:4318", "not a URL");
	expect_error("http://u:s3cr3t@h", "a URL with a user");
	expect_error("http://", "host");
}

static void how_to_send(void **state)
{
	struct export_settings settings = read_settings("http://h");
	const struct export_route *logs = &settings.routes[EXPORT_LOGS];

	(void)state;
	assert_int_equal(logs->timeout_ms, 10000);
	assert_int_equal(settings.interval_ms, 60000);
	assert_true(logs->gzip);
	export_settings__clear(&settings);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=1, b = x%20y%2C ,,A=2", 1);
	setenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "a=3", 1);
	setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "500", 1);
	setenv("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "700", 1);
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
	setenv("OTEL_METRIC_EXPORT_INTERVAL", "1000", 1);
	settings = read_settings("http://h");
	assert_int_equal(settings.routes[EXPORT_METRICS].timeout_ms, 500);
	assert_int_equal(logs->timeout_ms, 700);
	assert_int_equal(settings.interval_ms, 1000);
	assert_false(logs->gzip);
	assert_string_equal(export_pairs__find(&settings.routes[EXPORT_METRICS].headers, "a"), "1");
	assert_string_equal(export_pairs__find(&logs->headers, "a"), "3");
	assert_string_equal(export_pairs__find(&logs->headers, "b"), "x y,");
	export_settings__clear(&settings);
}

static void faults(void **state)
{
	static const struct {
		const char *name, *value, *message;
	} cases[] = {
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=s3cr3t,s3cr3t", "entry 2"},
		/* A line break would be the begin of another header. */
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=s3cr3t%0d%0ab: c", "entry 1"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a b=s3cr3t", "entry 1"},
		{"OTEL_EXPORTER_OTLP_HEADERS", "a=s3cr3t%00", "entry 1"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "10s", "milliseconds"},
		{"OTEL_EXPORTER_OTLP_TIMEOUT", "-1", "milliseconds"},
		{"OTEL_METRIC_EXPORT_INTERVAL", "1", "milliseconds from 100"},
		{"OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "is not gzip or none"},
		{"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/json", "http/protobuf only"},
		{"OTEL_EXPORTER_OTLP_CERTIFICATE", "/", "cannot read"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unset();
		setenv(cases[i].name, cases[i].value, 1);
		expect_error("http://h", cases[i].message);
	}
}

static void who_sends(void **state)
{
	struct export_settings settings;

	(void)state;
	setenv("OTEL_RESOURCE_ATTRIBUTES", "service.name=x,host.name=me,k8s.cluster.name=a%3Db", 1);
	settings = read_settings("http://h");
	assert_string_equal(export_pairs__find(&settings.resource, "service.name"), "x");
	assert_string_equal(export_pairs__find(&settings.resource, "k8s.cluster.name"), "a=b");
	assert_string_equal(settings.instance, "me");
	export_settings__clear(&settings);
	setenv("OTEL_SERVICE_NAME", "gpus", 1);
	setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id=7", 1);
	settings = read_settings("http://h");
	assert_string_equal(export_pairs__find(&settings.resource, "service.name"), "gpus");
	assert_string_equal(settings.instance, "7");
	/* Each resource has its own. */
	assert_null(export_pairs__find(&settings.resource, "service.instance.id"));
	export_settings__clear(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_without_an_endpoint, prepare),
		cmocka_unit_test_setup(endpoints, prepare),
		cmocka_unit_test_setup(how_to_send, prepare),
		cmocka_unit_test_setup(faults, prepare),
		cmocka_unit_test_setup(who_sends, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
