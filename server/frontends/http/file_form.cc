#include "server/frontends/http/file_form.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/core/utf8.h"
#include "server/http/multipart_form.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxStemBytes = 120;

bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

}  // namespace

std::optional<absl::StatusOr<FileForm>> ReadFileForm(const httplib::Request& request,
                                                     const httplib::ContentReader& reader) {
  FileForm form;
  bool in_file = false;
  bool several = false;
  const std::optional<absl::Status> read = ReadMultipartForm(
      request, reader,
      [&](MultipartReader::Part part) {
        in_file = part.name == "file";
        if (in_file) {
          several = form.has_file;
          form.has_file = true;
          form.file_name = std::move(part.file_name);
        } else {
          form.members.emplace_back(std::move(part.name), "");
        }
      },
      [&](std::string_view bytes) {
        (in_file ? form.bytes : form.members.back().second).append(bytes);
      });
  if (!read) return std::nullopt;
  if (!read->ok()) return *read;
  if (several) return InvalidArgument("file: is given twice; a request has one file");
  return form;
}

std::string TranslatedName(std::string_view file_name, std::string_view target) {
  if (const size_t folder = file_name.find_last_of("/\\"); folder != std::string_view::npos)
    file_name.remove_prefix(folder + 1);
  const size_t dot = std::min(file_name.rfind('.'), file_name.size());
  const std::string_view extension = file_name.substr(dot);
  std::string_view stem = file_name.substr(0, dot);
  size_t bytes = std::min(stem.size(), kMaxStemBytes);
  while (bytes < stem.size() && bytes > 0 && IsContinuationByte(stem[bytes])) --bytes;
  stem = stem.substr(0, bytes);
  std::string name(stem);
  name += '_';
  std::ranges::copy_if(target.substr(0, 16), std::back_inserter(name), IsPlain);
  name += extension;
  for (char& c : name) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '_';
  }
  return name;
}

std::string AttachmentNamed(std::string_view file_name) {
  std::string plain;
  std::string encoded;
  for (const char c : file_name) {
    const bool fits = IsPlain(c);
    plain += fits || c == ' ' ? c : '_';
    if (fits) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += absl::AsciiStrToUpper(absl::BytesToHexString(absl::string_view(&c, 1)));
    }
  }
  return StrCat("attachment; filename=\"", plain, "\"; filename*=UTF-8''", encoded);
}

std::string AddressOf(const httplib::Request& request, std::string_view path) {
  const std::string host = request.get_header_value("Host");
  const bool named = !host.empty() && std::ranges::all_of(host, [](char c) {
    return IsPlain(c) || c == ':' || c == '[' || c == ']';
  });
  if (!named) return std::string(path);
  // A proxy that ends TLS says so.
  const bool tls = request.get_header_value("X-Forwarded-Proto") == "https";
  return StrCat(tls ? "https://" : "http://", host, path);
}

}  // namespace millrace::server
