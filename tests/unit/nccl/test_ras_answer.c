// SPDX-License-Identifier: BSD-2-Clause
// Answers and addresses of NCCL's RAS service, and what they add to the judge.
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nccl/nccl_scene.h"
#include "nccl/ras_address.h"
#include "nccl/ras_facts.h"
#include "nccl/ras_texts.h"

static struct ras_answer *read_answer(const char *text)
{
	struct ras_answer *answer;
	struct error err;

	assert_int_equal(ras_answer__read(strdup(text), strlen(text), &answer, &err), 0);
	return answer;
}

#define TWO_NODES \
	RAS_ANSWER(RAS_COMM( \
		"0x9f3ac1", 4, \
		RAS_RANK(2, "10.0.0.7", 5002, 0, 99, false) "," RAS_RANK( \
			0, "192.0.2.2", 5000, 0, 100, false) "," RAS_RANK(1, "192.0.2.2", 5001, 1, \
									  100, false), \
		RAS_MISSING(3, "unknown", -1, true, \
			    false)) "," RAS_COMM("0x77", 2, \
						 RAS_RANK(0, "192.0.2.2", 5000, 0, 7, true), ""))

static void what_it_says(void **state)
{
	struct ras_answer *answer = read_answer(TWO_NODES);
	const struct ras_comm *comm = ras_answer__find(answer, 0x9f3ac1, 4);
	size_t count;

	(void)state;
	ras_answer__comms(answer, &count);
	assert_int_equal(count, 2);
	assert_int_equal(comm->rank_count, 4);
	assert_int_equal(comm->ranks[1].pid, 5001);
	assert_int_equal(comm->ranks[1].device, 1);
	assert_int_equal(comm->ranks[1].collectives, 103);
	assert_string_equal(comm->ranks[2].host, "10.0.0.7");
	assert_int_equal(comm->ranks[3].state, RAS_UNRESPONSIVE);
	assert_int_equal(comm->ranks[3].pid, 0);
	assert_true(ras_answer__find(answer, 0x77, 2)->ranks[0].destroyed);
	assert_null(ras_answer__find(answer, 0x77, 3));
	assert_int_equal(ras_answer__left_out(answer), 0);
	ras_answer__free(answer);
}

static void damaged_answers(void **state)
{
	static const char *const refused[] = {
		"",   "NCCL version 2.28.9\n",	"[]",
		"{}", "{\"communicators\":{}}", "{\"communicators\":["};
	struct ras_answer *answer;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		err.text[0] = 0;
		assert_int_equal(
			ras_answer__read(strdup(refused[i]), strlen(refused[i]), &answer, &err),
			-EINVAL);
		assert_int_equal(strncmp(err.text, "RAS: ", 5), 0);
	}
	answer = read_answer(RAS_ANSWER(
		"7,{\"hash\":\"0x1\"},{\"hash\":\"1\",\"size\":2},{\"hash\":\"0x1\",\"size\":0},"
		"{\"hash\":\"0x2\",\"size\":2,\"ranks\":[{\"rank\":2},{\"rank\":-1},{},null,"
		"{\"rank\":0}],\"missing_ranks\":7}"));
	assert_int_equal(ras_answer__left_out(answer), 8);
	assert_int_equal(ras_answer__find(answer, 2, 2)->rank_count, 1);
	ras_answer__free(answer);
}

static void addresses(void **state)
{
	static const struct {
		const char *text, *first;
		size_t count;
		uint16_t port;
	} cases[] = {
		{NULL, "127.0.0.1", 2, 28028},
		{"localhost:28", "127.0.0.1", 2, 28},
		{"10.0.0.1:65535", "10.0.0.1", 1, 65535},
		{"[::1]:28028", "::1", 1, 28028},
		{"0.0.0.0:5", "127.0.0.1", 1, 5},
		{"[::]:5", "::1", 1, 5},
		{"", NULL, 0, 0},
		{"10.0.0.1", NULL, 0, 0},
		{"10.0.0.1:0", NULL, 0, 0},
		{"10.0.0.1:65536", NULL, 0, 0},
		{"10.0.0.1:-1", NULL, 0, 0},
		{"10.0.0.1: 5", NULL, 0, 0},
		{"10.0.0.1:5x", NULL, 0, 0},
		{"::1:5", NULL, 0, 0},
		{"example.org:80", NULL, 0, 0},
		{":5", NULL, 0, 0},
		{"[]:5", NULL, 0, 0},
		{"[:5", NULL, 0, 0},
		{"111111111111111111111111111111111111111111111111111:5", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		union ras_address found[RAS_ADDRESSES];
		char text[INET6_ADDRSTRLEN];

		assert_int_equal(ras_address__parse(cases[i].text, found), cases[i].count);
		if (!cases[i].count)
			continue;
		inet_ntop(found[0].any.sa_family,
			  found[0].any.sa_family == AF_INET6 ? (void *)&found[0].v6.sin6_addr :
							       (void *)&found[0].v4.sin_addr,
			  text, sizeof(text));
		assert_string_equal(text, cases[i].first);
		assert_int_equal(ntohs(found[0].v4.sin_port), cases[i].port);
		assert_int_equal(ntohs(found[cases[i].count - 1].v6.sin6_port), cases[i].port);
	}
}

/* --- facts --- */

static bool is_local(const char *host, void *arg)
{
	(void)arg;
	return !strcmp(host, "192.0.2.2");
}

/* A collective of a process that was there before; its pid in its namespace is 5000 + rank. */
static void call_unknown(struct nccl_jobs *jobs, int32_t rank, uint64_t handle)
{
	struct scene scene = {.jobs = jobs, .now = SECOND};
	struct nccl_event event = scene__event(&scene, rank, NCCL_ALL_REDUCE, NCCL_BEGIN);

	event.comm = handle;
	scene__feed(&scene, event);
	event.phase = NCCL_END;
	scene__feed(&scene, event);
}

static size_t identify(struct nccl_jobs *jobs, const char *text, int32_t ranks)
{
	struct ras_answer *answer = read_answer(text);
	struct ras_process processes[8];
	size_t found;

	for (int32_t rank = 0; rank < ranks; rank++)
		processes[rank] = (struct ras_process){.key = {.pid = 5000 + rank, .start_ns = 1},
						       .inner_pid = 5000 + rank};
	found = ras_facts__identify(jobs, answer, processes, (size_t)ranks, is_local, NULL, SECOND);
	ras_answer__free(answer);
	return found;
}

static void the_only_one_is_identified(void **state)
{
	struct nccl_jobs *jobs = nccl_jobs__new(NULL);
	const struct nccl_comm *comm;

	(void)state;
	call_unknown(jobs, 1, 0x1000);
	/* Of another node, though its pid and address fit. */
	call_unknown(jobs, 2, 0x1000);
	assert_int_equal(identify(jobs, TWO_NODES, 3), 1);
	for (comm = nccl_jobs__next(jobs, NULL); comm && !comm->known;)
		comm = nccl_jobs__next(jobs, comm);
	assert_true(comm && comm->hash == 0x9f3ac1 && comm->size == 4 && !comm->aligned);
	assert_int_equal(comm->seen, 1);
	assert_int_equal(nccl_comm__rank(comm, 0)->rank, 1);
	assert_int_equal(nccl_comm__rank(comm, 0)->handle, 0x1000);
	/* What is known stays. */
	assert_int_equal(identify(jobs, TWO_NODES, 3), 0);
	nccl_jobs__free(jobs);
}

static void two_that_fit_are_not(void **state)
{
	struct nccl_jobs *jobs = nccl_jobs__new(NULL);

	(void)state;
	/* RAS lists two communicators for rank 0, and rank 1 has two addresses. */
	call_unknown(jobs, 0, 0x1000);
	call_unknown(jobs, 1, 0x1000);
	call_unknown(jobs, 1, 0x2000);
	assert_int_equal(identify(jobs, TWO_NODES, 2), 0);
	nccl_jobs__free(jobs);
}

/* One of the two is known, so that the other one is the one that is left. */
static void the_rest_is_identified(void **state)
{
	struct scene scene = scene__of(1, 4);

	(void)state;
	call_unknown(scene.jobs, 0, 0x2000);
	assert_int_equal(identify(scene.jobs, TWO_NODES, 1), 1);
	assert_true(nccl_jobs__next(scene.jobs, nccl_jobs__next(scene.jobs, NULL))->hash == 0x77);
	scene__free(&scene);
}

static void second_opinion(void **state)
{
	struct ras_answer *answer = read_answer(TWO_NODES);
	struct scene scene = scene__of(2, 4);
	struct ras_opinion opinion;
	struct nccl_comm stranger = {.known = true, .hash = 5, .size = 4};

	(void)state;
	assert_true(ras_facts__judge(answer, nccl_jobs__next(scene.jobs, NULL), &opinion));
	assert_int_equal(opinion.ranks, 4);
	assert_int_equal(opinion.answering, 3);
	assert_int_equal(opinion.collectives, 103);
	assert_int_equal(opinion.blamed_total, 2);
	assert_int_equal(opinion.blamed[0].rank, 3);
	assert_int_equal(opinion.blamed[1].rank, 2);
	assert_false(ras_facts__judge(answer, &stranger, &opinion));
	stranger = (struct nccl_comm){.hash = 0x77, .size = 2};
	assert_false(ras_facts__judge(answer, &stranger, &opinion)); /* its hash is unknown */
	scene__free(&scene);
	ras_answer__free(answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_says),
		cmocka_unit_test(damaged_answers),
		cmocka_unit_test(addresses),
		cmocka_unit_test(the_only_one_is_identified),
		cmocka_unit_test(two_that_fit_are_not),
		cmocka_unit_test(the_rest_is_identified),
		cmocka_unit_test(second_opinion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
