#pragma once

#include "models/repository/model_repository.h"
#include "mps_runtime/stream.h"

namespace millrace::models {

// The factory that knows every kind of model, and puts their weights on the device. It needs
// libtorch; the repository itself does not.
ModelFactory MakeModelFactory(runtime::DeviceType device);

}  // namespace millrace::models
