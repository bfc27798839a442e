# SPDX-License-Identifier: BSD-2-Clause
#
# Programs to watch. Included by the top Makefile. They are built for the simulated CUDA, by plain
# make too, and with nvcc, if there is one, for this machine's; `make examples NVCC=` leaves it out.

NVCC ?= $(firstword $(wildcard /usr/local/cuda/bin/nvcc) $(shell command -v nvcc))

EXAMPLES_SIMULATED := $(SIM_OUT)/cuda_events_test
EXAMPLES := $(if $(NVCC),$(BUILD)/examples/cuda_events_test) $(EXAMPLES_SIMULATED)

sim: $(EXAMPLES_SIMULATED)

.PHONY: examples
examples: $(EXAMPLES)
	@echo "built $(strip $(EXAMPLES))"

# The runtime is shared, so that its functions are there for every tracer.
$(BUILD)/examples/%: examples/%.c
	@mkdir -p $(@D)
	$(NVCC) -x cu -cudart shared -O2 -o $@ $<

$(EXAMPLES_SIMULATED): examples/cuda_events_test.c | $(SIM_LIBRARIES) $(SIM_LINKS)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -D_GNU_SOURCE -DSIMULATED -Isim/include -o $@ $< \
		-L$(SIM_OUT) -Wl,--enable-new-dtags -Wl,-rpath,'$$ORIGIN' -lcudart -lcuda
