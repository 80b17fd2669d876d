#include "server/requests/pull_action.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "models/core/errors.h"

namespace millrace::server {

absl::Status NoPull() {
  return FailedPrecondition(
      "pull: this server fetches no models for its callers; --allow-pull lets it");
}

absl::Status NoRemove() {
  return FailedPrecondition(
      "remove: this server removes no models for its callers; --allow-pull lets it");
}

absl::Status CheckPublishedName(std::string_view name) {
  // A name with a dash at its beginning would be an option of the program that fetches it.
  const bool allowed =
      !name.empty() && name.size() <= 256 && name[0] != '-' &&
      std::all_of(name.begin(), name.end(), [](unsigned char c) { return absl::ascii_isgraph(c); });
  if (allowed) return absl::OkStatus();
  return InvalidArgument(
      "pull: not the name of a published model, such as firefox/en-de: allowed are 1..256 "
      "printable characters of ASCII without spaces, not starting with '-'");
}

}  // namespace millrace::server
