// Looks for forms with a file, as LibreTranslate's clients send them, that are read differently
// when they come in other parts, of which more is kept than was sent, or that give a translation a
// name that could harm. The first line is the Content-Type, the rest the body.
//
// usage: file_form_fuzz [-max_total_time=60] tests/fuzz/seeds/file_form

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "httplib.h"
#include "models/core/strings.h"
#include "mps_runtime/base/file.h"
#include "server/frontends/http/file_form.h"
#include "server/frontends/http/request_members.h"
#include "server/frontends/libretranslate/translate_message.h"
#include "server/http/bounded_server.h"
#include "server/http/http_routes.h"
#include "server/http/multipart_form.h"
#include "tests/fuzz/require.h"

namespace millrace::server {
namespace {

constexpr size_t kMaxBodyBytes = size_t{1} << 20;
// A socket takes so much while nobody reads.
constexpr size_t kMaxSentBytes = size_t{32} << 10;
constexpr BoundedStream::Limits kLimits = {.body_timeout = std::chrono::seconds(10),
                                           .write_timeout = std::chrono::seconds(10)};

// Reads forms as the route for files does.
class FormServer {
 public:
  FormServer() {
    server_.routes().Post(
        "/f",
        HttpRoutes::Reader([this](const httplib::Request& request, httplib::Response& response,
                                  const httplib::ContentReader& reader) {
          response.set_content("read", "text/plain");
          form_.reset();
          if (!IsMultipartForm(request)) {
            DropBody(reader);
          } else if (auto form = ReadFileForm(request, reader)) {
            if (form->ok()) form_ = std::move(**form);
            response.set_content(std::string(form->status().message()), "text/plain");
          }
        }));
    // The library's own limit is for all routes.
    server_.set_payload_max_length(server_.routes().largest_body_bytes());
  }

  struct Result {
    std::string answer;
    std::optional<FileForm> form;
  };
  // Serves a request of which the first bytes came with its head.
  Result Serve(std::string_view content_type, std::string_view body, size_t with_head) {
    int ends[2];
    Require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there are no sockets");
    Result result;
    {
      Connection connection(FileDescriptor{ends[0]});
      connection.received =
          StrCat("POST /f HTTP/1.1\r\nHost: x\r\nContent-Type: ", content_type,
                 "\r\nContent-Length: ", body.size(), "\r\n\r\n", body.substr(0, with_head));
      const std::string_view rest = body.substr(with_head);
      Require(write(ends[1], rest.data(), rest.size()) == static_cast<ssize_t>(rest.size()),
              "a socket takes no bytes");
      shutdown(ends[1], SHUT_WR);
      server_.Serve(connection, kLimits);
    }
    char bytes[4096];
    for (ssize_t count; (count = read(ends[1], bytes, sizeof(bytes))) > 0;)
      result.answer.append(bytes, static_cast<size_t>(count));
    close(ends[1]);
    result.form = std::exchange(form_, std::nullopt);
    return result;
  }

 private:
  BoundedServer server_{kMaxBodyBytes, /*max_bodies_of_peer=*/2, /*packs=*/false};
  std::optional<FileForm> form_;  // the form of the request that was served last
};

bool SameForm(const std::optional<FileForm>& one, const std::optional<FileForm>& other) {
  if (!one || !other) return !one && !other;
  return one->members == other->members && one->has_file == other->has_file &&
         one->file_name == other->file_name && one->bytes == other->bytes;
}

bool IsHarmless(std::string_view name) {
  return std::ranges::none_of(
      name, [](char c) { return c == '/' || c == '\\' || static_cast<uint8_t>(c) < 0x20; });
}

void CheckForm(FileForm form, std::string_view body) {
  size_t kept = form.file_name.size() + form.bytes.size();
  // A part's bytes are kept as they are, and apart from those of the others.
  Require(body.find(form.bytes) != body.npos, "has a file that was not sent");
  for (const auto& [name, value] : form.members) {
    Require(body.find(value) != body.npos, "has a value that was not sent");
    kept += name.size() + value.size();
  }
  Require(kept <= body.size(), "keeps more than was sent");
  Require(form.has_file || form.bytes.empty(), "has bytes of no file");
  Require(IsHarmless(TranslatedName(form.file_name, "pt")), "gives a harmful name");
  const auto request = ParseTranslateForm(std::move(form.members));
  Require(request.ok() || absl::IsInvalidArgument(request.status()), "refuses with another status");
}

}  // namespace
}  // namespace millrace::server

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace millrace::server;
  static FormServer server;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string_view type = bytes.substr(0, end);
  const std::string_view body = bytes.substr(std::min(end + 1, bytes.size()));
  if (body.size() > kMaxSentBytes) return 0;
  const FormServer::Result whole = server.Serve(type, body, body.size());
  millrace::Require(whole.answer.starts_with("HTTP/1.1 "), "is not answered");
  for (const size_t with_head : {size_t{0}, body.size() / 2}) {
    const FormServer::Result parts = server.Serve(type, body, with_head);
    millrace::Require(parts.answer == whole.answer, "parts are answered differently");
    millrace::Require(SameForm(parts.form, whole.form), "parts are read differently");
  }
  if (whole.form) CheckForm(*whole.form, body);
  return 0;
}
