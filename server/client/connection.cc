#include "server/client/connection.h"

#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/config/command_line.h"
#include "server/config/values.h"
#include "server/net/address_policy.h"
#include "server/security/tls_files.h"

namespace millrace {
namespace {

// Returns the address as gRPC takes it: the path of a socket is a part of a URI there.
std::string TargetOf(const std::string& address) {
  constexpr std::string_view kUnix = "unix:";
  constexpr std::string_view kPlain = "/-._~";
  if (!address.starts_with(kUnix)) return address;
  std::string target(kUnix);
  for (const char c : address.substr(kUnix.size())) {
    const bool plain =
        absl::ascii_isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
    target += plain ? std::string(1, c) : absl::StrFormat("%%%02X", static_cast<unsigned char>(c));
  }
  return target;
}

// The fields of requests that users set by flags, and the flags.
constexpr std::pair<std::string_view, std::string_view> kFlags[] = {
    {"search.hypotheses", "--alternatives"},
    {"hypotheses", "--alternatives"},
    {"search.beam_size", "--beam-size"},
    {"beam_size", "--beam-size"},
    {"source_language", "--source"},
    {"target_language", "--target"},
    {"language", "--language"},
    {"sample_rate", "--sample-rate"},
    {"word_times", "--timestamps"},
    {"phoneme_times", "--timestamps"},
    {"glossary", "--glossary"},
    {"file", "--file"},
    {"model", "--model"},
    {"voice", "--voice"},
    {"speed", "--speed"},
    {"text_format", "--text-format"},
    {"format", "--format"},
    {"phonemes", "--phonemes"},
    {"texts[0]", "text"},
    {"texts", "text"},
};

// The words of gRPC for what is wrong with a connection, and ours.
constexpr std::pair<std::string_view, std::string_view> kConnectionFaults[] = {
    {"http1.x server",
     "speaks HTTP/1.1, not gRPC: give the address of --grpc-address, by default 127.0.0.1:8001"},
    {"Failed parsing HTTP/2",
     "does not speak gRPC: give the address of --grpc-address, by default 127.0.0.1:8001"},
    {"before receiving SETTINGS",
     "took the connection, but does not speak gRPC: give the address of --grpc-address, by default "
     "127.0.0.1:8001"},
    {"wrong version number", "does not speak TLS, which --tls-ca asks for"},
    {"certificate verify failed",
     "shows a certificate that comes from none of the authorities in --tls-ca"},
    {"Socket closed",
     "has closed the connection: it has ended, or it wants TLS, which --tls-ca turns on, or with "
     "TLS a certificate by --tls-cert"},
};

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.tls_ca.empty()) {
    TlsContents contents;
    MILLRACE_ASSIGN_OR_RETURN(contents.client_ca, ReadFile(options.tls_ca));
    MILLRACE_ASSIGN_OR_RETURN(contents.certificate, ReadFile(options.tls_cert));
    MILLRACE_ASSIGN_OR_RETURN(contents.private_key, ReadFile(options.tls_key));
    MILLRACE_RETURN_IF_ERROR(
        CheckClientTls({options.tls_cert, options.tls_key, options.tls_ca}, contents));
    credentials =
        grpc::SslCredentials({contents.client_ca, contents.private_key, contents.certificate});
  }
  if (options.tls_ca.empty() && !options.api_key.empty() && !IsLoopbackAddress(options.address)) {
    std::fprintf(stderr, "millrace: the API key travels to %s unencrypted; --tls-ca turns TLS on\n",
                 options.address.c_str());
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // long speech is one reply
  // A call without a deadline ends if the server's machine is gone.
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 60'000);
  // gRPC would log what is in the error too, which Explain words.
  if (std::getenv("GRPC_VERBOSITY") == nullptr) gpr_set_log_function([](gpr_log_func_args*) {});
  // No proxy of http_proxy reaches what listens on this machine alone.
  if (IsLoopbackAddress(options.address)) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return grpc::CreateCustomChannel(TargetOf(options.address), credentials, arguments);
}

void Prepare(const ClientOptions& options, grpc::ClientContext& context) {
  if (options.timeout) context.set_deadline(std::chrono::system_clock::now() + *options.timeout);
  if (!options.api_key.empty()) context.AddMetadata("authorization", "Bearer " + options.api_key);
}

std::string InTermsOfFlags(const std::string& message) {
  const size_t end = message.find(": ");
  if (end == message.npos) return message;
  std::vector<std::string> flags;
  for (std::string_view rest(message.data(), end); !rest.empty();) {
    const std::string_view field = rest.substr(0, rest.find(", "));
    const auto known =
        std::ranges::find_if(kFlags, [field](const auto& entry) { return entry.first == field; });
    if (known == std::end(kFlags)) return message;
    flags.emplace_back(known->second);
    rest.remove_prefix(std::min(rest.size(), field.size() + 2));
  }
  return absl::StrJoin(flags, ", ") + message.substr(end);
}

std::string Explain(const grpc::Status& status, const ClientOptions& options) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    // The last words of a server are its own; gRPC's tell of the connection.
    const std::string& message = status.error_message();
    if (message.starts_with("the server ")) return StrCat(options.address, ": ", message);
    for (const auto& [words, fault] : kConnectionFaults) {
      if (message.find(words) != message.npos) return StrCat(options.address, " ", fault);
    }
    return StrCat("no answer from ", options.address, " (", message,
                  "); is the server running there? `make serve` or `millrace serve` starts one");
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED && options.timeout) {
    return StrCat(options.address, " was not done within ", FormatDuration(*options.timeout),
                  ", which is --timeout");
  }
  if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED && options.api_key.empty())
    return "an API key is needed: --api-key KEY, or MILLRACE_API_KEY";
  return InTermsOfFlags(status.error_message());
}

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  // A stream of a folder looks like an empty file.
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    return InvalidArgument(path.string(), ": cannot be read, because it is a folder");
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) return NotFound(path.string(), ": cannot be read: ", std::strerror(errno));
  return text.str();
}

int Fail(std::string message) {
  // The name of a file may have control characters, which a terminal would obey.
  const auto is_control = [](unsigned char c) { return (c < ' ' && c != '\n') || c == 0x7F; };
  std::ranges::replace_if(message, is_control, '?');
  std::fprintf(stderr, "millrace: %s\n", message.c_str());
  return kExitFailed;
}

absl::StatusOr<std::string> ReadInput() {
  errno = 0;
  std::string text{std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  // The stream ends alike at the end of a file and where it cannot be read.
  if (std::ferror(stdin) != 0)
    return InvalidArgument("standard input cannot be read: ", std::strerror(errno));
  return text;
}

absl::StatusOr<std::string> Utf8Text(const std::string& text, const std::filesystem::path& file) {
  absl::StatusOr<std::string> content = text;
  if (!file.empty()) {
    content = ReadFile(file);
    if (!content.ok()) return content.status();
  } else if (text == "-") {
    content = ReadInput();
    if (!content.ok()) return content.status();
  }
  if (!models::IsValidUtf8(*content)) {
    return InvalidArgument(file.empty() ? "text" : file.string(), ": is not valid UTF-8");
  }
  return content;
}

absl::StatusOr<std::string> TextToSend(const std::string& text, const std::filesystem::path& file) {
  absl::StatusOr<std::string> content = Utf8Text(text, file);
  if (content.ok() && content->empty())
    return InvalidArgument(file.empty() ? "text" : file.string(), ": is empty");
  return content;
}

absl::Status CheckWritable(const std::string& file) {
  if (file.empty() || file == "-") return absl::OkStatus();
  const auto cannot = [&file](int error) {
    return InvalidArgument(file, ": cannot be written: ", std::strerror(error));
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  if (std::filesystem::is_directory(status)) return cannot(EISDIR);
  if (std::filesystem::exists(status))
    return access(file.c_str(), W_OK) == 0 ? absl::OkStatus() : cannot(errno);
  const std::filesystem::path folder = std::filesystem::path(file).parent_path() / ".";
  return access(folder.c_str(), W_OK | X_OK) == 0 ? absl::OkStatus() : cannot(errno);
}

}  // namespace millrace
