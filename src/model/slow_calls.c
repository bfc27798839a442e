// SPDX-License-Identifier: BSD-2-Clause
// Sums calls with slow probes, see slow_calls.h.
#include "model/slow_calls.h"

#include <stdlib.h>

#include "api/api.h"

void slow_calls__sum(const struct model *model, const struct process *process,
		     struct slow_calls *sums)
{
	uint64_t most = 0, *by_row;

	*sums = (struct slow_calls){0};
	by_row = model->slow ? calloc(api_function_count, sizeof(*by_row)) : NULL;
	for (size_t i = 0; by_row && i < process->function_count; i++) {
		const struct function_totals *function = &process->functions[i];

		if (model->slow[function->row])
			by_row[function->row] += function->calls + function->failures;
	}
	for (size_t row = 0; by_row && row < api_function_count; row++) {
		sums->calls += by_row[row];
		sums->functions += by_row[row] > 0;
		if (by_row[row] <= most)
			continue;
		most = by_row[row];
		sums->function = api_functions[row].symbol;
	}
	free(by_row);
}
