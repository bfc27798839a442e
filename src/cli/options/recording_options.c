// SPDX-License-Identifier: BSD-2-Clause
// The options of commands that read a recording, see recording_options.h.
#include "cli/options/recording_options.h"

#include <errno.h>
#include <string.h>

#include "cli/options/arguments.h"
#include "cli/options/targets.h"
#include "privilege/file_rights.h"

/* A number without a unit is in seconds. Only --from may be 0: for --to, 0 stands for the end. */
int recording_choice__take_moment(const struct option_row *row, void *field, const char *text,
				  struct error *err)
{
	uint64_t *ns = field;
	bool right = arguments__in_unit(text, "", 1e9, ns) ||
		     arguments__in_unit(text, "s", 1e9, ns) ||
		     arguments__in_unit(text, "m", 60e9, ns) ||
		     arguments__in_unit(text, "h", 3600e9, ns) || !option__time(row, ns, text, err);

	if (right && (*ns || !strcmp(row->name, "from")))
		return 0;
	return error__set(err, -EINVAL,
			  "--%s '%.100s': give a time counted from the beginning, such as 90s, 5m "
			  "or 1500ms",
			  row->name, text);
}

#define FIELD(member) .offset = offsetof(struct recording_choice, member)

const struct option_row recording_rows[] = {
	{"input", 'i', "FILE", "read a recording of gpuprobe record, do not watch", option__file,
	 FIELD(path)},
	{"from", 0, "TIME",
	 "with -i: only from this time on, counted from the\n"
	 "beginning: 90s, 5m",
	 recording_choice__take_moment, FIELD(from_ns)},
	{"to", 0, "TIME", "with -i: only up to this time", recording_choice__take_moment,
	 FIELD(to_ns)},
	{0},
};

const struct option_row reading_rows[] = {
	{"input", 'i', "FILE", "show a recording, see gpuprobe record", option__file, FIELD(path)},
	{"from", 0, "TIME",
	 "with -i: only what happened since then, counted from\n"
	 "the beginning: 90s, 5m",
	 recording_choice__take_moment, FIELD(from_ns)},
	{"to", 0, "TIME",
	 "with -i: what was known then, counted from the\n"
	 "beginning: 90s, 5m [the end]",
	 recording_choice__take_moment, FIELD(to_ns)},
	{0},
};

const struct option_row moment_rows[] = {
	{"input", 'i', "FILE", "show a recording, see gpuprobe record", option__file, FIELD(path)},
	{"to", 0, "TIME",
	 "with -i: what was known then, counted from the\n"
	 "beginning: 90s, 5m [the end]",
	 recording_choice__take_moment, FIELD(to_ns)},
	{0},
};

int recording_choice__check_targets(const struct recording_choice *choice,
				    const struct targets *targets, double duration,
				    struct error *err)
{
	if (!choice->path)
		return recording_choice__check(choice, err);
	if (targets->command || targets->pid_count || process_filter__is_set(&targets->filter) ||
	    duration > 0)
		return error__set(err, -EINVAL,
				  "-i shows a recording and watches nothing: leave out %s",
				  targets->command   ? "the program" :
				  targets->pid_count ? "--pid" :
				  duration > 0	     ? "--duration" :
						       "the filter of processes");
	return recording_choice__check(choice, err);
}

int recording_choice__check(const struct recording_choice *choice, struct error *err)
{
	if (!choice->path && (choice->from_ns || choice->to_ns))
		return error__set(err, -EINVAL,
				  "--from and --to choose a part of a recording: "
				  "give one with -i FILE");
	if (choice->to_ns && choice->from_ns > choice->to_ns)
		return error__set(err, -EINVAL, "--from is later than --to");
	return 0;
}

int recording_choice__open(const struct recording_choice *choice, enum recording_level level,
			   struct recording **out, struct error *err)
{
	int fd = file_rights__open_to_read(choice->path), ret;

	if (fd < 0)
		return error__set(err, fd, "cannot read %s: %s", choice->path, strerror(-fd));
	ret = recording__open(fd, choice->path, out, err);
	if (ret || level == RECORDING_SUMMARY || recording__header(*out)->level == RECORDING_CALLS)
		return ret;
	recording__free(*out);
	*out = NULL;
	return error__set(err, -EINVAL,
			  "%s has no calls: they are recorded by gpuprobe record --level calls",
			  choice->path);
}
