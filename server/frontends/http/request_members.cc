#include "server/frontends/http/request_members.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/http/form_size.h"
#include "server/http/json_body.h"

namespace millrace::server {
namespace {

absl::Status NotUtf8() { return absl::InvalidArgumentError("the body is not valid UTF-8"); }

}  // namespace

absl::StatusOr<nlohmann::json> MembersOfForm(const FormMembers& form) {
  nlohmann::json members = nlohmann::json::object();
  for (const auto& [name, value] : form) {
    if (!models::IsValidUtf8(name) || !models::IsValidUtf8(value)) return NotUtf8();
    const auto [member, is_new] = members.emplace(name, value);
    if (is_new) continue;
    if (!member->is_array()) *member = nlohmann::json::array({std::move(*member)});
    member->push_back(value);
  }
  return members;
}

std::optional<FormMembers> ReadFormParts(const httplib::ContentReader& reader) {
  FormMembers members;
  const bool read = reader(
      [&members](const httplib::MultipartFormData& member) {
        members.emplace_back(member.name, "");
        return true;
      },
      [&members](const char* data, size_t size) {
        members.back().second.append(data, size);
        return true;
      });
  if (!read) return std::nullopt;
  return members;
}

std::optional<std::string> ReadWholeBody(const httplib::ContentReader& reader) {
  std::string body;
  const bool read = reader([&body](const char* data, size_t size) {
    body.append(data, size);
    return true;
  });
  if (!read) return std::nullopt;
  return body;
}

bool DropBody(const httplib::Request& request, const httplib::ContentReader& reader) {
  const auto drop = [](const char*, size_t) { return true; };
  // The library throws if a form is read as if it were another body.
  if (!request.is_multipart_form_data()) return reader(drop);
  return reader([](const httplib::MultipartFormData&) { return true; }, drop);
}

std::optional<absl::StatusOr<nlohmann::json>> ReadMembers(const httplib::Request& request,
                                                          const httplib::ContentReader& reader) {
  // The library keeps no long form by itself.
  if (request.is_multipart_form_data()) {
    const std::optional<FormMembers> form = ReadFormParts(reader);
    if (!form) return std::nullopt;
    return MembersOfForm(*form);
  }
  const std::optional<std::string> body = ReadWholeBody(reader);
  if (!body) return std::nullopt;
  return ParseMembers(request.get_header_value("Content-Type"), *body);
}

absl::StatusOr<nlohmann::json> ParseMembers(std::string_view content_type, std::string_view body) {
  if (body.empty()) return nlohmann::json::object();
  if (IsJsonBody(content_type, body)) {
    if (!models::IsValidUtf8(body)) return NotUtf8();
    return ParseJsonObject(body);
  }
  const std::string_view type = content_type.substr(0, content_type.find(';'));
  if (absl::EqualsIgnoreCase(View(type), "application/x-www-form-urlencoded")) {
    if (absl::Status status = CheckFormSize(body); !status.ok()) return status;
    return MembersOfForm(ParseForm(body));
  }
  return absl::InvalidArgumentError(
      StrCat("Content-Type: '", type.substr(0, 64),
             "' is not supported; application/json, application/x-www-form-urlencoded and "
             "multipart/form-data are"));
}

}  // namespace millrace::server
