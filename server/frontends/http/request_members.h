#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "httplib.h"
#include "nlohmann/json.hpp"
#include "server/http/form.h"

namespace millrace::server {

// Reads the body of a request, JSON or a form of either kind, as an object of JSON. Members of a
// form are strings; one that comes several times is a list. Where there is no body, the query is
// read as a form. InvalidArgument says what is wrong with it. Nothing: the body did not arrive,
// which the HTTP library has answered.
std::optional<absl::StatusOr<nlohmann::json>> ReadMembers(const httplib::Request& request,
                                                          const httplib::ContentReader& reader);
// The same for a body that was read. An empty one has no members.
absl::StatusOr<nlohmann::json> ParseMembers(std::string_view content_type, std::string_view body);

// Returns the members of a form as such an object.
absl::StatusOr<nlohmann::json> MembersOfForm(const FormMembers& form);

// Reads the members of a form with parts, in order. The end is as above.
std::optional<absl::StatusOr<FormMembers>> ReadFormParts(const httplib::Request& request,
                                                         const httplib::ContentReader& reader);
// Reads any body.
std::optional<std::string> ReadWholeBody(const httplib::ContentReader& reader);
// Reads a body of any kind and drops it, so that the connection stays. Returns false if it did not
// arrive, which the HTTP library has answered.
bool DropBody(const httplib::ContentReader& reader);

}  // namespace millrace::server
