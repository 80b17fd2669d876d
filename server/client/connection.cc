#include "server/client/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "models/text/unicode.h"
#include "server/config/command_line.h"
#include "server/net/address_policy.h"

namespace millrace {
namespace {

absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return absl::NotFoundError(absl::StrCat(path.string(), ": cannot be read"));
  return text.str();
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientOptions& options) {
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  if (!options.tls_ca.empty()) {
    auto ca = ReadFile(options.tls_ca);
    auto certificate = ReadFile(options.tls_cert);
    auto key = ReadFile(options.tls_key);
    for (const auto* file : {&ca, &certificate, &key}) {
      if (!file->ok()) return file->status();
    }
    credentials = grpc::SslCredentials({*ca, *key, *certificate});
  }
  if (options.tls_ca.empty() && !options.api_key.empty() && !IsLoopbackAddress(options.address)) {
    std::fprintf(stderr, "millrace: the API key travels to %s unencrypted; --tls-ca turns TLS on\n",
                 options.address.c_str());
  }
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);  // long speech is one reply
  return grpc::CreateCustomChannel(options.address, credentials, arguments);
}

void Prepare(const ClientOptions& options, grpc::ClientContext& context) {
  context.set_deadline(std::chrono::system_clock::now() + options.timeout);
  if (!options.api_key.empty()) context.AddMetadata("authorization", "Bearer " + options.api_key);
}

std::string Explain(const grpc::Status& status, const ClientOptions& options) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return absl::StrCat(
        "no answer from ", options.address, " (", status.error_message(),
        "); is the server running there? `make serve` or `millrace serve` starts one");
  }
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
    return absl::StrCat(options.address, " did not answer within ", options.timeout.count(), " ms");
  }
  return status.error_message();
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "millrace: %s\n", message.c_str());
  return kExitFailed;
}

std::string TextOrInput(const std::string& text) {
  if (text != "-") return text;
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

absl::StatusOr<std::string> Utf8TextOrInput(const std::string& text) {
  std::string content = TextOrInput(text);
  if (!models::IsValidUtf8(content)) return absl::InvalidArgumentError("text: is not valid UTF-8");
  return content;
}

}  // namespace millrace
