// SPDX-License-Identifier: BSD-2-Clause
#include "finding/rules.h"

int unchecked_errors__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	(void)input;
	(void)process;
	(void)out;
	return 0;
}

int sticky_error__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	(void)input;
	(void)process;
	(void)out;
	return 0;
}

int error_storm__draw(const struct finding_input *input, const struct process *process, struct finding_list *out)
{
	(void)input;
	(void)process;
	(void)out;
	return 0;
}
