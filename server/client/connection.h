#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "grpcpp/channel.h"
#include "grpcpp/client_context.h"
#include "server/config/commands.h"

namespace millrace {

// A channel as the options say: plain, TLS or mutual TLS. An error names the file that cannot be
// read.
absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ClientOptions& options);

// Puts the deadline and the API key on a call.
void Prepare(const ClientOptions& options, grpc::ClientContext& context);

// One line for a person: what the server said, or that there is none and how to start it.
std::string Explain(const grpc::Status& status, const ClientOptions& options);

// Prints "millrace: <message>" and returns the exit status of a failure.
int Fail(const std::string& message);

// The text itself, or all of standard input for "-".
std::string TextOrInput(const std::string& text);

}  // namespace millrace
