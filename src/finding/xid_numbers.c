// SPDX-License-Identifier: BSD-2-Clause
// The table of Xids, see xid_numbers.h.
#include "finding/xid_numbers.h"

#include <stddef.h>

#define PROGRAM true
#define HARDWARE false
#define RESET "drain the machine and reset the GPU (nvidia-smi --gpu-reset)"
#define SANITIZER "run the program under compute-sanitizer"

/* clang-format off */
static const struct xid_meaning meanings[] = {
	{8, PROGRAM, SEVERITY_WARNING, "work ran into the driver's time limit",
	 "look for a kernel that does not end, and at the GPU's clocks and temperature"},
	{13, PROGRAM, SEVERITY_CRITICAL, "a kernel made an illegal access or instruction",
	 SANITIZER "; if several programs fail on this GPU alone, test the GPU (dcgmi diag -r 3)"},
	{31, PROGRAM, SEVERITY_CRITICAL, "a kernel used an address that has no memory", SANITIZER},
	{32, HARDWARE, SEVERITY_CRITICAL, "commands for the GPU were damaged on their way",
	 "test the GPU and its PCIe link (dcgmi diag -r 3)"},
	{38, HARDWARE, SEVERITY_CRITICAL, "the driver's firmware failed",
	 RESET "; if it comes back, update the driver"},
	{43, PROGRAM, SEVERITY_WARNING, "the GPU stopped the work of a program after a fault",
	 "look at the Xid before it, and " SANITIZER},
	{45, PROGRAM, SEVERITY_INFO, "the driver ended work, after an error or a kill",
	 "look at the Xid before it; if there is none, a program was ended while it had work"},
	{48, HARDWARE, SEVERITY_CRITICAL, "memory had an error that ECC cannot correct",
	 RESET "; if it comes back, replace the GPU"},
	{61, HARDWARE, SEVERITY_CRITICAL, "a microcontroller of the GPU failed", RESET},
	{62, HARDWARE, SEVERITY_CRITICAL, "a microcontroller of the GPU halted", RESET},
	{63, HARDWARE, SEVERITY_WARNING, "bad memory was taken out of use",
	 "reset the GPU when it is idle: it takes effect then"},
	{64, HARDWARE, SEVERITY_CRITICAL, "bad memory could not be taken out of use",
	 RESET "; if it comes back, replace the GPU"},
	{69, PROGRAM, SEVERITY_CRITICAL, "the GPU was given a command that it does not know",
	 SANITIZER "; if several programs fail on this GPU alone, test the GPU (dcgmi diag -r 3)"},
	{74, HARDWARE, SEVERITY_CRITICAL, "an NVLink connection failed",
	 "look at nvidia-smi nvlink -e and at the other end of the link; " RESET},
	{79, HARDWARE, SEVERITY_CRITICAL, "the GPU has fallen off the PCIe bus",
	 "drain and restart the machine; look at its power, cooling and seating"},
	{92, HARDWARE, SEVERITY_WARNING, "memory has many errors that ECC corrects",
	 "watch nvidia-smi -q -d ECC, and plan to replace the GPU if they go on"},
	{94, HARDWARE, SEVERITY_CRITICAL,
	 "memory had an error that ECC cannot correct, in one program's memory alone",
	 "restart that program; reset the GPU when it is idle"},
	{95, HARDWARE, SEVERITY_CRITICAL,
	 "memory had an error that ECC cannot correct, and any program may be harmed", RESET},
	{109, PROGRAM, SEVERITY_CRITICAL, "work could not be switched off the GPU in time",
	 "look for a kernel that does not end; if it comes back with other programs, reset the GPU"},
	{119, HARDWARE, SEVERITY_CRITICAL, "the GPU's system processor (GSP) did not answer in time",
	 RESET "; if it comes back, update the driver"},
	{120, HARDWARE, SEVERITY_CRITICAL, "the GPU's system processor (GSP) failed",
	 RESET "; if it comes back, update the driver"},
	{140, HARDWARE, SEVERITY_CRITICAL, "memory had an error that ECC cannot correct", RESET},
	{154, HARDWARE, SEVERITY_WARNING, "the driver asks for an action to recover the GPU",
	 "do what its message says"},
};
/* clang-format on */

const struct xid_meaning *xid_meaning__of(uint32_t number)
{
	static const struct xid_meaning other = {
		.severity = SEVERITY_WARNING,
		.what = "an error of the GPU or its driver",
		.advice = "look the number up in NVIDIA's catalogue of Xid errors",
	};

	for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
		if (meanings[i].number == number)
			return &meanings[i];
	return &other;
}
