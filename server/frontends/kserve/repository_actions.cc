#include "server/frontends/kserve/repository_actions.h"

#include <utility>

#include "models/core/strings.h"
#include "models/repository/model_sources.h"

namespace millrace::server {

absl::Status CheckUnloadParameter(std::string_view name) {
  if (name == "unload_dependents") return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat("parameters: '", name.substr(0, 64),
             "' is not supported; a model is loaded as the repository has it"));
}

absl::Status TakeLoadParameter(std::string_view name, const LoadValue& value, PullOrder& order) {
  if (name == "pull") {
    const auto* const published = std::get_if<std::string>(&value);
    if (published == nullptr)
      return absl::InvalidArgumentError("parameters: pull: must be a string");
    order.published = *published;
    return CheckPublishedName(order.published);
  }
  if (name == "license_ok") {
    const bool* const accepted = std::get_if<bool>(&value);
    if (accepted == nullptr)
      return absl::InvalidArgumentError("parameters: license_ok: must be true or false");
    order.license_ok = *accepted;
    return absl::OkStatus();
  }
  return CheckUnloadParameter(name);
}

absl::StatusOr<RepositoryActions::Cancel> BeginLoad(const RepositoryActions& actions,
                                                    std::string model, PullOrder order,
                                                    RepositoryActions::Done done) {
  if (order.published.empty()) return actions.load(std::move(model), std::move(done));
  if (actions.pull == nullptr) return NoPull();
  if (absl::Status status = models::CheckModelName(model); !status.ok()) return status;
  return actions.pull(std::move(model), std::move(order), std::move(done));
}

}  // namespace millrace::server
