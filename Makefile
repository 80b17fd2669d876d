# Two commands do it all: `make serve` and `make test`. Each target is one script in scripts/, which can be run alone.
# JOBS=N limits parallel compilation; ARGS='...' is passed on to the daemon by serve and to ctest by test.
.DEFAULT_GOAL := help
.PHONY: serve test build models deps load samples fuzz lint check-macos check-arm64 format install release clean help

serve: ## Install what is missing, build, convert the demo models and start the daemon in the foreground
	@scripts/serve.sh $(ARGS)

test: ## Install what is missing, build everything and run all tests
	@scripts/test.sh $(ARGS)

build: ## Build the daemon: build/millrace
	@scripts/deps.sh serve
	@scripts/build.sh

models: ## Convert the demo models into var/models
	@scripts/deps.sh serve
	@scripts/models.sh

deps: ## Install what serving and testing need
	@scripts/deps.sh serve test

load: ## Run the load tests with ghz against a daemon of its own
	@scripts/load.sh $(ARGS)

samples: ## Let every voice say a few texts: a page of audio, spectrograms and measurements in var/samples
	@scripts/samples.sh

fuzz: ## Run each fuzz target for SECONDS=N (default 60) with libFuzzer and sanitizers; ARGS='TARGET...' takes some alone
	@scripts/fuzz.sh $(or $(SECONDS),60) $(ARGS)

lint: ## Check format, scripts, Python, units, alert rules; ARGS='FILE...' also runs clang-tidy on those files
	@scripts/deps.sh serve test
	@scripts/lint.sh $(ARGS)

check-macos: ## Compile the MPS backend for macOS and link it against libtorch's macOS libraries, without a Mac
	@scripts/deps.sh serve macos
	@scripts/check-macos.sh

check-arm64: ## Compile for Linux on arm64 and run C++ tests under qemu-user; ARGS='TARGET...' takes other targets
	@scripts/deps.sh serve arm64
	@scripts/check-arm64.sh $(ARGS)

format: ## Format all C++ sources in place
	@scripts/format.sh

install: ## Copy the daemon, its libtorch, man pages, completions and systemd units to PREFIX (default /opt/millrace), below DESTDIR
	@scripts/install.sh "$(DESTDIR)$(or $(PREFIX),/opt/millrace)"
	@scripts/build.sh millrace_reference && scripts/install-reference.sh "$(DESTDIR)$(or $(PREFIX),/opt/millrace)"
	@scripts/install-service.sh "$(or $(PREFIX),/opt/millrace)" "$(DESTDIR)"

release: ## Make the packages of a release with their checksums in dist/
	@scripts/release.sh

clean: ## Remove build folders and what was converted; keeps .venv
	rm -rf build build-* dist var/models var/stamps

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile
