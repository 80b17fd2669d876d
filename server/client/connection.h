#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <filesystem>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/config/commands.h"

namespace millrace {

// Returns a channel as the options request: plain, TLS or mutual TLS. An error names the file that
// cannot be read.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientOptions& options);

// Sets the deadline, if there is one, and the API key of a call.
void Prepare(const ClientOptions& options, grpc::ClientContext& context);

// Returns a message, which may begin with the names of fields of a request, for users of flags.
std::string InTermsOfFlags(const std::string& message);

// Returns one line for a person: the server's message, or that there is no server and how to start
// it.
std::string Explain(const grpc::Status& status, const ClientOptions& options);

// Prints "millrace: <message>" and returns the exit status of a failure.
int Fail(std::string message);

// Returns what is in a file, and an empty string where none is named. An error names the file.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path);
// Returns all of standard input, or why it cannot be read.
absl::StatusOr<std::string> ReadInput();
// Returns what is in the file if one is named, else the text itself, or all of standard input for
// "-". Returns InvalidArgument for what is not UTF-8.
absl::StatusOr<std::string> Utf8Text(const std::string& text, const std::filesystem::path& file);
// The same for a text that a server is asked about, which must not be empty.
absl::StatusOr<std::string> TextToSend(const std::string& text, const std::filesystem::path& file);

// Returns why an output cannot be written, as far as that is known before it is opened, which may
// be long after. file: "-" for standard output; empty if there is none.
absl::Status CheckWritable(const std::string& file);

}  // namespace millrace
