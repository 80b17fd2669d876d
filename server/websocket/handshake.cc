#include "server/websocket/handshake.h"

#include <openssl/evp.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "httplib.h"
#include "models/core/shown.h"
#include "models/core/strings.h"

namespace millrace {
namespace {

constexpr char kVersion[] = "13";
constexpr size_t kKeyBytes = 16;

// Returns true if a header that lists names, separated by commas, has the name.
bool Lists(const httplib::Request& request, const char* header, absl::string_view name) {
  const auto [begin, end] = request.headers.equal_range(header);
  return std::any_of(begin, end, [name](const auto& one) {
    for (const absl::string_view part : absl::StrSplit(one.second, ',')) {
      if (absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(part), name)) return true;
    }
    return false;
  });
}

bool HasBody(const httplib::Request& request) {
  const std::string length = request.get_header_value("Content-Length");
  return request.has_header("Transfer-Encoding") || length.find_first_not_of('0') != length.npos;
}

}  // namespace

std::string AcceptOf(std::string_view key) {
  const std::string text = StrCat(key, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11");
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_sha1(), nullptr) != 1) return "";
  return absl::Base64Escape(absl::string_view(reinterpret_cast<const char*>(digest), size));
}

bool AnswerHandshake(const httplib::Request& request, httplib::Response& response,
                     std::string& error) {
  const auto refuse = [&](int status, std::string_view message) {
    response.status = status;
    if (status == 426) response.set_header("Upgrade", "websocket");
    error = message;
    return false;
  };
  if (request.method != "GET" || !Lists(request, "Upgrade", "websocket") ||
      !Lists(request, "Connection", "upgrade"))
    return refuse(426, "this path takes WebSocket connections only");
  // The server closes the connection behind the answer to such a request.
  if (request.version == "HTTP/1.0" || Lists(request, "Connection", "close") || HasBody(request)) {
    return refuse(400,
                  "a WebSocket needs a request of HTTP/1.1 without a body and without Connection: "
                  "close");
  }
  const std::string version = request.get_header_value("Sec-WebSocket-Version");
  if (version != kVersion) {
    response.set_header("Sec-WebSocket-Version", kVersion);
    return refuse(426, StrCat("Sec-WebSocket-Version: must be 13, not ", Shown(version)));
  }
  const std::string key = request.get_header_value("Sec-WebSocket-Key");
  std::string bytes;
  if (request.get_header_value_count("Sec-WebSocket-Key") != 1 ||
      !absl::Base64Unescape(key, &bytes) || bytes.size() != kKeyBytes)
    return refuse(400, StrCat("Sec-WebSocket-Key: must be 16 bytes in base64, not ", Shown(key)));
  response.status = 101;
  response.set_header("Upgrade", "websocket");
  response.set_header("Connection", "Upgrade");
  response.set_header("Sec-WebSocket-Accept", AcceptOf(key));
  return true;
}

}  // namespace millrace
