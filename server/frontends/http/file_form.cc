#include "server/frontends/http/file_form.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "models/core/strings.h"
#include "models/core/utf8.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxStemBytes = 120;

bool IsPlain(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
}

}  // namespace

std::optional<FileForm> ReadFileForm(const httplib::ContentReader& reader) {
  FileForm form;
  bool in_file = false;
  const bool read = reader(
      [&](const httplib::MultipartFormData& member) {
        in_file = member.name == "file";
        if (in_file) {
          form.has_file = true;
          form.file_name = member.filename;
          form.bytes.clear();  // the last one of several files counts
        } else {
          form.members.emplace_back(member.name, "");
        }
        return true;
      },
      [&](const char* data, size_t size) {
        (in_file ? form.bytes : form.members.back().second).append(data, size);
        return true;
      });
  if (!read) return std::nullopt;
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
