#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "models/repository/model_repository.h"

namespace millrace::models {

// What tells one package from another, whatever it is called: SHA-256 over its config and the files
// that this names, each with its name and size, as 64 hexadecimal digits. Reads them whole: about a
// second a gigabyte.
absl::StatusOr<std::string> DigestOf(const ModelRepository::Package& package);

}  // namespace millrace::models
