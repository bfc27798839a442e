// SPDX-License-Identifier: BSD-2-Clause
// Findings about copies: each with similar healthy cases, which give none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "finding_case.h"

#define MIB (1ull << 20)

static const struct stack somewhere = {.serial = 7};

static struct profile_copies *add_copies(struct finding_case *c, enum copy_kind kind, int async,
					 enum copy_host host)
{
	struct profile_copies *copies = &c->copies[c->profile.copy_count++];

	copies->key = (struct copy_size_key){
		.kind = (uint8_t)kind, .async = (uint8_t)async, .host = (uint8_t)host};
	return copies;
}

/* More copies, of 2^size bytes. */
static void copy(struct profile_copies *copies, int size, uint64_t calls, uint64_t ns_each)
{
	copies->record.calls[size] += calls;
	copies->record.bytes[size] += calls << size;
	copies->record.ns[size] += calls * ns_each;
}

static bool is_close(uint64_t value, double wanted)
{
	return (double)value > 0.999 * wanted && (double)value < 1.001 * wanted;
}

/* --- small copies --- */

static void small_copies(void **state)
{
	struct finding_case *c = case__new();
	struct profile_copies *copies = add_copies(c, COPY_H2D, 0, COPY_HOST_PAGEABLE);
	const struct finding *finding;

	(void)state;
	copy(copies, 12, 100000, 10 * US); /* 4 KiB */
	copy(copies, 15, 10000, 20 * US);  /* 32 KiB */
	copy(copies, 16, 5, 30 * US);	   /* 64 KiB is not small */
	copy(copies, 20, 5, 100 * US);
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "small-copies");
	assert_string_equal(finding->subject, "host to device, synchronous, not pinned");
	assert_int_equal(finding->cost_ns, 1200000 * US);
	assert_true(finding__value(finding, "calls") == 110000);
	assert_true(finding__value(finding, "all_copies") == 110010);
	assert_true(finding->share == 0.12);
	/* 737,280,000 bytes: 704 copies of 10 us, and 100 us for each MiB. */
	assert_true(finding->has_saving);
	assert_true(is_close(finding->saving_ns, 1.2e9 - 703.125 * 10e3 - 703.125 * 100e3));
	assert_string_equal(finding->evidence, "110 k of 110 k copies were smaller than 64 "
					       "KiB, 6.5 KiB and 10.9 us each on average: "
					       "703.1 MiB in 1.2 s, 12.0 % of the time; 1 MiB of "
					       "them takes 1.7 ms this way, and would take "
					       "110 us in one copy");
	assert_true(finding__value(finding, "batch_ns") == 110e3);
	case__free(c);
}

/*
 * No bytes are faster than the link, in one copy or in many, whatever the time in calls suggests.
 */
static void batches_are_no_faster_than_the_link(void **state)
{
	struct finding_case *c = case__new();
	struct gpu link = {.link_bytes_per_second = 10000000000};
	struct process_gpu gpu = {.gpu = 0};
	struct profile_copies *copies = add_copies(c, COPY_H2D, 1, COPY_HOST_PINNED);
	const struct finding *finding;

	(void)state;
	c->model.gpus = &link;
	c->model.gpu_count = 1;
	c->process.gpus = &gpu;
	c->process.gpu_count = 1;
	copy(copies, 15, 32000, 50 * US); /* 1,000 MiB, asynchronous */
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_true(is_close(finding->saving_ns, 1.6e9 - 1000 * 50e3 - 1048576000 / 8.0));
	assert_non_null(
		strstr(finding->assumption, "at 80 % of the nominal rate of the GPU's link"));
	assert_true(finding->cost_ns - finding->saving_ns > 1048576000 / 10.0);
	/* Large copies that were faster did not use the link. */
	copy(add_copies(c, COPY_H2D, 0, COPY_HOST_UNKNOWN), 24, 4, US);
	assert_int_equal(case__detect(c), 1);
	assert_true(is_close(c->list.items[0].saving_ns, 1.6e9 - 1000 * 50e3 - 1048576000 / 8.0));
	/* Slower copies measure more than the link. */
	copy(&c->copies[1], 24, 4000, 4000 * US);
	assert_int_equal(case__detect(c), 1);
	assert_non_null(strstr(c->list.items[0].assumption,
			       "at the rate of the largest synchronous copies"));
	assert_true(is_close(c->list.items[0].saving_ns,
			     1.6e9 - 1000 * 50e3 - 1000 / 16.0 * 4e6 * 4000 / 4004));
	case__free(c);
}

/* The finding covers all of them. */
static void small_copies_of_several_kinds(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	copy(add_copies(c, COPY_H2H, 0, COPY_HOST_UNKNOWN), 12, 100000, 10 * US);
	copy(add_copies(c, COPY_D2H, 1, COPY_HOST_PINNED), 12, 1000, 10 * US);
	c->copies[2] = c->copies[0];
	c->copies[2].key.device = 1;
	c->profile.copy_count = 3;
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject,
			    "copies of several kinds, mostly host to host, synchronous");
	assert_true(finding__value(&c->list.items[0], "kinds") == 2);
	assert_true(finding__value(&c->list.items[0], "calls") == 201000);
	assert_int_equal(c->list.items[0].cost_ns, 2010 * NS_PER_MS);
	/* Only the saving for those to the host is known. */
	assert_true(is_close(c->list.items[0].saving_ns, 10e6 - 4 * 10e3));
	c->profile.copy_count = 1;
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject, "host to host, synchronous");
	case__free(c);
}

/*
 * If a process's copies are sampled, findings that need every copy are skipped for it, but not for
 * others.
 */
static void sampled_copies_are_not_judged(void **state)
{
	struct finding_case *c = case__new();
	const uint64_t small = 1ull << finding_kind__index(finding_kind__find("small-copies"));
	const uint64_t growing = 1ull << finding_kind__index(finding_kind__find("leak-growing"));
	const uint64_t imbalance = 1ull
				   << finding_kind__index(finding_kind__find("device-imbalance"));

	(void)state;
	copy(add_copies(c, COPY_H2D, 0, COPY_HOST_PAGEABLE), 12, 100000, 10 * US);
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.sampled_kinds, 0);
	c->process.family_calls[RATE_LAUNCH].missed = 1;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.sampled_kinds & (small | imbalance), imbalance);
	c->process.family_calls[RATE_LAUNCH].missed = 0;
	c->process.family_calls[RATE_COPY].sampled = true;
	assert_int_equal(case__detect(c), 0);
	assert_int_equal(c->list.sampled_kinds & (small | growing | imbalance), small | imbalance);
	c->process.family_calls[RATE_COPY].sampled = false;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.sampled_kinds, 0);
	case__free(c);
}

static void small_asynchronous_copies(void **state)
{
	struct finding_case *c = case__new();
	struct profile_copies *copies = add_copies(c, COPY_D2H, 1, COPY_HOST_PINNED);

	(void)state;
	copy(copies, 0, 400000, 3 * US); /* of 1 byte */
	assert_int_equal(case__detect(c), 1);
	/* One call is left. */
	assert_true(is_close(c->list.items[0].saving_ns, 1.2e9));
	assert_non_null(strstr(c->list.items[0].assumption, "at an unknown rate"));
	assert_non_null(strstr(c->list.items[0].evidence,
			       "would take 3.0 us in one copy plus the time for its bytes"));
	assert_string_equal(c->list.items[0].subject, "device to host, asynchronous, pinned");
	case__free(c);
}

/* Without larger copies the link's rate is used; if that is unknown no saving is given. */
static void batches_at_the_links_rate(void **state)
{
	struct finding_case *c = case__new();
	struct gpu gpus[2] = {{.link_bytes_per_second = 9}, {.link_bytes_per_second = 10000000000}};
	struct process_gpu gpu = {.gpu = 1};

	(void)state;
	copy(add_copies(c, COPY_H2D, 0, COPY_HOST_UNKNOWN), 15, 100000, 10 * US);
	assert_int_equal(case__detect(c), 1);
	assert_false(c->list.items[0].has_saving);
	c->model.gpus = gpus;
	c->model.gpu_count = 2;
	c->process.gpus = &gpu;
	c->process.gpu_count = 1;
	assert_int_equal(case__detect(c), 1);
	assert_true(c->list.items[0].has_saving);
	assert_true(is_close(c->list.items[0].saving_ns, 1e9 - 3125 * 10e3 - 3276800000 / 8.0));
	case__free(c);
}

static void large_copies_and_sets_are_not_small(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	copy(add_copies(c, COPY_H2D, 0, COPY_HOST_PINNED), 16, 100000, 50 * US);
	copy(add_copies(c, COPY_SET, 0, COPY_HOST_UNKNOWN), 4, 1000000, 5 * US);
	assert_int_equal(case__detect(c), 0);
	/* Few. */
	copy(&c->copies[0], 4, 999, 1000 * US);
	assert_int_equal(case__detect(c), 0);
	/* Many, but almost no time. */
	copy(&c->copies[0], 4, 1, 1000 * US);
	assert_int_equal(case__detect(c), 1);
	c->copies[0].record.ns[4] = 499000 * US;
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

/* Copies of results take until the work queued before is done. */
static void small_copies_that_wait_for_kernels(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	copy(add_copies(c, COPY_D2H, 0, COPY_HOST_PAGEABLE), 4, 1500, 4000 * US);
	assert_int_equal(case__detect(c), 0);
	copy(&c->copies[0], 4, 1500, 4000 * US);
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].cost_ns, 3000 * 200 * US);
	case__free(c);
}

/* Sites have no sizes: one is named only if most of its time is that of small copies. */
static void small_copies_have_a_call_site(void **state)
{
	struct finding_case *c = case__new();
	struct profile_copies *copies = add_copies(c, COPY_H2D, 0, COPY_HOST_PINNED);

	(void)state;
	copy(copies, 12, 100000, 10 * US);
	c->sites[0] = (struct call_site){
		.kind = SITE_WAIT,
		.calls = 1,
		.amount = 9,
		.row = (uint16_t)api__find("cuStreamSynchronize", API_NEWEST),
	};
	c->sites[1] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.calls = 1,
		.amount = 1,
		.row = (uint16_t)api__find("cuMemcpyHtoD_v2", API_NEWEST),
	};
	c->process.site_count = 2;
	assert_int_equal(case__detect(c), 1);
	assert_ptr_equal(c->list.items[0].stack, &somewhere);
	copy(copies, 20, 20000, 100 * US);
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].stack);
	/* Asynchronous copies have their own sites. */
	c->copies[0].record = (struct copy_size_record){0};
	c->copies[0].key.async = 1;
	copy(copies, 12, 100000, 10 * US);
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].stack);
	c->sites[1].kind = SITE_COPY;
	c->sites[1].row = (uint16_t)api__find("cuMemcpyHtoDAsync_v2", API_NEWEST);
	assert_int_equal(case__detect(c), 1);
	assert_ptr_equal(c->list.items[0].stack, &somewhere);
	case__free(c);
}

/* --- pageable copies --- */

static void add_totals(struct finding_case *c, const char *symbol, enum copy_kind kind,
		       uint16_t flags, uint64_t calls, uint64_t bytes, uint64_t ns)
{
	c->totals[c->process.function_count++] = (struct function_totals){
		.row = (uint16_t)api__find(symbol, API_NEWEST),
		.kind = (uint8_t)kind,
		.flags = flags,
		.calls = calls,
		.bytes = bytes,
		.ns = ns,
	};
}

/* 4 GiB at 2 GiB/s up, 1 GiB at 1 GiB/s down. */
static struct finding_case *pageable(void)
{
	struct finding_case *c = case__new();

	c->process.profile = NULL;
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PAGEABLE, 400, 4096 * MIB, 2 * NS_PER_S);
	add_totals(c, "cuMemcpyDtoH_v2", COPY_D2H, TALLY_PAGEABLE, 100, 1024 * MIB, NS_PER_S);
	return c;
}

static void pageable_copies(void **state)
{
	struct finding_case *c = pageable();
	const struct finding *finding;

	(void)state;
	c->sites[0] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.calls = 1,
		.amount = 1,
		.row = (uint16_t)api__find("cuMemcpyHtoD_v2", API_NEWEST),
	};
	c->process.site_count = 1;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "pageable-copies");
	assert_string_equal(finding->subject,
			    "copies in both directions, mostly cuMemcpyHtoD_v2, host to device");
	assert_string_equal(finding->evidence, "5.0 GiB in 500 copies of unpinned host memory took "
					       "3.0 s, 30.0 % of the time: host "
					       "to device 4.0 GiB in 400 copies and 2.0 s, at 2.1 "
					       "GB/s; device to host 1.0 GiB in 100 copies "
					       "and 1.0 s, at 1.1 GB/s");
	assert_int_equal(finding->cost_ns, 3 * NS_PER_S);
	assert_true(finding->share == 0.3);
	assert_true(finding__value(finding, "bytes") == 5120.0 * MIB);
	assert_true(finding__value(finding, "to_device_bandwidth") == 2048.0 * MIB);
	assert_true(finding__value(finding, "to_host_bandwidth") == 1024.0 * MIB);
	assert_true(finding__value(finding, "to_host_bytes") == 1024.0 * MIB);
	assert_ptr_equal(finding->stack, &somewhere);
	/* Their achievable speed is unknown. */
	assert_false(finding->has_saving);
	c->totals[0].row = (uint16_t)api__find("cuMemcpyHtoDAsync_v2", API_NEWEST);
	c->sites[0].row = c->totals[0].row;
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].stack);
	c->sites[0].kind = SITE_COPY;
	assert_int_equal(case__detect(c), 1);
	assert_ptr_equal(c->list.items[0].stack, &somewhere);
	case__free(c);
}

/*
 * The time to queue them gives no rate; waits give a lower bound, if they covered no other copies.
 */
static void asynchronous_pageable_copies(void **state)
{
	struct finding_case *c = pageable();
	const struct finding *finding;

	(void)state;
	c->totals[0].row = (uint16_t)api__find("cuMemcpyHtoDAsync_v2", API_NEWEST);
	c->process.function_count = 1;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->subject, "cuMemcpyHtoDAsync_v2, host to device");
	assert_string_equal(finding->evidence, "4.0 GiB in 400 copies of unpinned host memory took "
					       "2.0 s, 20.0 % of the time: host "
					       "to device 4.0 GiB in 400 copies and 2.0 s");
	assert_true(finding__value(finding, "to_device_bandwidth") == -1);
	c->process.covered[COPY_H2D] =
		(struct covered_totals){.calls = 10, .bytes = 1024 * MIB, .ns = NS_PER_S / 8};
	assert_int_equal(case__detect(c), 1);
	assert_non_null(strstr(c->list.items[0].evidence, " and 2.0 s, at 8.6 GB/s at least"));
	assert_true(finding__value(&c->list.items[0], "to_device_least_bandwidth") == 8192.0 * MIB);
	/* The waits may have covered the pinned ones. */
	add_totals(c, "cuMemcpyHtoDAsync_v2", COPY_H2D, TALLY_PINNED, 10, 1024 * MIB, 1);
	assert_int_equal(case__detect(c), 1);
	assert_null(strstr(c->list.items[0].evidence, "GiB/s"));
	/* Synchronous pageable copies beside them do have a rate. */
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PAGEABLE, 100, 1024 * MIB, NS_PER_S);
	assert_int_equal(case__detect(c), 1);
	assert_non_null(
		strstr(c->list.items[0].evidence, " and 3.0 s, the synchronous ones at 1.1 GB/s"));
	assert_string_equal(
		c->list.items[0].subject,
		"copies by several functions, mostly cuMemcpyHtoDAsync_v2, host to device");
	case__free(c);
}

static void pinned_copies_beside_pageable_ones(void **state)
{
	struct finding_case *c = pageable();

	(void)state;
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED, 10, 1024 * MIB, NS_PER_S / 16);
	/* Copies that say nothing about the rate: those only queued on streams, or in graphs. */
	add_totals(c, "cuMemcpyHtoDAsync_v2", COPY_H2D, TALLY_PINNED, 10, 1024 * MIB, 1);
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED | TALLY_CAPTURED, 10, 1024 * MIB,
		   1);
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "to_device_reference") == 16384.0 * MIB);
	assert_non_null(strstr(c->list.items[0].evidence,
			       "at 2.1 GB/s, compared with 17.2 GB/s for its pinned copies;"));
	/* 4 GiB in a quarter of a second. The other direction is unknown. */
	assert_true(is_close(c->list.items[0].saving_ns, 1.75e9));
	/* The other direction as well. */
	add_totals(c, "cuMemcpyDtoH_v2", COPY_D2H, TALLY_PINNED, 10, 1024 * MIB, NS_PER_S / 4);
	assert_int_equal(case__detect(c), 1);
	assert_true(is_close(c->list.items[0].saving_ns, 1.75e9 + 0.75e9));
	case__free(c);
}

/* Small pinned copies give no rate; asynchronous ones covered by waits give a lower bound. */
static void asynchronous_copies_beside_pageable_ones(void **state)
{
	struct finding_case *c = pageable();

	(void)state;
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED, 100000, 1024 * MIB, NS_PER_S / 2);
	c->process.covered[COPY_H2D] =
		(struct covered_totals){.calls = 10, .bytes = 1024 * MIB, .ns = NS_PER_S / 8};
	assert_int_equal(case__detect(c), 1);
	assert_true(finding__value(&c->list.items[0], "to_device_reference") == 8192.0 * MIB);
	assert_true(is_close(c->list.items[0].saving_ns, 1.5e9));
	/* A lower bound that the pageable ones reach, too: the wait came long after. */
	c->process.covered[COPY_H2D].ns = NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	assert_false(c->list.items[0].has_saving);
	c->process.covered[COPY_H2D].ns = NS_PER_S / 8;
	/* Some of them may be the pageable ones. */
	add_totals(c, "cuMemcpyHtoDAsync_v2", COPY_H2D, TALLY_PAGEABLE, 1, 8, 1);
	assert_int_equal(case__detect(c), 1);
	assert_false(c->list.items[0].has_saving);
	case__free(c);
}

static void pageable_copies_beside_the_link(void **state)
{
	struct finding_case *c = pageable();
	struct gpu gpus[3] = {{
				      .link_bytes_per_second = 10240 * MIB,
			      },
			      {.link_bytes_per_second = 40960 * MIB},
			      {.link_bytes_per_second = 1}};
	struct process_gpu own[3] = {{.gpu = 1}, {.gpu = 0}, {.gpu = GPU_NONE}};

	(void)state;
	c->model.gpus = gpus;
	c->model.gpu_count = 3;
	c->process.gpus = own;
	c->process.gpu_count = 3;
	assert_int_equal(case__detect(c), 1);
	/* The slower reference: 8 GiB/s is four fifths of it. */
	assert_true(finding__value(&c->list.items[0], "to_device_reference") == 10240.0 * MIB);
	assert_true(is_close(c->list.items[0].saving_ns, 1.5e9 + 0.875e9));
	/* A link that is no faster: nothing to save. */
	gpus[0].link_bytes_per_second = 1;
	assert_int_equal(case__detect(c), 1);
	assert_int_equal(c->list.items[0].saving_ns, 0);
	case__free(c);
}

static void pinned_copies_are_no_finding(void **state)
{
	struct finding_case *c = case__new();

	(void)state;
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PINNED, 400, 4096 * MIB, 2 * NS_PER_S);
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, 0, 400, 4096 * MIB, 2 * NS_PER_S);
	add_totals(c, "cuMemcpyHtoDAsync_v2", COPY_H2D, TALLY_PAGEABLE | TALLY_CAPTURED, 400,
		   4096 * MIB, 2 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	/* Few bytes, or almost no time. */
	add_totals(c, "cuMemcpyHtoD_v2", COPY_H2D, TALLY_PAGEABLE, 400, 63 * MIB, 2 * NS_PER_S);
	assert_int_equal(case__detect(c), 0);
	c->totals[3].bytes = 65 * MIB;
	c->totals[3].ns = NS_PER_S * 4 / 10;
	assert_int_equal(case__detect(c), 0);
	c->totals[3].ns = NS_PER_S;
	assert_int_equal(case__detect(c), 1);
	case__free(c);
}

/* --- redundant copies --- */

static void redundant_copies(void **state)
{
	struct finding_case *c = case__new();
	const struct finding *finding;

	(void)state;
	c->profile.totals.repeats[0] = (struct time_totals){.calls = 300, .ns = NS_PER_S};
	c->profile.totals.repeat_bytes[0] = 300 * MIB;
	c->profile.totals.repeats[1] = (struct time_totals){.calls = 100, .ns = NS_PER_S / 2};
	c->profile.totals.repeat_bytes[1] = 100 * MIB;
	assert_int_equal(case__detect(c), 1);
	assert_null(c->list.items[0].subject);
	c->repeats[0] = (struct profile_repeat){
		.key = {.bytes = MIB, .kind = COPY_H2D},
		.record =
			{
				.copies = 301,
				.repeats = 300,
				.repeat_ns = NS_PER_S,
				.row = (uint32_t)api__find("cuMemcpyHtoD_v2", API_NEWEST),
			},
	};
	c->profile.repeat_count = 1;
	c->sites[0] = (struct call_site){
		.stack = &somewhere,
		.kind = SITE_WAIT,
		.calls = 1,
		.row = (uint16_t)c->repeats[0].record.row,
	};
	c->process.site_count = 1;
	assert_int_equal(case__detect(c), 1);
	finding = &c->list.items[0];
	assert_string_equal(finding->kind->id, "redundant-copies");
	assert_string_equal(finding->subject, "cuMemcpyHtoD_v2 of 1.0 MiB, and other ranges");
	assert_ptr_equal(finding->stack, &somewhere);
	assert_int_equal(finding->cost_ns, NS_PER_S * 3 / 2);
	assert_int_equal(finding->saving_ns, NS_PER_S * 3 / 2);
	assert_true(finding__value(finding, "to_device") == 300);
	assert_true(finding__value(finding, "to_host_bytes") == 100.0 * MIB);
	assert_true(finding__value(finding, "most_repeats") == 300);
	/* If one range repeats, the finding names it. */
	c->profile.totals.repeats[1] = (struct time_totals){0};
	assert_int_equal(case__detect(c), 1);
	assert_string_equal(c->list.items[0].subject, "cuMemcpyHtoD_v2 of 1.0 MiB");
	/* Few, or almost no time. */
	c->profile.totals.repeats[0].calls = 5;
	c->profile.totals.repeats[1].calls = 4;
	assert_int_equal(case__detect(c), 0);
	c->profile.totals.repeats[0] = (struct time_totals){.calls = 300, .ns = NS_PER_S / 100};
	c->profile.totals.repeats[1] =
		(struct time_totals){.calls = 300, .ns = NS_PER_S / 100 * 9 / 10};
	assert_int_equal(case__detect(c), 0);
	case__free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_copies),
		cmocka_unit_test(sampled_copies_are_not_judged),
		cmocka_unit_test(small_asynchronous_copies),
		cmocka_unit_test(batches_are_no_faster_than_the_link),
		cmocka_unit_test(small_copies_of_several_kinds),
		cmocka_unit_test(batches_at_the_links_rate),
		cmocka_unit_test(large_copies_and_sets_are_not_small),
		cmocka_unit_test(small_copies_that_wait_for_kernels),
		cmocka_unit_test(small_copies_have_a_call_site),
		cmocka_unit_test(pageable_copies),
		cmocka_unit_test(asynchronous_pageable_copies),
		cmocka_unit_test(pinned_copies_beside_pageable_ones),
		cmocka_unit_test(asynchronous_copies_beside_pageable_ones),
		cmocka_unit_test(pageable_copies_beside_the_link),
		cmocka_unit_test(pinned_copies_are_no_finding),
		cmocka_unit_test(redundant_copies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
