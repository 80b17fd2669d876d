#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "httplib.h"
#include "server/http/form.h"

namespace millrace::server {

// The bytes of such a form besides the file, at most.
inline constexpr size_t kMaxFormBytes = size_t{64} << 10;

// A form with a file.
struct FileForm {
  FormMembers members;  // all but the file
  bool has_file = false;
  std::string file_name;
  std::string bytes;
};

// Reads a form with parts. InvalidArgument: it is malformed. Nothing: it did not arrive, which the
// HTTP library has answered.
std::optional<absl::StatusOr<FileForm>> ReadFileForm(const httplib::Request& request,
                                                     const httplib::ContentReader& reader);

// Returns the name of the translation of a file, without folders: "letter_pt.docx" for
// "letter.docx".
std::string TranslatedName(std::string_view file_name, std::string_view target);
// Returns a Content-Disposition (RFC 6266) that has a client save what comes under that name.
std::string AttachmentNamed(std::string_view file_name);
// Returns the address at which a client finds a path of this server, from what the client called
// the server; without such a name, the path.
std::string AddressOf(const httplib::Request& request, std::string_view path);

}  // namespace millrace::server
