#include "server/client/json_text.h"

#include <google/protobuf/util/json_util.h>

#include <cstdio>
#include <string>

#include "server/client/connection.h"
#include "server/config/command_line.h"

namespace millrace {

int PrintJson(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = true;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  if (!status.ok()) return Fail("the answer cannot be written as JSON");
  std::printf("%s%s", text.c_str(), text.ends_with('\n') ? "" : "\n");
  return kExitOk;
}

}  // namespace millrace
