package tracegen

import "fmt"

// step writes one training step: inputs copied to the device, a forward pass, a backward pass on a thread of its own, an
// update, and a synchronisation.
func (g *generator) step(n int, opt Options) {
	start := g.now
	g.now += g.between(1_000, 5_000)
	g.copyIn(g.between(1<<20, 1<<24))
	forward := make([]forwardOp, 0, opt.Layers)
	for i := range opt.Layers {
		forward = append(forward, g.layer(i%operators, opt.Python))
	}
	g.backward(forward)
	if n%10 == 9 {
		g.collective()
	}
	g.synchronise()
	g.complete("user_annotation", fmt.Sprintf("ProfilerStep#%d", n), pid, mainTID, start, g.now-start,
		fmt.Sprintf(`"External id": %d,"Record function id": 0, "Ev Idx": %d`, g.take(), g.next()))
	g.tot.Steps++
	g.now += g.between(500, 2_000)
}

func (g *generator) take() int64 { g.id++; return g.id - 1 }

// forwardOp is what the backward pass refers to.
type forwardOp struct{ seq, at int64 }

// layer writes an operator that calls another one, which launches a kernel.
func (g *generator) layer(kind int, python bool) forwardOp {
	l := &layers[kind]
	start := g.now
	outerID, innerID := g.take(), g.take()
	outerIdx, innerIdx := g.next(), g.next()
	g.now += g.between(800, 3_000)
	opStart := g.now
	g.now += g.between(1_000, 4_000)
	innerStart := g.now
	g.now += g.between(500, 2_000)
	g.memory(g.now, 64*4096*4)
	g.launch(innerID, l.kernel, g.between(4_000, 90_000), "")
	g.now += g.between(300, 1_500)
	seq := g.seq
	g.seq++
	args := func(id, idx int64) string {
		return fmt.Sprintf(`"External id": %d,"Record function id": 0, "Concrete Inputs": ["", "", ""], "Input type": %s, "Input Strides": [[1024, 1], [1024, 1], []], "Input Dims": %s, "Sequence number": %d, "Fwd thread id": 0, "Ev Idx": %d`,
			id, l.types, l.dims, seq, idx)
	}
	g.complete("cpu_op", l.inner, pid, mainTID, innerStart, g.now-innerStart, args(innerID, innerIdx))
	g.now += g.between(200, 900)
	g.complete("cpu_op", l.op, pid, mainTID, opStart, g.now-opStart, args(outerID, outerIdx))
	g.memory(g.now, -64*4096*4)
	if python {
		g.now += g.between(500, 1_500)
		for depth := range 4 {
			id := g.python
			g.python++
			g.complete("python_function", fmt.Sprintf("torch/nn/modules/module_%d.py(%d): _call_impl", depth, 1500+kind), pid, mainTID, start+int64(depth)*100, g.now-start-int64(depth)*150,
				fmt.Sprintf(`"Python parent id": %d, "Python id": %d, "Ev Idx": %d`, max(0, id-1), id, g.next()))
		}
	}
	return forwardOp{seq, opStart}
}

// launch writes a runtime call, the kernel it launches and the arrow between them.
func (g *generator) launch(external int64, kernel string, dur int64, more string) {
	call := g.now
	g.now += g.between(2_500, 7_000)
	corr := g.take()
	g.complete("cuda_runtime", "cudaLaunchKernel", pid, mainTID, call, g.now-call,
		fmt.Sprintf(`"External id": %d, "cbid": 211, "correlation": %d`, external, corr))
	at := max(g.now+g.between(500, 3_000), g.gpu)
	g.gpu = at + dur + g.between(300, 1_500)
	grid := g.between(1, 64)
	g.complete("kernel", kernel, device, stream, at, dur, fmt.Sprintf(
		`"External id": %d, "queued": 0, "device": %d, "context": 1, "stream": %d, "correlation": %d, "registers per thread": 32, "shared memory": 0, "blocks per SM": %g, "warps per SM": %g, "grid": [%d, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %%": %d%s`,
		external, device, stream, corr, float32(grid)/108, float32(grid)/27, grid, g.between(1, 100), more))
	g.flow("ac2g", corr, mainTID, call, device, stream, at)
}

func (g *generator) copyIn(bytes int64) {
	call := g.now
	g.now += g.between(4_000, 12_000)
	external, corr := g.take(), g.take()
	g.complete("cpu_op", "aten::copy_", pid, mainTID, call-500, g.now-call+700, fmt.Sprintf(`"External id": %d, "Ev Idx": %d`, external, g.next()))
	g.complete("cuda_runtime", "cudaMemcpyAsync", pid, mainTID, call, g.now-call, fmt.Sprintf(`"External id": %d, "cbid": 41, "correlation": %d`, external, corr))
	at := max(g.now+1_000, g.gpu)
	dur := bytes/20 + 1
	g.gpu = at + dur + 1_000
	g.complete("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", device, stream, at, dur, fmt.Sprintf(
		`"External id": %d, "device": %d, "context": 1, "stream": %d, "correlation": %d, "bytes": %d, "memory bandwidth (GB/s)": %g`, external, device, stream, corr, bytes, float64(bytes)/float64(dur)))
	g.flow("ac2g", corr, mainTID, call, device, stream, at)
	g.now += 1_000
}

// backward writes one operator for each of the forward pass, last one first, tied to it by its sequence number.
func (g *generator) backward(forward []forwardOp) {
	for i := len(forward) - 1; i >= 0; i-- {
		f := forward[i]
		start := g.now
		g.now += g.between(3_000, 12_000)
		g.complete("cpu_op", "autograd::engine::evaluate_function: Backward0", pid, gradTID, start, g.now-start, fmt.Sprintf(
			`"External id": %d,"Record function id": 0, "Sequence number": %d, "Fwd thread id": 1, "Ev Idx": %d`, g.take(), f.seq, g.next()))
		g.flow("fwdbwd", f.seq+1, mainTID, f.at, pid, gradTID, start)
		g.now += g.between(100, 600)
	}
}

func (g *generator) collective() {
	external := g.take()
	at := g.gpu
	g.launch(external, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", g.between(100_000, 400_000),
		`, "Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "Group size": 8, "dtype": "Float", "Process Group Name": "0"`)
	g.complete("gpu_user_annotation", "nccl:all_reduce", device, stream, at, g.gpu-at, fmt.Sprintf(`"External id": %d`, external))
}

func (g *generator) synchronise() {
	start := g.now
	g.now = max(g.now+2_000, g.gpu+1_000)
	g.complete("cuda_runtime", "cudaDeviceSynchronize", pid, mainTID, start, g.now-start, fmt.Sprintf(`"External id": 0, "cbid": 165, "correlation": %d`, g.take()))
}

func (g *generator) metadata() {
	note := func(name string, pid, tid int64, key, value string) {
		g.event("\"name\": %q, \"ph\": \"M\", \"ts\": 0.000, \"pid\": %d, \"tid\": %d,\n    \"args\": {\n      %q: %s\n    }", name, pid, tid, key, value)
	}
	note("process_name", pid, 0, "name", `"python3"`)
	note("process_labels", pid, 0, "labels", `"CPU"`)
	note("process_sort_index", pid, 0, "sort_index", fmt.Sprint(pid))
	note("process_name", device, 0, "name", `"python3"`)
	note("process_labels", device, 0, "labels", `"GPU 0"`)
	note("process_sort_index", device, 0, "sort_index", "5000000")
	note("thread_name", device, stream, "name", `"stream 7"`)
	note("thread_name", pid, mainTID, "name", fmt.Sprintf(`"thread %d (python3)"`, mainTID))
	note("thread_name", pid, gradTID, "name", fmt.Sprintf(`"thread %d (pt_autograd_0)"`, gradTID))
	g.event("\"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", \"tid\": \"Trace PyTorch Profiler\", \"ts\": %s", us(1_000_000))
	g.event("\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": %s", us(g.now))
}
