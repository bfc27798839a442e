# SPDX-License-Identifier: BSD-2-Clause
# The container image, as an archive in the OCI layout: see deploy/image/build.py.
# Its times are SOURCE_DATE_EPOCH, by default the time of the latest commit.

IMAGE := $(BUILD)/image/gpuprobe-$(VERSION).oci.tar
REVISION ?= $(shell git rev-parse HEAD 2>/dev/null)
IMAGE_EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null),0)

.PHONY: image

image: $(PORTABLE)
	@mkdir -p $(dir $(IMAGE))
	strip -o $(BUILD)/image/gpuprobe $(PORTABLE)
	@deploy/image/build.py --program $(BUILD)/image/gpuprobe --version $(VERSION) \
		--revision "$(REVISION)" --epoch $(IMAGE_EPOCH) \
		--output $(IMAGE)
