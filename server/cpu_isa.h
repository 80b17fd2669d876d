#pragma once

#include <optional>

#include "absl/status/status.h"
#include "models/kernels/instruction_set.h"

namespace millrace::server {

// Limits the instruction sets that our kernels, ATen, oneDNN and MKL use in this process and its
// children; without a limit, changes nothing. Returns an error if the processor lacks the set. Must
// be called before any of them computes and before threads read the environment.
absl::Status LimitCpuIsa(std::optional<kernels::InstructionSet> limit);

}  // namespace millrace::server
