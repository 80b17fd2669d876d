#include "models/repository/remove_model.h"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "models/core/errors.h"
#include "models/repository/model_sources.h"

namespace millrace::models {

absl::Status RemoveModel(const std::filesystem::path& folder, std::string_view name) {
  MILLRACE_RETURN_IF_ERROR(CheckModelName(name));
  const std::filesystem::path place = folder / name;
  const auto failed = [&place](const std::error_code& error) {
    return FailedPrecondition("cannot remove ", place.string(), ": ", error.message());
  };
  std::error_code error;
  const std::filesystem::file_status found = std::filesystem::symlink_status(place, error);
  if (std::filesystem::is_symlink(found)) {
    return FailedPrecondition(place.string(), ": is a link, which may be removed with rm");
  }
  if (!std::filesystem::is_directory(found))
    return NotFound(folder.string(), ": has no model '", name, "'");
  // It is gone at once, and no half of it is ever there. The hidden folder is none of a model.
  std::string hidden = (folder / ".remove-XXXXXX").string();
  if (mkdtemp(hidden.data()) == nullptr)
    return failed(std::error_code(errno, std::generic_category()));
  std::filesystem::rename(place, std::filesystem::path(hidden) / name, error);
  const std::error_code renamed = error;
  std::filesystem::remove_all(hidden, error);
  if (renamed) return failed(renamed);
  return error ? failed(error) : absl::OkStatus();
}

}  // namespace millrace::models
