#pragma once

#include "models/core/model_kind.h"

namespace millrace::models {

// The kinds of kinds.inc, with the schema of millrace/config/v1/model.proto. Lives as long as the
// process, and needs no libtorch.
const ModelKinds& BuiltInKinds();

}  // namespace millrace::models
