#include "server/frontends/http/request_members.h"

#include <string>
#include <string_view>
#include <utility>

#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/http/form_size.h"
#include "server/http/http_server.h"
#include "server/http/json_body.h"
#include "server/http/multipart_form.h"
#include "server/http/query.h"

namespace millrace::server {
namespace {

absl::Status NotUtf8() { return InvalidArgument("the body is not valid UTF-8"); }

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

std::optional<absl::StatusOr<FormMembers>> ReadFormParts(const httplib::Request& request,
                                                         const httplib::ContentReader& reader) {
  FormMembers members;
  const std::optional<absl::Status> read = ReadMultipartForm(
      request, reader,
      [&members](MultipartReader::Part part) { members.emplace_back(std::move(part.name), ""); },
      [&members](std::string_view bytes) { members.back().second.append(bytes); });
  if (!read) return std::nullopt;
  if (!read->ok()) return *read;
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

bool DropBody(const httplib::ContentReader& reader) {
  return reader([](const char*, size_t) { return true; });
}

std::optional<absl::StatusOr<nlohmann::json>> ReadMembers(const httplib::Request& request,
                                                          const httplib::ContentReader& reader) {
  if (IsMultipartForm(request)) {
    const auto form = ReadFormParts(request, reader);
    if (!form) return std::nullopt;
    if (!form->ok()) return form->status();
    return MembersOfForm(**form);
  }
  const std::optional<std::string> body = ReadWholeBody(reader);
  if (!body) return std::nullopt;
  if (body->empty()) return MembersOfForm(HttpQuery().TakeAll());
  return ParseMembers(request.get_header_value("Content-Type"), *body);
}

absl::StatusOr<nlohmann::json> ParseMembers(std::string_view content_type, std::string_view body) {
  if (body.empty()) return nlohmann::json::object();
  if (IsJsonBody(content_type, body)) {
    return ParseJsonObject(body);
  }
  if (IsEncodedForm(content_type)) {
    MILLRACE_RETURN_IF_ERROR(CheckFormSize(body));
    return MembersOfForm(ParseForm(body));
  }
  return NeitherJsonNorForm(content_type);
}

}  // namespace millrace::server
