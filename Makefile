# Thin: CMakeLists.txt and CMakePresets.json say what is built, tools/ has what is done.
.DEFAULT_GOAL := help
.PHONY: run test asan-build tsan-build wheel deb notebooks test-tensorboard bench bench-trees bench-communication format lint hooks asan tsan fuzz clean help

# ccache where there is one, for all clones alike; in CI warnings are errors.
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(shell command -v ccache)
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
CONFIGURE = cmake -Wno-dev --log-level=NOTICE -DPODERE_WERROR=$(if $(CI),ON,OFF) --preset
BUILD = cmake --build --preset

run:  ## set up, build, train on real and on generated collision events, name micrographs
	@tools/setup.sh build
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere podere_core
	@tools/main_job.sh

test:  ## set up, build, run all tests
	@tools/setup.sh build test web kubernetes
	@$(CONFIGURE) release -DBUILD_TESTING=ON
	@$(BUILD) release
	@ctest --preset release

wheel:  ## a wheel of the program and the Python package, for Debian's Python, in dist/
	@tools/setup.sh build package
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere podere_core
	@packaging/wheel.sh build/release dist

deb:  ## a Debian package of the program and the Python package, in dist/
	@tools/setup.sh build package
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere podere_core
	@packaging/deb.sh build/release dist

test-tensorboard:  ## what --tensorboard writes, in the newest TensorBoard (of PyPI) and a real browser
	@tools/setup.sh build tensorboard
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere
	@tests/tensorboard/run.sh build/release/bin/podere

bench:  ## measure reading, generating and starting, beside the peers
	@tools/setup.sh build bench
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release
	@bench/run.sh

bench-trees:  ## measure boosted trees beside the peers (PARTS=quick: 3 minutes; bench/trees.sh names all)
	@tools/setup.sh build bench
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere
	@bench/peers.sh
	@bench/trees.sh $(PARTS)

bench-communication:  ## measure and model what the network costs (PARTS="predict check"; bench/communication.py --help)
	@tools/setup.sh build network
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere communication_bench
	@bench/communication.py $(PARTS)

notebooks:  ## run the notebooks and store what they show
	@tools/setup.sh build test
	@$(CONFIGURE) release -DBUILD_TESTING=OFF
	@$(BUILD) release --target podere podere_core
	@PYTHONPATH=build/release/python tools/run_notebooks.py
	@PYTHONPATH=build/release/python $$(tests/spark/environment.sh) tools/run_notebooks.py notebooks/9_spark.ipynb

format:  ## rewrite sources as .clang-format says
	@tools/setup.sh test
	@git ls-files -z '*.h' '*.cc' | xargs -0 clang-format-14 -i

lint:  ## check formatting, floors of rooms, words, the Python package, and what clang-tidy finds
	@tools/setup.sh build test
	@$(CONFIGURE) lint -DBUILD_TESTING=ON
	@$(BUILD) lint --target podere_event_proto podere_arrow_format_header
	@tools/lint.sh build/lint

hooks:  ## let git check formatting and floors of what is staged before each commit
	@git config core.hooksPath tools/hooks

asan-build tsan-build:
	@tools/setup.sh build test
	@$(CONFIGURE) $(@:-build=)
	@$(BUILD) $(@:-build=)

asan: asan-build  ## tests of parts, and of the command line those of bad input and failures, with the sanitizers of memory
	@ctest --preset asan

tsan: tsan-build  ## the tests of threads and ranks under the thread sanitizer
	@ctest --preset tsan

fuzz:  ## every fuzz target for FUZZ_SECONDS (60) each
	@tools/setup.sh build test
	@$(CONFIGURE) asan
	@$(BUILD) asan --target fuzzers
	@tools/fuzz.sh build/asan

clean:  ## remove all that was built
	@rm -rf build

help:  ## show this list
	@sed -nE 's/^([a-z-]+): .*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 21
