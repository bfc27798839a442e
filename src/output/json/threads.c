// SPDX-License-Identifier: BSD-2-Clause
// The threads of a profile in JSON, see profile.h.
#include "output/json/profile.h"
#include "output/enum_names.h"

static void write_times(struct json *j, const struct time_totals times[TIME_CLASSES])
{
	json__key(j, "time");
	json__object_begin(j);
	for (int i = 0; i < TIME_CLASSES; i++)
		json_profile__key_totals(j, enum_names__time_class(i), &times[i]);
	json__object_end(j);
}

static void write_time(struct json *j, const struct process *p, const struct profile_time *time)
{
	json__key_u64(j, "wall_ns", time->wall_ns);
	json__key_u64(j, "inside_ns", time->inside_ns);
	json__key_u64(j, "outside_ns", time->outside_ns);
	if (profile__is_estimated(p))
		json__key_bool(j, "estimated", true);
	write_times(j, time->time);
}

static void write_implicit(struct json *j, const char *key,
			   const struct time_totals waits[IMPLICIT_WAITS])
{
	json__key(j, key);
	json__object_begin(j);
	for (int i = 0; i < IMPLICIT_WAITS; i++)
		json_profile__key_totals(j, enum_names__implicit_wait(i), &waits[i]);
	json__object_end(j);
}

static void write_launches(struct json *j, const struct process *p, const struct thread_profile *t)
{
	uint64_t missed = profile__missed_launches(p->profile, t);

	json__key_u64(j, "launches", t->launches + missed);
	if (missed)
		json__key_u64(j, "missed_launches", missed);
	json__key_u64(j, "launched_ns", t->launched_ns);
	json__key_u64(j, "gap_count", t->gap_count);
	json__key_u64(j, "gap_ns", t->gap_ns);
	json__key_u64(j, "gap_p50_ns", profile__percentile(t->gaps, 0.5, UINT64_MAX));
	json__key_u64(j, "gap_p99_ns", profile__percentile(t->gaps, 0.99, UINT64_MAX));
	json_profile__key_totals(j, "chained", &t->chained);
	json__key_u64(j, "chained_gap_ns", t->chained_gap_ns);
	json__key_u64(j, "others", t->others);
}

static void write_waits(struct json *j, const struct thread_profile *t)
{
	json__key_u64(j, "launches_since_wait", t->launches_since_wait);
	json_profile__key_totals(j, "single_waits", &t->single_waits);
	json_profile__key_totals(j, "bare_waits", &t->bare_waits);
	json_profile__key_totals(j, "batch_waits", &t->batch_waits);
	if (t->blind_waits.calls)
		json_profile__key_totals(j, "blind_waits", &t->blind_waits);
	json__key_u64(j, "waited_ns", t->waited_ns);
	write_implicit(j, "implicit", t->implicit);
	write_implicit(j, "pending", t->pending);
}

static void write_idle(struct json *j, const struct thread_profile *t)
{
	json__key_u64(j, "idle_gaps", t->idle_gaps);
	json__key_u64(j, "idle_ns", t->idle_ns);
	json__key_u64(j, "idle_max_ns", t->idle_max_ns);
	json__key_u64(j, "idle_inside_ns", t->idle_inside_ns);
}

static void write_legacy(struct json *j, const struct thread_profile *t)
{
	json__key_u64(j, "legacy_launches", t->legacy_launches);
	json__key_u64(j, "legacy_behind", t->legacy_behind);
	json__key_u64(j, "legacy_crossings", t->legacy_crossings);
	json_profile__key_totals(j, "legacy_waits", &t->legacy_waits);
}

static void write_error(struct json *j, const struct thread_profile *t)
{
	json__key_i64(j, "error_code", t->error_code);
	json__key_u64(j, "error_row", t->error_row);
	json__key_u64(j, "error_ns", t->error_ns);
	json__key_u64(j, "error_launches", t->error_launches);
}

static void write_thread(struct json *j, const struct process *p, const struct thread_profile *t,
			 uint64_t began_ns, uint64_t now_ns)
{
	struct profile_time time;

	profile__thread_time(p->profile, t, began_ns, now_ns, &time);
	json__object_begin(j);
	json__key_i64(j, "tid", t->tid);
	json__key_string(j, "comm", t->comm);
	json__key_u64(j, "start_ns", t->start_ns);
	json__key_u64(j, "first_ns", t->first_ns);
	json__key_u64(j, "latest_ns", t->latest_ns);
	json__key_u64(j, "ended_ns", t->ended_ns);
	write_time(j, p, &time);
	write_launches(j, p, t);
	write_waits(j, t);
	write_idle(j, t);
	write_legacy(j, t);
	write_error(j, t);
	json__object_end(j);
}

void json_threads__write(struct json *j, const struct process *p, uint64_t began_ns,
			 uint64_t now_ns)
{
	const struct profile *profile = p->profile;
	struct time_totals unlisted[TIME_CLASSES];
	struct profile_time all;

	profile__unlisted_time(profile, unlisted);
	profile__sum_time(profile, began_ns, now_ns, &all);
	json__key(j, "all_threads");
	json__object_begin(j);
	json__key_u64(j, "count", all.threads);
	write_time(j, p, &all);
	json__object_end(j);
	json__key(j, "threads");
	json__array_begin(j);
	for (size_t i = 0; i < profile->thread_count; i++)
		write_thread(j, p, &profile->threads[i], began_ns, now_ns);
	json__array_end(j);
	json__key(j, "unlisted_threads");
	json__object_begin(j);
	json__key_u64(j, "count", profile->unlisted_threads);
	json__key_u64(j, "wall_ns", profile->unlisted_wall_ns);
	write_times(j, unlisted);
	json__object_end(j);
}
