#include "server/config/models_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_split.h"
#include "models/core/strings.h"
#include "mps_runtime/base/this_program.h"

namespace millrace {
namespace {

bool IsProgram(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

absl::StatusOr<std::string> FindModelsProgram() {
  // The real path is used, because a link to this program may be in another folder.
  std::error_code error;
  const std::filesystem::path beside =
      std::filesystem::canonical(ThisProgram(), error).replace_filename(kModelsProgram);
  if (!error && IsProgram(beside)) return beside.string();
  const char* const folders = std::getenv("PATH");
  for (const absl::string_view folder :
       absl::StrSplit(folders == nullptr ? "" : folders, ':', absl::SkipEmpty())) {
    const std::filesystem::path path = std::filesystem::path(std::string(folder)) / kModelsProgram;
    if (IsProgram(path)) return path.string();
  }
  return absl::NotFoundError(StrCat("the program ", kModelsProgram,
                                    ", which fetches and converts models, is neither in ",
                                    beside.parent_path().string(),
                                    " nor in PATH; install it with: pip install ", kModelsProgram));
}

}  // namespace millrace
