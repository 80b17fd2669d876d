#pragma once

#include <cstdint>

#include "models/repository/model_repository.h"

namespace millrace::models {

// Returns the bytes of the files that the package's config names, which are what loading it reads:
// an estimate of the memory that the model takes. Files that cannot be read count as empty.
uint64_t SizeOf(const ModelRepository::Package& package);

}  // namespace millrace::models
