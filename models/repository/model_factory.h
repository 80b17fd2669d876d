#pragma once

#include <span>

#include "models/core/model_kind.h"
#include "models/loaders.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// Returns a factory that loads models of the kinds that have a loader and copies their weights to
// the device. It needs libtorch, unlike the repository.
//
// shapes: for devices other than the CPU, which always runs requests in their own shapes.
ModelFactory MakeModelFactory(runtime::DeviceType device, ShapePolicy shapes,
                              const ModelCaches& caches = {},
                              std::span<const ModelLoader* const> loaders = BuiltInLoaders());

}  // namespace millrace::models
