#pragma once

#include <span>

#include "models/core/model_kind.h"

namespace millrace::models {

// How to load the kinds of kinds.inc. Lives as long as the process. Needs libtorch.
std::span<const ModelLoader* const> BuiltInLoaders();

}  // namespace millrace::models
