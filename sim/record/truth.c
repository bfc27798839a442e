// SPDX-License-Identifier: BSD-2-Clause
/*
 * The truth file: what really happened, as JSON, for tests to compare with. It is summed from all
 * threads' counters and replaced by a rename, so that a reader never sees half of it. sim/README.md
 * describes the fields.
 */
#include "record/internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const copy_kinds[SIM_COPY_KINDS] = {
	[SIM_H2H] = "H2H", [SIM_H2D] = "H2D", [SIM_D2H] = "D2H", [SIM_D2D] = "D2D",
	[SIM_P2P] = "P2P", [SIM_DEFAULT] = "default", [SIM_SET] = "set",
};
static const char *const modes[SIM_MODES] = { "sync", "async" };
static const char *const callers[SIM_CALLERS] = {
	[SIM_BY_PROGRAM] = "driver", [SIM_BY_RUNTIME] = "driver_from_runtime",
	[SIM_AT_RUNTIME] = "runtime",
};

static const char *file_name(void)
{
	const char *name = getenv("CUDA_SIM_TRUTH");

	return name && *name ? name : NULL;
}

bool sim_truth__wanted(void)
{
	return file_name() != NULL;
}

bool sim_truth__per_process(void)
{
	const char *name = file_name();

	return name && (strstr(name, "%p") || strstr(name, "%u"));
}

static uint64_t unique_number(void)
{
	static uint64_t number;

	if (!number)
		number = sim_now();
	return number;
}

/* Expands %p and %u in the file's name; false if it is too long. */
static bool expand(const char *name, char *path, size_t size)
{
	size_t used = 0;

	for (; *name; name++) {
		int n;

		if (!strncmp(name, "%p", 2)) {
			n = snprintf(path + used, size - used, "%d", (int)getpid());
			name++;
		} else if (!strncmp(name, "%u", 2)) {
			n = snprintf(path + used, size - used, "%" PRIu64, unique_number());
			name++;
		} else {
			n = snprintf(path + used, size - used, "%c", *name);
		}
		if (n < 0 || (size_t)n >= size - used)
			return false;
		used += (size_t)n;
	}
	return true;
}

static void print_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static uint64_t read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* Iterates over the retired counters and those of every thread. */
#define for_each_thread(thread)								\
	for (const struct sim_thread *thread = &sim_state.retired; thread;		\
	     thread = thread == &sim_state.retired ? sim_state.threads : thread->next)

static struct sim_counts fold_function(uint32_t index, bool nested)
{
	struct sim_counts sum = { 0 };

	for_each_thread(thread) {
		const struct sim_counts *counts = &thread->functions[index][nested];

		sum.calls += read_counter(&counts->calls);
		sum.failures += read_counter(&counts->failures);
		sum.not_ready += read_counter(&counts->not_ready);
		sum.bytes += read_counter(&counts->bytes);
		sum.ns += read_counter(&counts->ns);
		sum.nulls += read_counter(&counts->nulls);
		sum.abandoned += sim_recorder__abandoned(thread, index, nested);
	}
	return sum;
}

/* `nested`: -1 for both. */
static void print_errors(FILE *out, uint32_t index, int nested)
{
	const char *comma = "";

	fputs("\"errors\":{", out);
	for (size_t i = 0; i < sim_state.nr_errors; i++) {
		const struct sim_error *error = &sim_state.errors[i];
		uint64_t count = error->count;
		bool seen = false;

		if (error->function != index || (nested >= 0 && error->nested != nested))
			continue;
		for (size_t k = 0; nested < 0 && k < sim_state.nr_errors; k++) {
			const struct sim_error *other = &sim_state.errors[k];

			if (k == i || other->function != index || other->result != error->result)
				continue;
			count += other->count;
			seen |= k < i;
		}
		if (seen)
			continue;
		fprintf(out, "%s\"%d\":%" PRIu64, comma, error->result, count);
		comma = ",";
	}
	fputc('}', out);
}

static void print_counts(FILE *out, const struct sim_counts *counts)
{
	fprintf(out, "\"calls\":%" PRIu64 ",\"failures\":%" PRIu64 ",\"not_ready\":%" PRIu64
		",\"bytes\":%" PRIu64 ",\"ns\":%" PRIu64 ",\"nulls\":%" PRIu64
		",\"abandoned\":%" PRIu64 ",", counts->calls, counts->failures, counts->not_ready,
		counts->bytes, counts->ns, counts->nulls, counts->abandoned);
}

static void print_function(FILE *out, uint32_t index, const struct sim_counts *own,
			   const struct sim_counts *nested)
{
	struct sim_counts sum = {
		own->calls + nested->calls, own->failures + nested->failures,
		own->not_ready + nested->not_ready, own->bytes + nested->bytes,
		own->ns + nested->ns, own->nulls + nested->nulls,
		own->abandoned + nested->abandoned,
	};

	fprintf(out, "  \"%s\": {", sim_state.functions[index]->name);
	print_counts(out, &sum);
	print_errors(out, index, -1);
	if (sim_state.functions[index]->layer == SIM_DRIVER) {
		fprintf(out, ",\"from_runtime\":%" PRIu64, nested->calls);
		fputs(",\"nested\":{", out);
		print_counts(out, nested);
		print_errors(out, index, 1);
		fputc('}', out);
	}
	fputc('}', out);
}

static void print_layer(FILE *out, enum sim_layer layer, const char *name)
{
	const char *comma = "";

	fprintf(out, " \"%s\": {", name);
	for (uint32_t i = 1; i < sim_state.nr_functions; i++) {
		struct sim_counts own = fold_function(i, false);
		struct sim_counts nested = fold_function(i, true);

		if (sim_state.functions[i]->layer != layer ||
		    own.calls + nested.calls + own.abandoned + nested.abandoned == 0)
			continue;
		fprintf(out, "%s\n", comma);
		print_function(out, i, &own, &nested);
		comma = ",";
	}
	fputs("\n },\n", out);
}

/* Whether `name` without the suffix of its per-thread form and its version is `base`. */
static bool is_form_of(const char *name, const char *base)
{
	size_t length = strlen(base);

	return !strncmp(name, base, length) && (!name[length] || name[length] == '_');
}

static struct sim_counts fold_forms(const char *base)
{
	struct sim_counts sum = { 0 };

	for (uint32_t i = 1; i < sim_state.nr_functions; i++) {
		if (!is_form_of(sim_state.functions[i]->name, base))
			continue;
		for (int nested = 0; nested < 2; nested++) {
			struct sim_counts counts = fold_function(i, nested);

			sum.calls += counts.calls;
			sum.failures += counts.failures;
			sum.not_ready += counts.not_ready;
			sum.ns += counts.ns;
		}
	}
	return sum;
}

static void print_waits(FILE *out)
{
	static const char *const waits[][2] = {
		{ "stream", "cuStreamSynchronize" }, { "event", "cuEventSynchronize" },
		{ "context", "cuCtxSynchronize" },
	};
	static const char *const queries[][2] = {
		{ "stream", "cuStreamQuery" }, { "event", "cuEventQuery" },
	};

	fputs(" \"waits\": {", out);
	for (int i = 0; i < 3; i++) {
		struct sim_counts sum = fold_forms(waits[i][1]);

		fprintf(out, "%s\"%s\":{\"calls\":%" PRIu64 ",\"failures\":%" PRIu64
			",\"ns\":%" PRIu64 "}", i ? "," : "", waits[i][0], sum.calls,
			sum.failures, sum.ns);
	}
	fputs("},\n \"queries\": {", out);
	for (int i = 0; i < 2; i++) {
		struct sim_counts sum = fold_forms(queries[i][1]);

		fprintf(out, "%s\"%s\":{\"ready\":%" PRIu64 ",\"not_ready\":%" PRIu64
			",\"failures\":%" PRIu64 "}", i ? "," : "", queries[i][0],
			sum.calls - sum.failures - sum.not_ready, sum.not_ready, sum.failures);
	}
	fputs("},\n", out);
}

static struct sim_launches fold_launches(uint32_t kernel, enum sim_caller caller)
{
	struct sim_launches sum = { 0 };

	for_each_thread(thread) {
		const struct sim_launches *launches;

		if (kernel >= thread->nr_kernels)
			continue;
		launches = &thread->kernels[kernel][caller];
		sum.launches += read_counter(&launches->launches);
		sum.failed += read_counter(&launches->failed);
		sum.captured += read_counter(&launches->captured);
		sum.abandoned += read_counter(&launches->abandoned);
	}
	return sum;
}

static void print_kernel(FILE *out, uint32_t kernel, const struct sim_launches *launches)
{
	const char *comma = "";

	fputs("  ", out);
	print_string(out, sim_names__get(kernel));
	fputs(": {", out);
	for (int caller = 0; caller < SIM_CALLERS; caller++) {
		fprintf(out, "%s\"%s\":{\"launches\":%" PRIu64 ",\"failed\":%" PRIu64
			",\"captured\":%" PRIu64 ",\"abandoned\":%" PRIu64 "}", comma,
			callers[caller], launches[caller].launches, launches[caller].failed,
			launches[caller].captured, launches[caller].abandoned);
		comma = ",";
	}
	fputc('}', out);
}

static void print_kernels(FILE *out)
{
	const char *comma = "";

	fputs(" \"kernels\": {", out);
	for (uint32_t kernel = 0; kernel < sim_names__count(); kernel++) {
		struct sim_launches launches[SIM_CALLERS];
		uint64_t sum = 0;

		for (int caller = 0; caller < SIM_CALLERS; caller++) {
			launches[caller] = fold_launches(kernel, caller);
			sum += launches[caller].launches + launches[caller].abandoned;
		}
		if (!sum)
			continue;
		fprintf(out, "%s\n", comma);
		print_kernel(out, kernel, launches);
		comma = ",";
	}
	fputs("\n },\n", out);
}

static struct sim_copies fold_copies(int caller, int kind, int mode)
{
	struct sim_copies sum = { 0 };

	for_each_thread(thread) {
		const struct sim_copies *copies = &thread->copies[caller][kind][mode];

		sum.calls += read_counter(&copies->calls);
		sum.failures += read_counter(&copies->failures);
		sum.bytes += read_counter(&copies->bytes);
		sum.captured_calls += read_counter(&copies->captured_calls);
		sum.captured_bytes += read_counter(&copies->captured_bytes);
	}
	return sum;
}

static void print_copies(FILE *out)
{
	fputs(" \"copies\": {", out);
	for (int caller = 0; caller < SIM_CALLERS; caller++) {
		const char *comma = "";

		fprintf(out, "%s\n  \"%s\": {", caller ? "," : "", callers[caller]);
		for (int kind = 0; kind < SIM_COPY_KINDS; kind++) {
			fprintf(out, "%s\"%s\":{", comma, copy_kinds[kind]);
			for (int mode = 0; mode < SIM_MODES; mode++) {
				struct sim_copies sum = fold_copies(caller, kind, mode);

				fprintf(out, "%s\"%s\":{\"calls\":%" PRIu64 ",\"failures\":%" PRIu64
					",\"bytes\":%" PRIu64 ",\"captured_calls\":%" PRIu64
					",\"captured_bytes\":%" PRIu64 "}", mode ? "," : "",
					modes[mode], sum.calls, sum.failures, sum.bytes,
					sum.captured_calls, sum.captured_bytes);
			}
			fputc('}', out);
			comma = ",";
		}
		fputc('}', out);
	}
	fputs("\n },\n", out);
}

static struct sim_calls_bytes fold_executed(int caller, int kind, int mode)
{
	struct sim_calls_bytes sum = { 0 };

	for_each_thread(thread) {
		sum.calls += read_counter(&thread->executed[caller][kind][mode].calls);
		sum.bytes += read_counter(&thread->executed[caller][kind][mode].bytes);
	}
	return sum;
}

static void print_executed(FILE *out)
{
	fputs(" \"executed_copies\": {", out);
	for (int caller = 0; caller < SIM_CALLERS; caller++) {
		fprintf(out, "%s\n  \"%s\": {", caller ? "," : "", callers[caller]);
		for (int kind = 0; kind < SIM_COPY_KINDS; kind++) {
			struct sim_calls_bytes sync = fold_executed(caller, kind, SIM_SYNCHRONOUS);
			struct sim_calls_bytes async = fold_executed(caller, kind,
								     SIM_ASYNCHRONOUS);

			fprintf(out, "%s\"%s\":{\"sync\":{\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64
				"},\"async\":{\"calls\":%" PRIu64 ",\"bytes\":%" PRIu64 "}}",
				kind ? "," : "", copy_kinds[kind], sync.calls, sync.bytes,
				async.calls, async.bytes);
		}
		fputc('}', out);
	}
	fputs("\n },\n", out);
}

static void print_null_frees(FILE *out)
{
	fputs(" \"null_frees\": {", out);
	for (int caller = 0; caller < SIM_CALLERS; caller++) {
		uint64_t sum = 0;

		for_each_thread(thread)
			sum += read_counter(&thread->null_frees[caller]);
		fprintf(out, "%s\"%s\":%" PRIu64, caller ? "," : "", callers[caller], sum);
	}
	fputs("}", out);
}

static void print_command(FILE *out)
{
	char comm[32] = "";
	FILE *in = fopen("/proc/self/comm", "re");

	if (in && fgets(comm, sizeof(comm), in))
		comm[strcspn(comm, "\n")] = '\0';
	if (in)
		fclose(in);
	fputs(" \"comm\": ", out);
	print_string(out, comm);
	fputs(",\n", out);
}

static void print_truth(FILE *out)
{
	fprintf(out, "{\n \"pid\": %d,\n", (int)getpid());
	print_command(out);
	pthread_mutex_lock(&sim_state.lock);
	print_layer(out, SIM_DRIVER, "driver");
	print_layer(out, SIM_RUNTIME, "runtime");
	print_kernels(out);
	print_copies(out);
	print_executed(out);
	print_waits(out);
	print_null_frees(out);
	pthread_mutex_unlock(&sim_state.lock);
	if (sim_state.describe) {
		fputs(",\n", out);
		sim_state.describe(out);
	}
	fputs("\n}\n", out);
}

void sim_truth__write(void)
{
	const char *name = file_name();
	char path[PATH_MAX], temporary[PATH_MAX + 16];
	FILE *out;

	/* The own recorder of a libcudart that uses libcuda's is empty. */
	if (!name || sim_state.muted || sim_state.nr_functions == 1)
		return;
	if (!expand(name, path, sizeof(path)))
		sim_parse__refuse("CUDA_SIM_TRUTH", name, "the name is too long");
	snprintf(temporary, sizeof(temporary), "%s.%d", path, (int)getpid());
	out = fopen(temporary, "we");
	if (!out)
		sim_parse__refuse("CUDA_SIM_TRUTH", temporary, "cannot be written");
	print_truth(out);
	if (fclose(out) || rename(temporary, path))
		sim_parse__refuse("CUDA_SIM_TRUTH", path, "cannot be written");
}
