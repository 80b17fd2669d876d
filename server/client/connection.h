#pragma once

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/config/commands.h"

namespace millrace {

// Returns a channel as the options request: plain, TLS or mutual TLS. An error names the file that
// cannot be read.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientOptions& options);

// Sets the deadline and the API key of a call.
void Prepare(const ClientOptions& options, grpc::ClientContext& context);

// Returns one line for a person: the server's message, or that there is no server and how to start
// it.
std::string Explain(const grpc::Status& status, const ClientOptions& options);

// Prints "millrace: <message>" and returns the exit status of a failure.
int Fail(const std::string& message);

// Returns the text itself, or all of standard input for "-".
std::string TextOrInput(const std::string& text);
// Likewise; returns InvalidArgument for what is not UTF-8.
absl::StatusOr<std::string> Utf8TextOrInput(const std::string& text);

}  // namespace millrace
