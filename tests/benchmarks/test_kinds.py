"""Time is counted once, under the kind of what spent it."""

import pytest
from kinds import kind_of, shares_by_kind
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

from embedlab.cpu.attention import FilledAttention

GEMM = "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNT"
ADAMW = (
    "void at::native::(anonymous "
    "namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4, (ADAM_MODE)1, "
    "false>>(int)"
)
COPY = "Memcpy HtoD (Pinned -> Device)"
STEP = "Optimizer.step#AdamW.step"


def event(
    number: int,
    name: str,
    begin: int,
    end: int,
    *,
    on: DeviceType = DeviceType.CUDA,
    is_annotation: bool = False,
) -> FunctionEvent:
    """An event as torch makes it of what the profiler recorded; times in microseconds."""
    return FunctionEvent(
        number,
        name,
        thread=1,
        start_us=begin,
        end_us=end,
        stack=[],
        use_device="cuda",
        device_type=on,
        is_user_annotation=is_annotation,
    )


def averages(*recorded: FunctionEvent) -> list[FunctionEventAvg]:
    listed = EventList(recorded, use_device="cuda")
    listed._build_tree()
    return list(listed.key_averages())


def on_gpu() -> list[FunctionEventAvg]:
    """A product of 60 µs, the optimizer of 30 and a copy of 10; what started the product and the
    optimizer bears their time too.
    """
    product = event(1, "aten::addmm", 0, 8, on=DeviceType.CPU)
    product.append_kernel(GEMM, 0, 60)
    span = event(2, STEP, 10, 22, on=DeviceType.CPU, is_annotation=True)
    step = event(3, "aten::_fused_adamw_", 12, 20, on=DeviceType.CPU)
    step.append_kernel(ADAMW, 0, 30)
    kernels = (
        event(4, GEMM, 100, 160),
        event(5, ADAMW, 170, 200),
        event(6, COPY, 200, 210),
        event(7, STEP, 165, 205, is_annotation=True),
    )
    return averages(product, span, step, *kernels)


def test_kernels_count_once_and_what_started_them_does_not() -> None:
    found = on_gpu()
    assert (
        sum(one.self_device_time_total for one in found) == 230
    )  # what torch recorded, counted as it comes
    assert shares_by_kind(found, is_on_gpu=True) == {
        "matrix products": 0.6,
        "optimizer": 0.3,
        "memory": 0.1,
    }


def test_a_replayed_graph_counts_by_its_kernels_alone() -> None:
    launch = event(1, "cudaGraphLaunch", 0, 5, on=DeviceType.CPU)
    found = averages(
        launch,
        event(2, GEMM, 10, 40),
        event(3, "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<>", 40, 50),
    )
    assert shares_by_kind(found, is_on_gpu=True) == {"matrix products": 0.75, "dropout": 0.25}


def test_on_a_processor_operators_count_by_their_own_time() -> None:
    layer = event(1, "aten::layer_norm", 0, 40, on=DeviceType.CPU)
    inner = event(2, "aten::addmm", 10, 40, on=DeviceType.CPU)
    assert shares_by_kind(averages(layer, inner), is_on_gpu=False) == {
        "matrix products": 0.75,
        "layer norm": 0.25,
    }


def test_nothing_recorded_has_no_shares() -> None:
    assert (
        shares_by_kind(averages(event(1, "aten::addmm", 0, 8, on=DeviceType.CPU)), is_on_gpu=True)
        == {}
    )


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (GEMM, "matrix products"),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas", "matrix products"),
        ("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nt", "matrix products"),
        (
            "void "
            "cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_64x1_tn_align8>(Params)",
            "matrix products",
        ),
        (
            "void cublasLt::splitKreduce_kernel<32, 16, int, float, __nv_bfloat16>",
            "matrix products",
        ),
        (
            "fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>::Params)",
            "attention",
        ),
        (
            "void "
            "pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits>",
            "attention",
        ),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3x64x64", "attention"),
        (
            "void (anonymous namespace)::softmax_warp_forward<float, float, float, 2, true, false>",
            "attention",
        ),
        (ADAMW, "optimizer"),
        (
            "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, "
            "float, false>",
            "layer norm",
        ),
        (
            "void at::native::(anonymous "
            "namespace)::GammaBetaBackwardCUDAKernelTemplate<float, float, 64, 1>",
            "layer norm",
        ),
        (
            "void at::native::(anonymous namespace)::indexSelectLargeIndex<float, long, "
            "unsigned int, 2, 2, -2, true>",
            "embeddings",
        ),
        (
            "void at::native::(anonymous "
            "namespace)::embedding_backward_feature_kernel<float, float, long>",
            "embeddings",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, "
            "at::native::GeluCUDAKernelImpl(at::TensorIteratorBase&)>",
            "activation",
        ),
        (
            "void at::native::vectorized_elementwise_kernel<4, "
            "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)>",
            "memory",
        ),
        ("Memset (Device)", "memory"),
        (
            "void at::native::vectorized_elementwise_kernel<4, "
            "at::native::CUDAFunctor_add<c10::BFloat16>>",
            "elementwise",
        ),
        (
            "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<c10::BFloat16, "
            "sum_functor<c10::BFloat16>>>",
            "reductions",
        ),
    ],
)
def test_a_kernel_is_known_by_its_name(kernel: str, kind: str) -> None:
    assert kind_of(kernel, is_kernel=True) == kind


@pytest.mark.parametrize(
    ("operator", "kind"),
    [
        (FilledAttention.__name__, "attention"),
        (f"{FilledAttention.__name__}Backward", "attention"),
        ("aten::_scaled_dot_product_flash_attention_for_cpu", "attention"),
        ("aten::bmm", "attention"),
        ("aten::mm", "matrix products"),
        ("mkldnn::_linear_pointwise", "matrix products"),
        ("aten::fill_", "memory"),
    ],
)
def test_an_operator_is_known_by_its_name(operator: str, kind: str) -> None:
    assert kind_of(operator, is_kernel=False) == kind
