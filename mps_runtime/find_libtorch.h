#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "mps_runtime/provenance.h"

namespace millrace::runtime {

// Returns the version of libtorch's headers that this was compiled with, such as "2.15.0".
std::string LibtorchCompiledAgainst();

// Returns the libtorch that a program with this one's library path would load, without loading it,
// which takes a quarter of a second. Version and revision are read from files of the library's
// distribution beside it. Sets the four fields about libtorch. Empty if the search path or those
// files cannot be read: then ReadLibtorchProvenance must load the library.
std::optional<Provenance> FindLibtorch();

// Returns the same for a library whose path is known, such as "/opt/libtorch/lib/libtorch_cpu.so".
std::optional<Provenance> DescribeLibtorch(const std::filesystem::path& library);

}  // namespace millrace::runtime
