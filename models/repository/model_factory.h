#pragma once

#include <span>

#include "models/core/model_kind.h"
#include "models/loaders.h"
#include "models/repository/model_repository.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// The factory that loads models of the kinds that have a loader, and puts their weights on the
// device. It needs libtorch; the repository itself does not.
//
// `shapes` is for devices other than the CPU, which always runs the shapes that come.
// `translations`: null, or what translation models share, and must not outlive.
ModelFactory MakeModelFactory(runtime::DeviceType device, ShapePolicy shapes,
                              translation::TranslationCache* translations = nullptr,
                              std::span<const ModelLoader* const> loaders = BuiltInLoaders());

}  // namespace millrace::models
