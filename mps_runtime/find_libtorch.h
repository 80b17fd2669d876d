#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mps_runtime/provenance.h"

namespace millrace::runtime {

// The version of libtorch's headers that this was compiled with, such as "2.15.0".
std::string LibtorchCompiledAgainst();

// The libtorch that a program with this one's library path would load, found without loading it,
// which takes a quarter of a second. Its version and revision are those that the library's
// distribution states in files beside it. Sets the four fields about libtorch. Empty where the
// search path or those files cannot be read: ReadLibtorchProvenance loads the library and tells.
std::optional<Provenance> FindLibtorch();

// The same for a library whose path is known, such as "/opt/libtorch/lib/libtorch_cpu.so".
std::optional<Provenance> DescribeLibtorch(const std::filesystem::path& library);

}  // namespace millrace::runtime
