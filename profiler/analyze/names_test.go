package analyze

import "testing"

// TestTensorCoreNames has names of kernels as profiles of today show them, and names beside them that use no tensor cores.
func TestTensorCoreNames(t *testing.T) {
	for name, want := range map[string]bool{
		"volta_h884gemm_64x64_ldg8_nn":                                                                               true,
		"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn":                                                 true,
		"cutlass_80_tensorop_s1688gemm_64x64_16x6_tn_align4":                                                         true,
		"cutlass3x_sm90_tensorop_h64x128x16gemm_f16_f16_f16_void_f16_":                                               true,
		"cutlass3x_sm100_simt_sgemm_f32_f32_f32_f32_f32_128x64x16_1x1x1_3_tnn":                                       false,
		"sm90_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize128x128x64_cublas":                                            true,
		"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN":                                                                  true,
		"nvjet_sm100_tst_64x32_64x16_2x1_2cta_h_bz_TNT":                                                              true,
		"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<>":                                   true,
		"void cutlass::device_kernel<flash::FlashAttnBwdPreprocess<cute::tuple<>":                                    false,
		"void cutlass::device_kernel<flash::FlashAttnFwdCombine<cute::tuple<>":                                       false,
		"kernel_cutlass_kernel_flash_attncuteflash_fwd_sm100FlashAttentionForwardSm100_object":                       true,
		"_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalINS1_35MainloopSm100TmaUmmaWarpSpecializedILi13E":  true,
		"void cutlass::device_kernel<at::cuda::detail::enable_3x_kernel_for_sm9x<MainloopSm90TmaGmmaWarpSpecialized": true,
		"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x64":                               true,
		"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>":                                      true,
		"fmha_cutlassF_bf16_aligned_64x64_rf_sm80":                                                                   true,
		"fmhaSm100fKernel_QkvBfloat16OBfloat16H128PagedKvCausalP64":                                                  true,
		"fmhaReductionKernel": false,
		"void cublasLt::splitKreduce_kernel<32, 16, int, __nv_bfloat16>": false,
		"ampere_sgemm_128x64_tn":                                   false,
		"triton_poi_fused_add_0":                                   false,
		"void at::native::vectorized_elementwise_kernel<4, float>": false,
		"saxpy": false,
	} {
		if got := containsAny(name, tensorCoreMarksNow); got != want {
			t.Errorf("%s: tensor cores %v, want %v", name, got, want)
		}
	}
}
