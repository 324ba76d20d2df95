package analyze

import "strings"

// The names by which the TensorBoard plugin knows what an event is.

// commOp reports whether name is a collective of NCCL or Gloo as torch annotates it.
func commOp(name string) bool { return ncclOp(name) || glooOp(name) }

func ncclOp(name string) bool { return strings.HasPrefix(name, "nccl:") && collective(name[5:]) }
func glooOp(name string) bool { return strings.HasPrefix(name, "gloo:") && collective(name[5:]) }

func collective(name string) bool {
	switch name {
	case "broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter":
		return true
	}
	return false
}

// dataLoader reports whether name is the wait for a batch.
func dataLoader(name string) bool {
	return strings.HasPrefix(name, "enumerate(DataLoader)#") && strings.HasSuffix(name, ".__next__") ||
		strings.HasPrefix(name, "enumerate(DataPipe)#")
}

// collectiveAs reports whether name is a collective by convention c: the plugin knows five, Exact takes every operation that
// torch annotates for a backend (all_to_all, send, recv, barrier, coalesced forms).
func collectiveAs(name string, c Convention) bool {
	if c == Plugin {
		return commOp(name)
	}
	return strings.HasPrefix(name, "nccl:") || strings.HasPrefix(name, "gloo:")
}

// excludedOp reports whether name is a range that the operator view leaves out although it may be filed as an operator.
func excludedOp(name string) bool {
	return name == "DataParallel.forward" || name == "DistributedDataParallel.forward" ||
		strings.HasPrefix(name, "Optimizer.") || dataLoader(name)
}

// tensorCoreMarks are the parts of kernel names by which the plugin knows tensor cores. The list ends with Ampere.
var tensorCoreMarks = []string{
	"h884", "s884", "h1688", "s1688", "hmma", "i8816", "16816", "dgrad_1x1_stride_2x2", "first_layer_wgrad_kernel", "conv1x1",
	"conv2d_c1_k1", "direct_group", "xmma_implicit_gemm", "xmma_sparse_conv", "xmma_warp_specialized_implicit_gemm",
	"xmma_gemm", "xmma_sparse_gemm", "c1688",
}

// tensorCoreMarksNow add what came later: CUTLASS 2 and 3 for Hopper (Gmma) and Blackwell (Umma, Sm120), cuBLASLt's nvjet, cuDNN 9's
// and PyTorch's fused attention, FlashAttention 2, 3 (FlashAttnFwdSm90) and 4 (FlashAttentionForwardSm100), TensorRT-LLM's attention and
// batched products, DeepGEMM, Marlin, AMD's. They are parts of names that these libraries' public sources make and that
// public profiles show. Triton kernels do not say in their names what they use; FlashAttention 3's passes before and after do not match.
var tensorCoreMarksNow = append([]string{
	"wgmma", "gmma", "tensorop", "wmma", "tcgen05", "sm90_xmma", "sm100_xmma", "nvjet", "flash_fwd", "flash_bwd", "fmha_cutlass",
	"cudnn_generated_fort_native_sdpa", "xmma_fprop", "xmma_dgrad", "xmma_wgrad", "imma", "qmma", "device_kernel<cutlass",
	"Gmma", "Umma", "MainloopSm120", "FlashAttnFwdSm", "FlashAttnBwdSm", "FlashAttentionForward", "FlashAttentionBackward", "fmhaSm", "fmha_v2",
	"bmm_Bfloat16_", "bmm_E4m3_", "bmm_E2m1_", "deep_gemm::", "marlin::Marlin", "Cijk_", "MT16x16x", "mfma",
}, tensorCoreMarks...)

func containsAny(name string, marks []string) bool {
	for _, m := range marks {
		if strings.Contains(name, m) {
			return true
		}
	}
	return false
}

// tensorCoreOps are the operators that autocast runs in half precision, and their backward forms.
var tensorCoreOps = map[string]bool{}

func init() {
	for _, n := range strings.Fields(`_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d
		conv_transpose3d convolution cudnn_convolution cudnn_convolution_transpose prelu addmm addmv addr matmul mm mv linear
		addbmm baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell
		rnn_tanh_cell rnn_relu_cell cudnn_convolution_backward cudnn_convolution_transpose_backward
		cudnn_convolution_backward_input cudnn_convolution_transpose_backward_input cudnn_convolution_backward_weight
		cudnn_convolution_transpose_backward_weight`) {
		tensorCoreOps["aten::"+n] = true
	}
}
