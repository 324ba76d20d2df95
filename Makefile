# A script runner: each target is a few commands; what needs more than that is a script under tools/.

GO ?= go
PKGS = ./...
# Packages with goroutines of their own, run under the race detector.
RACE = ./kernel/... ./profiler/... ./magics/... ./internal/... ./cuda/...

.PHONY: build demo notebook install test test-go test-race test-jupyter test-browser lint bench bench-peers fuzz gpu-check clean

build: ## bin/gander
	$(GO) build -o bin/gander ./cmd/gander

demo: build ## run notebooks/quickstart.ipynb and make a page of it
	bin/gander doctor --warm >/dev/null || bin/gander doctor
	mkdir -p build
	bin/gander run notebooks/quickstart.ipynb -o build/quickstart.ipynb --html build/quickstart.html --cell-progress
	$(GO) run ./tools/showtable build/quickstart.ipynb
	@echo "executed notebook: $(CURDIR)/build/quickstart.ipynb"
	@echo "page:              $(CURDIR)/build/quickstart.html"

notebook: build ## open JupyterLab on the notebooks
	tools/notebook.sh

install: ## put gander on PATH and the kernel into Jupyter
	$(GO) install ./cmd/gander
	$$($(GO) env GOPATH)/bin/gander install

test: lint test-go test-race test-jupyter test-browser ## everything, set-up included
	@echo "all tests passed"

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not gofmt-clean:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet $(PKGS)
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 $(PKGS)
	cd notebooks && $(GO) vet ./...

test-go: build
	bin/gander doctor --warm
	GANDER_CHROMIUM=$$(tools/chromium.sh) $(GO) test -p 1 -timeout 40m $(PKGS) # one package at a time: many start processes
	cd notebooks && $(GO) test ./...

test-race: build
	$(GO) test -race -short -timeout 40m $(RACE)

test-jupyter: build
	tools/test-jupyter.sh

test-browser: build
	tools/test-browser.sh

bench: build ## figures of this machine; the kernel beside ipykernel, cells beside go build
	tools/bench.sh

bench-peers: build ## ratios against torch.profiler, HTA and the TensorBoard plugin (downloads PyTorch: 3 GB)
	tools/bench-peers.sh

fuzz: ## each fuzz target for FUZZTIME (default 1m)
	tools/fuzz.sh

gpu-check: ## one folder that checks everything CUDA on a GPU machine
	tools/gpu-check.sh

clean:
	rm -rf bin build
