#pragma once

#include "models/repository/model_repository.h"
#include "mps_runtime/stream.h"

namespace millrace::translation {
class TranslationCache;
}

namespace millrace::models {

// The factory that knows every kind of model, and puts their weights on the device. It needs
// libtorch; the repository itself does not.
//
// few_shapes: models run batches of few distinct sizes, which their warm-up runs, too: for a device
// or a graph cache that does not take every shape. translations: null, or what translation models
// share, and must not outlive.
ModelFactory MakeModelFactory(runtime::DeviceType device, bool few_shapes,
                              translation::TranslationCache* translations = nullptr);

}  // namespace millrace::models
