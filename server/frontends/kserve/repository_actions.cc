#include "server/frontends/kserve/repository_actions.h"

#include <utility>

#include "models/core/errors.h"
#include "models/repository/model_sources.h"

namespace millrace::server {

namespace {

absl::Status CheckIgnoredParameter(std::string_view name) {
  if (name == "unload_dependents") return absl::OkStatus();
  return InvalidArgument("parameters: '", name.substr(0, 64),
                         "' is not supported; a model is loaded as the repository has it");
}

absl::Status TakeFlag(std::string_view name, const LoadValue& value, bool& flag) {
  const bool* const given = std::get_if<bool>(&value);
  if (given == nullptr) return InvalidArgument("parameters: ", name, ": must be true or false");
  flag = *given;
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeUnloadParameter(std::string_view name, const LoadValue& value, bool& remove) {
  if (name == "remove") return TakeFlag(name, value, remove);
  return CheckIgnoredParameter(name);
}

absl::Status TakeLoadParameter(std::string_view name, const LoadValue& value, PullOrder& order) {
  if (name == "pull") {
    const auto* const published = std::get_if<std::string>(&value);
    if (published == nullptr) return InvalidArgument("parameters: pull: must be a string");
    order.published = *published;
    return CheckPublishedName(order.published);
  }
  if (name == "license_ok") return TakeFlag(name, value, order.license_ok);
  return CheckIgnoredParameter(name);
}

absl::StatusOr<RepositoryActions::Cancel> BeginLoad(const RepositoryActions& actions,
                                                    std::string model, PullOrder order,
                                                    RepositoryActions::Done done) {
  if (order.published.empty()) return actions.load(std::move(model), std::move(done));
  if (actions.pull == nullptr) return NoPull();
  MILLRACE_RETURN_IF_ERROR(models::CheckModelName(model));
  return actions.pull(std::move(model), std::move(order), std::move(done));
}

absl::Status Unload(const RepositoryActions& actions, std::string_view model, bool remove) {
  if (!remove) return actions.unload(model);
  if (actions.remove == nullptr) return NoRemove();
  MILLRACE_RETURN_IF_ERROR(models::CheckModelName(model));
  return actions.remove(model);
}

}  // namespace millrace::server
