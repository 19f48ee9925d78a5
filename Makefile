# The two entry commands:  make demo   what failed cables cost on a real fabric, in minutes
#                          make test   every test: Rust, Python, end to end
# The daily ones:          make check  formats, lints, types        make bench  measured comparisons
#                          make papers the papers' tables, compared     make docs   API documentation

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
C      := $(shell find mpi -name '*.[ch]' 2>/dev/null)
RUST   := $(shell find crates -name '*.rs' -not -path '*/target/*' 2>/dev/null)
# Whoever built in a shell with an active environment must not have it taken for ours.
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
unexport CONDA_PREFIX PYTHONPATH

.PHONY: demo test check bench papers papers-full soak mpi wheel test-mpi-soak test-mpi-suite docs fmt fuzz clean

demo: $(VENV)/.built
	@$(BIN)/runflat study run examples/1_what_failed_cables_cost.toml -o out/demo --fresh

# libfabric's transport, which a single machine does not use, reads all symbols of the kernel in each process: 1 s of each job.
test test-mpi-soak: export OMPI_MCA_btl := ^ofi

test: $(VENV)/.built $(VENV)/.dev
	cargo test --workspace --exclude runflat-bindings --locked
	$(BIN)/pytest --numprocesses auto --maxprocesses 8 --dist loadfile

check: $(VENV)/.built $(VENV)/.dev
	@rustfmt --check --edition 2024 --config-path . $(RUST)
	cargo clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked --quiet
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@$(BIN)/clang-format --dry-run --Werror $(C)
	$(BIN)/mypy
	cd python && $(abspath $(BIN))/python -m mypy.stubtest runflat._core

bench: $(VENV)/.built $(VENV)/.dev
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/opensm.py
	$(BIN)/python bench/flit.py
	$(BIN)/python bench/spares.py
	$(BIN)/python bench/caminos.py
	$(BIN)/python bench/mpi.py

# The papers' figures and tables, each compared with its record; `papers-full` takes every sample and walks it again.
TABLE2 := papers/hoefler-domke-2014/table2
RESULTS := papers/hoefler-domke-2014/results
SPARES := papers/hori-2016
papers: $(VENV)/.built
	@for plan in plan:expected failed-links:failed-links failed-switches:failed-switches; do \
	  $(BIN)/runflat study run $(TABLE2)/$${plan%%:*}.toml -o out/table2/$${plan%%:*} --json >/dev/null \
	  && $(BIN)/python $(TABLE2)/table.py out/table2/$${plan%%:*} $${plan##*:}.csv || exit 1; done
	$(BIN)/python $(SPARES)/exact.py --failures 3
	$(BIN)/python $(SPARES)/worst.py --failures 3

papers-full: papers $(VENV)/.dev
	RUNFLAT_SAMPLES=10 $(BIN)/pytest tests/papers
	$(BIN)/runflat study run $(TABLE2)/simulated.toml -o out/results/simulated
	$(BIN)/python $(RESULTS)/table.py out/results/simulated ../table2/simulated.csv
	@for plan in 1-balanced-tree 2-unbalanced-tree 3-mesh 5-larger case-1-tsubame2 case-1-tsubame2-exchange \
	    case-2-deimos case-2-deimos-exchange; do \
	  $(BIN)/runflat study run $(RESULTS)/$$plan.toml -o out/results/$$plan \
	  && $(BIN)/python $(RESULTS)/table.py out/results/$$plan $$plan.csv || exit 1; done
	$(BIN)/python $(SPARES)/exact.py && $(BIN)/python $(SPARES)/collectives.py && $(BIN)/python $(SPARES)/beyond.py
	$(BIN)/python $(SPARES)/worst.py
	@for plan in figure10 figure11 figure12 figure13 figure16 figure18 fat-tree optimal-10 optimal-24; do \
	  $(BIN)/runflat spares run $(SPARES)/$$plan.toml -o out/spares/$$plan \
	  && $(BIN)/python $(SPARES)/table.py out/spares/$$plan $$plan.csv || exit 1; done
	$(BIN)/python papers/bouteiller-2022/figures.py --rounds 3 && $(BIN)/python papers/bouteiller-2022/plot.py out/bouteiller-2022

# The packet engine of the flit simulation against the flit engine, 1,000 random networks (`make test`: 60).
soak:
	RUNFLAT_SEEDS=1000 cargo test --release --locked -p runflat-core flit::tests

# What `runflat mpi run` needs: the policies of spares, and the recovery library for the MPI beside this Python.
mpi: $(VENV)/.built $(VENV)/.dev
	cargo build --release --locked -p runflat-policy
	@$(BIN)/runflat mpi build

# A wheel with all that `runflat mpi` needs beside the Python package: the recovery library's sources, which `runflat mpi build` compiles
# with the user's MPI, and the policies of spares. They stand in the package only while it is packed.
STAGED := python/runflat/_mpi python/runflat/_policy
wheel: $(VENV)/.built $(VENV)/.dev
	cargo build --release --locked -p runflat-policy
	rm -rf $(STAGED) && mkdir -p $(STAGED)
	cp -r mpi/CMakeLists.txt mpi/src mpi/include mpi/examples python/runflat/_mpi/
	cp -r crates/policy/include python/runflat/_mpi/policy_include
	strip --strip-unneeded -o python/runflat/_policy/librunflat_policy.so target/release/librunflat_policy.so
	$(BIN)/maturin build --release --locked --out out/wheel; status=$$?; rm -rf $(STAGED); exit $$status

# MPI jobs that lose processes, at random moments of every phase, 20 times each (`make test`: a sample); 500 jobs that shrink
# many communicators at once; half an hour in which nobody dies. Hours: it goes on with what the record lacks, and begins again
# when a source of the library changes.
SOAK := $(CURDIR)/bench/mpi_soak.jsonl
test-mpi-soak: $(VENV)/.built $(VENV)/.dev
	@cd tests && status=0; \
	for part in "matrix --ranks 8 --beside 2" "matrix --ranks 4 --beside 3" "soak shrinks" "matrix --ranks 32" "soak quiet"; do \
	  $(abspath $(BIN))/python -m mpi_jobs.$$part --record $(SOAK) || status=1; done; exit $$status

# mpi4py's own test suite with the library and without; half an hour. pip fetches its sources.
test-mpi-suite: $(VENV)/.built $(VENV)/.dev
	cd tests && $(abspath $(BIN))/python -m mpi_jobs.suite --folder ../out/mpi4py --record $(CURDIR)/bench/mpi4py_suite.json

docs:
	cargo doc --workspace --no-deps --locked

fmt: $(VENV)/.dev
	@rustfmt --edition 2024 --config-path . $(RUST)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/clang-format -i $(C)

fuzz:
	crates/core/fuzz/seed.sh
	cd crates/core && cargo +nightly fuzz run parse_fabric -- -max_total_time=600 \
	  -dict=fuzz/parse_fabric.dict -rss_limit_mb=4096 -timeout=20
	cd crates/core && cargo +nightly fuzz run parse_tables -- -max_total_time=300 \
	  -rss_limit_mb=4096 -timeout=20

clean:
	rm -rf target $(VENV) out

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "runflat needs Python 3.11 or newer; say which: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@command -v cargo >/dev/null || { echo "runflat needs Rust 1.89 or newer: https://rustup.rs"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo "Python's venv is missing: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The build: a release wheel's worth of Rust, straight into the environment.
$(VENV)/.built: $(VENV)/bin/python pyproject.toml Cargo.toml Cargo.lock $(RUST) crates/core/Cargo.toml crates/bindings/Cargo.toml
	@test -x $(BIN)/maturin || $(BIN)/pip install --quiet --disable-pip-version-check 'maturin==1.16.0'
	@echo "building runflat (a few minutes the first time; log: $(VENV)/build.log)"
	@$(BIN)/maturin develop --release --locked >$(VENV)/build.log 2>&1 || { tail -30 $(VENV)/build.log; exit 1; }
	@touch $@

$(VENV)/.dev: $(VENV)/.built pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check $$($(BIN)/python -c \
	  'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["dev"])')
	@touch $@
