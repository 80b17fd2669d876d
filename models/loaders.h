#pragma once

#include <span>

#include "models/core/model_kind.h"

namespace millrace::models {

// The loaders of the kinds of kinds.inc. The list lives as long as the process. Needs libtorch.
std::span<const ModelLoader* const> BuiltInLoaders();

}  // namespace millrace::models
