// SPDX-License-Identifier: BSD-2-Clause
// Parses values of command lines, see arguments.h.
#include "cli/options/arguments.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/quantity.h"
#include "base/similar.h"

int arguments__number(const char *name, const char *text, unsigned long min, unsigned long max,
		      unsigned long *value, struct error *err)
{
	char *end;

	errno = 0;
	*value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *value < min || *value > max)
		return error__set(err, -EINVAL, "%s '%.100s': give a whole number from %lu to %lu",
				  name, text, min, max);
	return 0;
}

/* What a unit is in seconds; 0: it is none. */
static double seconds_of(const char *unit)
{
	static const struct {
		const char *word;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcmp(unit, units[i].word))
			return units[i].seconds;
	return 0;
}

int arguments__refuse_seconds(const char *name, const char *text, double min, struct error *err)
{
	return error__set(err, -EINVAL,
			  "%s '%.100s': give seconds from %g to 1000000000, such as 5, 0.5 or 2m",
			  name, text, min);
}

int arguments__seconds(const char *name, const char *text, double min, double *value,
		       struct error *err)
{
	double unit;
	char *end;

	errno = 0;
	*value = strtod(text, &end);
	unit = end == text ? 0 : seconds_of(end);
	*value *= unit;
	if (errno || !(unit > 0) || !isfinite(*value) || *value > 1e9 || *value < 0 ||
	    (*value > 0 && *value < min))
		return arguments__refuse_seconds(name, text, min, err);
	return 0;
}

/* "5" or "5%", from 0.1 to 100. Returns whether it is that; the value is a fraction. */
static bool take_percent(const char *text, double *fraction)
{
	double percent;
	char *end;

	errno = 0;
	percent = strtod(text, &end);
	if (*end == '%' && end != text)
		end++;
	*fraction = percent / 100;
	return !errno && end != text && !*end && percent >= 0.1 && percent <= 100;
}

int arguments__overhead(const char *text, double *fraction, struct error *err)
{
	if (!strcmp(text, "off")) {
		*fraction = 0;
		return 0;
	}
	return take_percent(text, fraction) ?
		       0 :
		       error__set(err, -EINVAL,
				  "--max-overhead '%.100s': give percent from 0.1 to 100, such as "
				  "5, or off",
				  text);
}

int arguments__share(const char *name, const char *text, double *fraction, struct error *err)
{
	if (!take_percent(text, fraction))
		return error__set(err, -EINVAL,
				  "%s '%.100s': give percent from 0.1 to 100, such as 5", name,
				  text);
	if (*fraction >= 1)
		*fraction = 0;
	return 0;
}

int arguments__time(const char *name, const char *text, uint64_t *ns, struct error *err)
{
	static const struct {
		const char *word;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", NS_PER_MS}, {"s", NS_PER_S}};
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (errno || end == text || strcmp(end, units[i].word))
			continue;
		value *= units[i].ns;
		if (!isfinite(value) || value < 1 || value > 1e18)
			break;
		*ns = (uint64_t)llround(value);
		return 0;
	}
	return error__set(err, -EINVAL,
			  "%s '%.100s': give a time from 1ns to 1000000000s with its unit, ns, us, "
			  "ms or s, such as 1ms",
			  name, text);
}

bool arguments__in_unit(const char *text, const char *unit, double unit_ns, uint64_t *ns)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || strcmp(end, unit) || !isfinite(value) || value < 0 ||
	    value * unit_ns > 1e18)
		return false;
	*ns = (uint64_t)llround(value * unit_ns);
	return true;
}

int arguments__window(const char *text, uint64_t *ns, struct error *err)
{
	bool right = arguments__in_unit(text, "m", 60e9, ns) ||
		     !arguments__time("--window", text, ns, err);

	if (!right || *ns < NS_PER_S || *ns > 86400 * NS_PER_S)
		return error__set(err, -EINVAL,
				  "--window '%.100s': give a time from 1s to 1440m, such as 60s",
				  text);
	return 0;
}

static const char *size_text(uint64_t bytes, char text[32])
{
	static const char suffixes[] = {'\0', 'K', 'M', 'G'};
	size_t i = 0;

	for (; bytes && !(bytes % 1024) && i + 1 < sizeof(suffixes); i++)
		bytes /= 1024;
	snprintf(text, 32, "%llu%.1s", (unsigned long long)bytes, &suffixes[i]);
	return text;
}

int arguments__size(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *bytes,
		    struct error *err)
{
	static const char suffixes[] = "KMGkmg";
	char *end, low[32], high[32];
	const char *suffix;
	unsigned int shift = 0;

	errno = 0;
	*bytes = strtoul(text, &end, 10);
	suffix = *end ? strchr(suffixes, *end) : NULL;
	if (suffix) {
		shift = 10 * ((unsigned int)(suffix - suffixes) % 3 + 1);
		end++;
	}
	if (errno || *text < '0' || *text > '9' || *end || *bytes > UINT64_MAX >> shift ||
	    *bytes << shift < min || *bytes << shift > max)
		return error__set(err, -EINVAL,
				  "%s '%.100s': give a size from %s to %s, in bytes or with K, M "
				  "or G, such as 1M",
				  name, text, size_text(min, low), size_text(max, high));
	*bytes <<= shift;
	return 0;
}

int arguments__word(const char *name, const char *text, const char *const *words, size_t count,
		    size_t *which, struct error *err)
{
	char list[256] = "";
	const char *meant;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, words[i])) {
			*which = i;
			return 0;
		}
		if (i)
			strncat(list, i + 1 < count ? ", " : " or ",
				sizeof(list) - strlen(list) - 1);
		strncat(list, words[i], sizeof(list) - strlen(list) - 1);
	}
	meant = similar__find(text, words, count);
	return error__set(err, -EINVAL, "%s '%.100s': choose %s%s%s%s", name, text, list,
			  meant ? "; did you mean " : "", meant ? meant : "", meant ? "?" : "");
}

int arguments__capacity(const char *name, const char *text, unsigned long max, uint32_t *value,
			struct error *err)
{
	unsigned long number;
	int ret = arguments__number(name, text, 1, max, &number, err);

	if (!ret)
		*value = (uint32_t)number;
	return ret;
}

int arguments__once(const char *name, const char **given, const char *text, struct error *err)
{
	const char *first = *given;

	*given = text;
	if (!first || !strcmp(first, text))
		return 0;
	return error__set(err, -EINVAL, "%s %.100s and %s %.100s do not go together: choose one",
			  name, first, name, text);
}

int arguments__file(const char *name, const char **file, const char *text, struct error *err)
{
	if (!*text)
		return error__set(err, -EINVAL, "%s '': give the name of a file", name);
	return arguments__once(name, file, text, err);
}

int arguments__append(const char ***list, size_t *count, const char *text, struct error *err)
{
	if (ARRAY_APPEND(*list, *count, text))
		return error__set(err, -ENOMEM, "out of memory");
	return 0;
}

/*
 * Lists the options whose names begin with a long option's word, "--verbose, --version". Returns
 * their number.
 */
static size_t list_beginning(const char *word, const struct option *options, char *list,
			     size_t size)
{
	size_t length = strcspn(word + 2, "="), count = 0, at = 0;

	list[0] = '\0';
	for (; options->name; options++) {
		if (strncmp(word + 2, options->name, length))
			continue;
		if (at < size)
			at += (size_t)snprintf(list + at, size - at, "%s--%s", count ? ", " : "",
					       options->name);
		count++;
	}
	return count;
}

/* The option that a mistyped one was meant to be, "duration" for "--duratoin=5"; NULL: none. */
static const char *meant_option(const char *word, const struct option *options)
{
	char name[64];
	struct similar similar;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	similar__begin(&similar, name);
	for (; options->name; options++)
		similar__try(&similar, options->name);
	return similar.best;
}

static int unknown_option(const char *word, const struct option *options, const char *program,
			  struct error *err)
{
	bool is_long = word[0] == '-' && word[1] == '-';
	const char *meant = is_long ? meant_option(word, options) : NULL;

	if (meant)
		return error__set(err, -EINVAL,
				  "unknown option '%.100s': did you mean --%s? See %s --help", word,
				  meant, program);
	return error__set(err, -EINVAL, "unknown option '%.100s': see %s --help", word, program);
}

/*
 * Why a command lacks --no-return-probes, which others have; NULL if the word is another option or
 * there is no reason to give.
 */
static const char *why_not_here(const char *word, const char *program)
{
	static const char no_returns[] = "--no-return-probes";
	static const struct {
		const char *program, *why;
	} needs[] = {
		{"gpuprobe stat", "reports how long calls take"},
		{"gpuprobe diagnose", "judges by results and durations of calls"},
		{"gpuprobe memleak", "follows memory by the addresses that allocations return"},
		{"gpuprobe flame", "weighs stacks by results and durations of calls"},
	};
	size_t length = strcspn(word, "=");

	if (length < sizeof("--no-r") - 1 || strncmp(word, no_returns, length))
		return NULL;
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++)
		if (!strcmp(program, needs[i].program))
			return needs[i].why;
	return NULL;
}

int arguments__bad_option(int id, int argc, char **argv, const struct option *options,
			  const char *program, struct error *err)
{
	const char *word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	bool is_long = word[0] == '-' && word[1] == '-';
	const char *why = is_long && id == '?' ? why_not_here(word, program) : NULL;
	char names[128];

	if (id == ':')
		return error__set(err, -EINVAL, "%s needs a value: see %s --help", word, program);
	if (optopt > 0 && optopt < 256 && word[0] == '-' && !is_long)
		return error__set(err, -EINVAL, "unknown option '-%c': see %s --help", optopt,
				  program);
	if (is_long && optopt)
		return error__set(err, -EINVAL, "'%.100s': --%.*s takes no value, see %s --help",
				  word, (int)strcspn(word + 2, "="), word + 2, program);
	if (is_long && list_beginning(word, options, names, sizeof(names)))
		return error__set(err, -EINVAL,
				  "'%.100s' may be more than one option: write it out (%s), see %s "
				  "--help",
				  word, names, program);
	if (why)
		return error__set(err, -EINVAL,
				  "'%.100s': %s %s, which takes return probes: only gpuprobe and "
				  "gpuprobe trace have "
				  "that option",
				  word, program, why);
	return unknown_option(word, options, program, err);
}
