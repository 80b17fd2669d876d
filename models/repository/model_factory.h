#pragma once

#include "models/repository/model_repository.h"

namespace millrace::models {

// The factory that knows every kind of model. It needs libtorch; the repository itself does not.
ModelFactory MakeModelFactory();

}  // namespace millrace::models
