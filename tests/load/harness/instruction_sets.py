"""Instruction sets of the CPU that a measurement may be limited to, so that a machine shows what lesser ones do."""

import os

# By the name of the daemon's --cpu-isa: the variables by which peers, and the libraries that they use, are limited to the same.
# onnxruntime has none: it always uses what the processor has.
VARIABLES = {
    "portable": {"ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
                 "CT2_FORCE_CPU_ISA": "GENERIC"},
    "avx2": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "CT2_FORCE_CPU_ISA": "AVX2"},
    "avxvnni": {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2_VNNI", "MKL_ENABLE_INSTRUCTIONS": "AVX2", "CT2_FORCE_CPU_ISA": "AVX2"},
    "avx512": {"ATEN_CPU_CAPABILITY": "avx512", "ONEDNN_MAX_CPU_ISA": "AVX512_CORE_BF16", "MKL_ENABLE_INSTRUCTIONS": "AVX512",
               "CT2_FORCE_CPU_ISA": "AVX512"},
}


def limit_peers(isa):
    """For all processes that are started from here on."""
    os.environ.update(VARIABLES[isa])


def suffix(isa):
    """What tells names of files and sections of a limited run apart from those of a full one."""
    return "" if isa is None else f"-{isa}"


def multiplies_bfloat16(isa, flags):
    """Whether the daemon takes a model of PRECISION_BFLOAT16 on a processor with these flags of /proc/cpuinfo."""
    return isa not in ("portable", "avx2", "avxvnni") and "avx512_bf16" in flags
