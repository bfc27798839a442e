# SPDX-License-Identifier: BSD-2-Clause
# make release: all that is published of a version, from a commit (COMMIT, by default the latest
# one) in a folder of its own.
# The same commit gives the same bytes in any folder, with the same compilers: times are the
# commit's, and no path of the build is in a file.

RELEASE ?= $(BUILD)/release
COMMIT ?= HEAD
RELEASE_TREE := $(abspath $(RELEASE))/tree
RELEASED := $(RELEASE)/gpuprobe-$(VERSION)
# Source files' names in debug information, in BTF and so in build ids.
RELEASE_PATHS := -ffile-prefix-map=$(RELEASE_TREE)/= -ffile-prefix-map=$(RELEASE_TREE)=.
SBOM := $(BUILD)/packages/gpuprobe-$(VERSION)-x86_64.spdx.json

# As `helm package` makes it.
CHART := $(BUILD)/packages/gpuprobe-chart-$(VERSION).tgz

.PHONY: release released sbom chart

#: make release     tarballs, packages, image, chart, SBOM and checksums, in build/release
release:
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE_TREE) $(RELEASED)
	@git diff --quiet $(COMMIT) || echo "release: uncommitted changes are left out" >&2
	git -c tar.umask=0022 archive --prefix=gpuprobe-$(VERSION)/ $(COMMIT) | \
		gzip -9n > $(RELEASED)/gpuprobe-$(VERSION).tar.gz
	@tar -C $(RELEASE_TREE) --strip-components=1 -xzf $(RELEASED)/gpuprobe-$(VERSION).tar.gz
	@epoch=$$(git log -1 --format=%ct $(COMMIT)) && \
		revision=$$(git rev-parse $(COMMIT)) && export SOURCE_DATE_EPOCH=$$epoch && \
		$(MAKE) --no-print-directory -C $(RELEASE_TREE) BUILD=build REVISION=$$revision \
			SOURCE_DATE_EPOCH=$$epoch PATH_MAP="$(RELEASE_PATHS)" released
	@cp $(addprefix $(RELEASE_TREE)/build/,packages/*.deb packages/*.tar.gz packages/*.tgz \
		packages/*.spdx.json image/*.oci.tar) $(RELEASED)
	@rm -f $(RELEASED)/*-dbgsym_*
	@rm -rf $(RELEASE_TREE)
	@cd $(RELEASED) && sha256sum * > SHA256SUMS && cat SHA256SUMS

released: deb tarball image chart sbom

# The rules are a link to deploy/monitoring.
chart:
	@mkdir -p $(dir $(CHART))
	tar -C deploy/helm --sort=name --owner=0 --group=0 --numeric-owner --mode=u+w,go=rX \
		--mtime=@$(SOURCE_DATE_EPOCH) --format=gnu --dereference --exclude=gpuprobe/ci \
		-c gpuprobe | gzip -9n > $(CHART)

#: make sbom        what is linked into the portable build, as SPDX 2.3
sbom: $(PORTABLE)
	@mkdir -p $(dir $(SBOM))
	@deploy/release/sbom.py --program $(PORTABLE) --map $(PORTABLE).map --version $(VERSION) \
		--epoch $(SOURCE_DATE_EPOCH) --output $(SBOM)
