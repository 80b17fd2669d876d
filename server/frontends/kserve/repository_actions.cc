#include "server/frontends/kserve/repository_actions.h"

#include "models/core/strings.h"

namespace millrace::server {

absl::Status CheckLoadParameter(std::string_view name) {
  if (name == "unload_dependents") return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("parameters: '", name.substr(0, 64),
             "' is not supported; a model is loaded as the repository has it"));
}

}  // namespace millrace::server
