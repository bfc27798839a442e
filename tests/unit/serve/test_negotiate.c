// SPDX-License-Identifier: BSD-2-Clause
// Which format and encoding a client gets by its Accept headers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "serve/negotiate.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
#define OM "application/openmetrics-text"

static const char prometheus[] = "text/plain; version=0.0.4; charset=utf-8";
static const char openmetrics[] = OM "; version=1.0.0; charset=utf-8";
static const char openmetrics_0[] = OM "; version=0.0.1; charset=utf-8";

static const struct {
	const char *accept;
	const char *content_type;
} forms[] = {
	{NULL, prometheus},
	{"", prometheus},
	{"*/*", prometheus},
	{"text/plain", prometheus},
	{"text/*", prometheus},
	{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", prometheus},
	{"application/json", prometheus},
	/* Prometheus 3 and 2 */
	{OM ";version=1.0.0;escaping=allow-utf-8;q=0.5," OM ";version=0.0.1;q=0.4,text/plain;"
	    "version=1.0.0;escaping=allow-utf-8;q=0.3,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
	 openmetrics},
	{OM "; version=0.0.1,text/plain;version=0.0.4;q=0.5,*/*;q=0.1", openmetrics_0},
	{"text/plain;version=0.0.4;q=0.5,*/*;q=0.1", prometheus},
	/* a Prometheus configured to prefer the old text format */
	{"text/plain;version=0.0.4;q=0.6," OM ";version=1.0.0;q=0.5,*/*;q=0.1", prometheus},
	{OM, openmetrics},
	{OM ";q=1.0", openmetrics},
	{"APPLICATION/OpenMetrics-Text; Version=1.0.0", openmetrics},
	{OM "; version=\"1.0.0\"", openmetrics},
	{OM " ; charset=utf-8 ; version=1.0.0", openmetrics},
	/* versions that this server does not have */
	{OM ";version=2.0.0", prometheus},
	{OM ";version=2.0.0, " OM ";version=1.0.0;q=0.1", openmetrics},
	{OM ";version=1.0.0;q=0.1," OM ";version=0.0.1;q=0.9", openmetrics_0},
	{OM ";version=1.0.0;q=0.9," OM ";version=0.0.1;q=0.9", openmetrics},
	/* qualities */
	{OM ";q=0", prometheus},
	{OM ";q=0.000,*/*", prometheus},
	{OM ";q=0.001,*/*;q=0", openmetrics},
	{OM ",text/plain", openmetrics},
	{"text/plain," OM, openmetrics},
	{OM ";q=0.5,text/plain", prometheus},
	{OM ";q=0.5,*/*", prometheus},
	{OM ";q=0.5,*/*;q=0.4", openmetrics},
	{OM ";q=0.5,text/*;q=0.6,*/*;q=0.1", prometheus},
	/* the most specific range counts: plain text has quality 0.1, or 0 */
	{OM ";q=0.5,*/*;q=0.9,text/plain;q=0.1", openmetrics},
	{OM ";q=0.5,text/plain;q=0.9,text/plain;version=0.0.4;q=0.1", openmetrics},
	{OM ";q=0.5,text/plain;version=1.0.0;q=0.9", openmetrics},
	{"text/plain;q=0," OM ";q=0.1", openmetrics},
	/* malformed: ignored */
	{OM ";q=2", prometheus},
	{OM ";q=1.5", prometheus},
	{OM ";q=-1", prometheus},
	{OM ";q=", prometheus},
	{OM ";q=0.1234", prometheus},
	{OM ";q=abc", prometheus},
	{OM ";q=0.x," OM ";q=0.2", openmetrics},
	{",,, ;;=,;q=1," OM ";;;", openmetrics},
	{OM ";version", openmetrics},
	{OM "x", prometheus},
	{"x" OM, prometheus},
	{"application/*", prometheus},
	/* separators inside quotes */
	{"text/plain;note=\"a," OM ",b\"", prometheus},
	{"text/plain;q=0.1;note=\"x;q=1,\\\"\"," OM ";q=0.5", openmetrics},
	{OM ";note=\"never closed, text/plain", openmetrics},
	{OM ";note=\"\\", openmetrics},
};

static void chooses_the_form(void **state)
{
	const char *content_type;
	enum exposition form;
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(forms); i++) {
		form = negotiate__exposition(forms[i].accept, &content_type);
		if (strcmp(content_type, forms[i].content_type) != 0)
			fail_msg("Accept '%s' gets %s",
				 forms[i].accept ? forms[i].accept : "(none)", content_type);
		assert_int_equal(form, forms[i].content_type == prometheus ?
					       EXPOSITION_PROMETHEUS :
					       EXPOSITION_OPENMETRICS);
	}
}

static const struct {
	const char *accept_encoding;
	bool gzip;
} encodings[] = {
	{NULL, false},
	{"", false},
	{"identity", false},
	{"gzip", true},
	{"GZip", true},
	{"x-gzip", true},
	{"gzip, deflate, br, zstd", true},
	{"deflate,gzip;q=1.0,*;q=0.5", true},
	{"br", false},
	{"gzip;q=0", false},
	{"gzip; q=0.0, identity", false},
	{"gzip;q=0.001", true},
	{"gzip;q=0,*", false},
	{"*", true},
	{"*;q=0", false},
	{"identity;q=1,gzip;q=0.5", false},
	{"identity;q=0.5,gzip;q=1.0", true},
	{"identity;q=0,gzip;q=0.1", true},
	{"gzip;q=bad", false},
	{"gzipped", false},
	{"not-gzip", false},
};

static void chooses_the_encoding(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(encodings); i++) {
		if (negotiate__gzip(encodings[i].accept_encoding) != encodings[i].gzip)
			fail_msg("Accept-Encoding '%s' is misread",
				 encodings[i].accept_encoding ? encodings[i].accept_encoding :
								"(none)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chooses_the_form),
		cmocka_unit_test(chooses_the_encoding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
