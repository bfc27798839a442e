// SPDX-License-Identifier: BSD-2-Clause
// Times of lines, see time.h.
#include "output/trace/time.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "output/trace/text.h"

void trace_time__init(struct trace_time *time, const struct trace_output_options *options)
{
	memset(time, 0, sizeof(*time));
	time->form = options->timestamps;
	time->exact = options->format != TRACE_TABLE;
	time->begin_ns = options->begin_ns;
	time->wall_offset_ns = options->wall_offset_ns;
}

bool trace_time__is_text(const struct trace_time *time)
{
	return time->form == TIMESTAMPS_WALL || time->form == TIMESTAMPS_ISO;
}

/* Truncated, not rounded, so that a later line never has an earlier time. */
static char *write_milliseconds(const struct trace_time *time, char *at, uint64_t ns,
				uint64_t zero_ns)
{
	uint64_t distance = ns - zero_ns;

	if (ns < zero_ns) {
		*at++ = '-';
		distance = zero_ns - ns;
	}
	at = trace_text__unsigned(at, distance / NS_PER_MS);
	*at++ = '.';
	if (time->exact)
		return trace_text__digits(at, distance % NS_PER_MS, 6);
	return trace_text__digits(at, distance % NS_PER_MS / 1000, 3);
}

static void describe_second(struct trace_time *time, int64_t second)
{
	char *text = time->seconds[second & 1].text;
	size_t size = sizeof(time->seconds[0].text);
	time_t value = second;
	struct tm parts = {0};

	time->seconds[second & 1].known = true;
	time->seconds[second & 1].second = second;
	if (time->form == TIMESTAMPS_WALL) {
		localtime_r(&value, &parts);
		time->seconds[second & 1].length =
			(uint32_t)strftime(text, size, "%H:%M:%S.", &parts);
	} else {
		gmtime_r(&value, &parts);
		time->seconds[second & 1].length =
			(uint32_t)strftime(text, size, "%Y-%m-%dT%H:%M:%S.", &parts);
	}
}

static char *write_calendar(struct trace_time *time, char *at, uint64_t ns)
{
	int64_t real = (int64_t)(ns + (uint64_t)time->wall_offset_ns),
		rest = real % (int64_t)NS_PER_S;
	int64_t second = real / (int64_t)NS_PER_S - (rest < 0);
	size_t i = second & 1;

	if (rest < 0)
		rest += (int64_t)NS_PER_S;
	if (!time->seconds[i].known || time->seconds[i].second != second)
		describe_second(time, second);
	at = trace_text__copy(at, time->seconds[i].text, time->seconds[i].length);
	if (time->form == TIMESTAMPS_WALL)
		return trace_text__digits(at, (uint64_t)rest / 1000, 6);
	at = trace_text__digits(at, (uint64_t)rest, 9);
	*at++ = 'Z';
	return at;
}

void trace_time__expect(struct trace_time *time, uint64_t ns)
{
	if (!time->previous_ns)
		time->previous_ns = ns;
}

char *trace_time__write(struct trace_time *time, char *at, uint64_t ns)
{
	switch (time->form) {
	case TIMESTAMPS_NS: return trace_text__unsigned(at, ns);
	case TIMESTAMPS_WALL:
	case TIMESTAMPS_ISO: return write_calendar(time, at, ns);
	case TIMESTAMPS_DELTA: return write_milliseconds(time, at, ns, time->previous_ns);
	case TIMESTAMPS_RELATIVE: break;
	}
	return write_milliseconds(time, at, ns, time->begin_ns);
}

void trace_time__advance(struct trace_time *time, uint64_t ns)
{
	time->previous_ns = ns;
}

void trace_time__heading(const struct trace_time *time, const char *name, char *text, size_t size)
{
	const char *unit =
		trace_time__is_text(time) ? "" : (time->form == TIMESTAMPS_NS ? "(ns)" : "(ms)");

	snprintf(text, size, "%s%s", name, unit);
}
