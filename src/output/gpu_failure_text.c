// SPDX-License-Identifier: BSD-2-Clause
// Why a process has no GPU times, see gpu_failure_text.h.
#include "output/gpu_failure_text.h"

#include <inttypes.h>

#include "base/escape.h"

static const char *remedy(int64_t code)
{
	switch (code) {
	case 0: return "; install CUPTI, or add its folder to LD_LIBRARY_PATH";
	case 15:
		return "; CUPTI is newer than the GPU's driver: install the CUPTI of the driver's "
		       "CUDA version";
	case 39: return "; another profiler uses CUPTI in this process: stop it";
	default: return "";
	}
}

bool gpu_failure_text__print(FILE *out, const struct gpu_process_times *times)
{
	if (times && !times->failed)
		return false;
	fputs("no GPU times: ", out);
	if (!times) {
		fputs("nothing has come from this process", out);
		return true;
	}
	escape__text(out, times->reason);
	fputs(remedy(times->code), out);
	if (times->code)
		fprintf(out, " (CUPTI's error %" PRId64 ")", times->code);
	return true;
}
