# Two commands do everything: `make run` and `make test`.

export SWIFT ?= swift

# Beginning all tests at once makes each of them wait for all the others.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= 8

# The local library's tests keep every core busy; tests of processes and of time run after them.
LIBRARY_TESTS = ^(AOperationTests|AOperationCombineTests|DocumentSnippetTests|DocumentationExampleTests|BenchmarkTests)\.
# Hundreds of graphs one after another, in memory: whatever runs beside them makes all of them wait.
MEMORY_TESTS = ^(ClusterTestingTests|ConformanceTests)\.
# Thousands of seeds that keep every thread of Swift's to themselves; here a share of them, with `swift test` all.
SIMULATION_TESTS = ^(SchedulingTests|SimulatorTests)\.
# Of these, what `aop-sim` does with optimised code, at the end, and with more seeds.
SIMULATED_LATER = SimulatorTests/(seeds_breakNoPromise|plantedDefect_isFound)
# Of processes.
SYSTEM_TESTS = ^SystemTests\.
RELEASE_PRODUCTS = aop aop-sim aop-fuzz aop-count Duplicates DuplicatesWorker TextWorker TrialSubmitter TrialWorker TrialFlood

.PHONY: help
help:  ## what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-17s %s\n", $$1, $$2}'

.PHONY: dependencies
dependencies:  ## install the system packages that are missing
	@scripts/install-dependencies.sh

.PHONY: build
build: dependencies  ## build the release binary
	$(SWIFT) build -c release --product aop

.PHONY: run
run: build  ## count the words of the licence texts on this machine, with real worker processes
	.build/release/aop run examples/word-count.yaml

.PHONY: examples
examples: build  ## run every example of examples/README.md
	for product in Duplicates DuplicatesWorker; do $(SWIFT) build -c release --product $$product || exit 1; done
	scripts/run-examples.sh "$$($(SWIFT) build -c release --show-bin-path)"

.PHONY: tour
tour: build  ## every command and screen on a run of 5,000 operations; writes docs/tour.md, and fails where it is not as told there
	scripts/tour.sh

.PHONY: site
site:  ## the documentation as a site that needs no network, with checked links, in .build/site; `make test` makes it, too
	scripts/site.sh

.PHONY: test
test: dependencies  ## build and run every test
	scripts/check-purity.sh
	scripts/check-format.sh
	scripts/check-doc-examples.sh
	scripts/check-links.sh
	scripts/check-examples.sh
	scripts/check-coverage.sh
	# Not all that can be built: that has compilers of others in it. Tests are found in the index, which would take a
	# fifth of the time were the modules of the system in it.
	$(SWIFT) build -Xswiftc -index-ignore-system-modules --product aoperation-clusterPackageTests
	scripts/check-determinism.sh
	scripts/run-tests.sh --filter '$(LIBRARY_TESTS)'
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=12 scripts/run-tests.sh --filter '$(MEMORY_TESTS)'
	AOP_TEST_LOAD=0.3 scripts/run-tests.sh --filter '$(SIMULATION_TESTS)' --skip '$(SIMULATED_LATER)'
	scripts/run-tests.sh --skip '$(LIBRARY_TESTS)' --skip '$(MEMORY_TESTS)' --skip '$(SIMULATION_TESTS)' --skip '$(SYSTEM_TESTS)'
	for product in $(RELEASE_PRODUCTS); do $(SWIFT) build -c release --product $$product || exit 1; done
	# The processes of these are as they are installed, and mostly wait for each other.
	AOP_TEST_PRODUCTS="$$($(SWIFT) build -c release --show-bin-path)" SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=18 \
		scripts/run-tests.sh --filter '$(SYSTEM_TESTS)'
	scripts/check-manuals.sh "$$($(SWIFT) build -c release --show-bin-path)/aop"
	scripts/site.sh
	scripts/check-api.sh "$$($(SWIFT) build -c release --show-bin-path)/aop"
	scripts/check-dashboard.sh "$$($(SWIFT) build -c release --show-bin-path)/aop"
	scripts/check-cluster.sh "$$($(SWIFT) build -c release --show-bin-path)/aop"
	scripts/check-deb.sh --test "$$($(SWIFT) build -c release --show-bin-path)/aop"
	scripts/check-release.sh
	# Each of them has one thread.
	$(MAKE) --jobs --output-sync=target check-instructions check-seeds check-planted

# Of more seeds than tests would take that are not optimised.
.PHONY: check-seeds
check-seeds:
	.build/release/aop-sim --complete --runs 1500

.PHONY: check-planted
check-planted:
	.build/release/aop-sim --planted

.PHONY: check-release
check-release: build  ## what only a release build shows: no method that the optimiser emptied, and the tour; `make test` ends with it
	scripts/check-release.sh

.PHONY: sanitize
sanitize: export AOP_TEST_LOAD = 0.05
sanitize: export AOP_STRESS_SEEDS ?= 5
# Swift keeps pointers with other bits in them, which the search for leaks does not see: tests watch what is released.
sanitize: export ASAN_OPTIONS ?= detect_leaks=0
sanitize: dependencies  ## run the local library's tests under the thread and the address sanitizer
	for kind in thread address; do \
		options="--sanitize $$kind --scratch-path .build/$$kind-sanitizer" && \
		$(SWIFT) build $$options --product aoperation-clusterPackageTests && \
		scripts/run-tests.sh $$options --filter '^AOperation(Combine)?Tests\.' || exit 1; \
	done

.PHONY: cluster
cluster:  ## a cluster in containers on this machine, and a graph through it; WORKERS=n (default 4)
	scripts/cluster.sh up

.PHONY: cluster-down
cluster-down:  ## remove the cluster in containers, with its keys and its journal
	scripts/cluster.sh down

.PHONY: check-cluster
check-cluster:  ## the acceptance test of the cluster in containers; `make test` runs it around the test build
	scripts/check-cluster.sh

.PHONY: deb
deb:  ## the Debian package, with the services
	scripts/build-deb.sh

.PHONY: check-deb
check-deb:  ## build the Debian package, and try it in containers; `make test` tries one around the test build
	scripts/check-deb.sh "$$(scripts/build-deb.sh)"

.PHONY: check-manuals
check-manuals:  ## manual pages and completions of the test build, read and tried by mandoc, groff, bash, zsh and fish where they are there
	scripts/check-manuals.sh "$$($(SWIFT) build --show-bin-path)/aop"

.PHONY: check-api
check-api:  ## the HTTP API and the metrics of the test build, tried by other people's tools
	scripts/check-api.sh

.PHONY: check-dashboard
check-dashboard:  ## the dashboard of the test build in a real browser, with screenshots in .build/screenshots
	scripts/check-dashboard.sh

.PHONY: screenshots
screenshots:  ## the same, and the pictures of docs/dashboard.md are written anew
	scripts/check-dashboard.sh .build/debug/aop .build/screenshots docs/images

.PHONY: check-flood
check-flood: dependencies  ## measure how much connections with garbage slow a client; FLOOD_SECONDS=n, FLOOD_PAIRS=n, FLOOD_RATE=n
	scripts/check-flood.sh

.PHONY: stress
stress: dependencies  ## repeat the local library's stress tests, and the scheduler's; SEEDS=n says how often (default 500); groups of a million
	AOP_STRESS_SEEDS=$(or $(SEEDS),500) AOP_STRESS_CHILDREN=1000000 $(SWIFT) test --filter 'StressTests|RandomLockTests|RetryScopeModelTests|DependencyCircleTests'

.PHONY: soak
soak: dependencies  ## simulate clusters in virtual time, each with faults of its own; RUNS=n (default 100000), SEED=n
	$(SWIFT) build -c release --product aop-sim
	.build/release/aop-sim --planted
	.build/release/aop-sim --complete --seed $(or $(SEED),1) --runs $(or $(RUNS),100000)

.PHONY: chaos
chaos: dependencies  ## kill and freeze real processes as often as the promises say, and print how long it took until work went on
	$(SWIFT) build -c release --product aop
	$(SWIFT) build -c release --product TrialWorker
	# Not all that can be built: that has compilers of others in it.
	$(SWIFT) build --product aoperation-clusterPackageTests
	for product in aop-sim aop-fuzz aop-count TrialFlood; do $(SWIFT) build --product $$product || exit 1; done
	AOP_CHAOS=long AOP_TEST_PRODUCTS="$$($(SWIFT) build -c release --show-bin-path)" AOP_TEST_LIMIT=10800 \
		scripts/run-tests.sh --filter 'SystemTests.Chaos'

.PHONY: check-scale
check-scale: dependencies  ## a graph of a million units, whose coordinator is killed in the middle, against its first targets; UNITS=n
	$(SWIFT) build -c release --product aop
	scripts/check-scale.sh .build/release/aop $(or $(UNITS),1000000)

.PHONY: fuzz
fuzz: dependencies  ## random inputs for what reads others' bytes; TARGET=name (default all), INPUTS=n (default 1000000), FUZZER=own
	scripts/fuzz.sh

.PHONY: check-corruption
check-corruption: export AOP_CORRUPTION_OFFSETS = $(or $(OFFSETS),10000)
check-corruption: export AOP_CORRUPTION_SEED = $(or $(SEED),1)
check-corruption: dependencies  ## damage a journal in many places, and start on it; OFFSETS=n (default 10000), SEED=n
	$(SWIFT) test --filter CorruptionTests.damageAnywhere

.PHONY: check-disk-faults
check-disk-faults: export AOP_DISK_FAULT_POINTS = $(or $(POINTS),60)
check-disk-faults: dependencies  ## let the disk of a real coordinator fail from the n-th call on; POINTS=n (default 60)
	$(SWIFT) test --filter SystemTests.DiskFaults

.PHONY: check-instructions
check-instructions: dependencies  ## count the instructions of fixed work, beside what it took; `make test` ends with it
	scripts/check-instructions.sh

.PHONY: format
format:  ## put the sources into the project's format
	$(SWIFT) format format --in-place --parallel $$(git ls-files '*.swift' | grep -v /Generated/)

.PHONY: install
install: build  ## install aop into PREFIX (default /usr/local)
	install -D -m 755 .build/release/aop $(DESTDIR)$(or $(PREFIX),/usr/local)/bin/aop

.PHONY: clean
clean:  ## remove what was built
	rm -rf .build
