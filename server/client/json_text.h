#pragma once

#include "google/protobuf/message.h"

namespace millrace {

// Prints the message as JSON, with the names that it has in the proto files, and members at their
// defaults too. Returns the exit status.
int PrintJson(const google::protobuf::Message& message);

}  // namespace millrace
