#include "server/config/models_program.h"

#include <filesystem>
#include <system_error>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "mps_runtime/base/find_program.h"
#include "mps_runtime/base/this_program.h"

namespace millrace {

absl::StatusOr<std::string> FindModelsProgram() {
  // The real path is used, because a link to this program may be in another folder.
  std::error_code error;
  const std::filesystem::path beside =
      std::filesystem::canonical(ThisProgram(), error).replace_filename(kModelsProgram);
  if (!error && IsProgram(beside)) return beside.string();
  if (const std::filesystem::path program = FindProgram(kModelsProgram); !program.empty())
    return program.string();
  return NotFound(
      "the program ", kModelsProgram, ", which fetches and converts models, is neither in ",
      beside.parent_path().string(), " nor in PATH; install it with: pip install ", kModelsProgram);
}

std::string StartedByThisProgram() {
  std::error_code unknown;
  return StrCat("--started-by=", std::filesystem::canonical(ThisProgram(), unknown).string());
}

}  // namespace millrace
