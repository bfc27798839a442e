// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The programs of identity.h alone, for `gpuprobe check`. */
#include "identity.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
