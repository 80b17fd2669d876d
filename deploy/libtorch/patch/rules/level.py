"""The exported function that says which patch a libtorch has."""

from ..rule import Edit, Rule

PATCH_LEVEL = 1

RULES = (
    Rule(
        name="patch-level",
        why="libtorch has no version that tells a patched build from a stock one. Millrace looks names up in the library that is loaded, so "
            "the patch exports one: int millrace_mps_patch_level(), which returns the level.",
        upstream=(),
        edits=(
            Edit("aten/src/ATen/mps/MPSStream.mm", "MPSStreamImpl::MPSStreamImpl() {}", f"""\
MPSStreamImpl::MPSStreamImpl() {{}}

// [millrace patch-level] Which rules of deploy/libtorch/patch this library has; programs look it up by name.
extern "C" __attribute__((visibility("default"), used)) int millrace_mps_patch_level() {{
  return {PATCH_LEVEL};
}}"""),
        ),
    ),
)
