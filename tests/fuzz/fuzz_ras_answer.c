// SPDX-License-Identifier: BSD-2-Clause
// An answer of NCCL's RAS service, as JSON: what is read is judged and printed. Behind a NUL is a
// value of NCCL_RAS_ADDR.
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "nccl/ras_address.h"
#include "output/nccl/ras.h"

static void judge(const struct ras_answer *answer)
{
	size_t count;
	const struct ras_comm *comms = ras_answer__comms(answer, &count);

	for (size_t i = 0; i < count; i++) {
		const struct nccl_comm comm = {
			.known = true, .hash = comms[i].hash, .size = comms[i].size};
		struct ras_opinion opinion;
		struct json json;

		MUST(ras_facts__judge(answer, &comm, &opinion));
		MUST(opinion.blamed_count <= opinion.blamed_total);
		MUST(opinion.blamed_total <= opinion.ranks);
		nccl_ras_text__print(harness__sink(), &opinion);
		json__init(&json, harness__sink());
		nccl_ras_json__print(&json, &opinion);
	}
}

static void read_text(char *text)
{
	size_t length = strlen(text);
	struct ras_answer *answer;
	struct error err = {""};
	char *exact = harness__exactly(text, length + 1);

	free(text);
	if (ras_answer__read(exact, length, &answer, &err)) {
		MUST(err.text[0]);
		return;
	}
	judge(answer);
	ras_answer__free(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {data, size};
	union ras_address addresses[RAS_ADDRESSES];
	char *address;

	read_text(input__string(&input));
	address = input__rest(&input);
	MUST(ras_address__parse(address, addresses) <= RAS_ADDRESSES);
	free(address);
	return 0;
}
