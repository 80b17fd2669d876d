#include "server/frontends/grpc/message_codec.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/empty.pb.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/unknown_field_set.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"

namespace millrace::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Protobuf cannot serialise larger messages.
constexpr size_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

// Returns the path of the first string field that is not UTF-8, or an empty string.
std::string FindInvalidUtf8(const UnknownFieldSet& fields, const Descriptor& type) {
  std::vector<int> seen(type.field_count(), 0);
  for (int i = 0; i < fields.field_count(); ++i) {
    const UnknownField& field = fields.field(i);
    const FieldDescriptor* descriptor = type.FindFieldByNumber(field.number());
    if (descriptor == nullptr || field.type() != UnknownField::TYPE_LENGTH_DELIMITED) continue;
    std::string path = descriptor->name();
    if (descriptor->is_repeated()) absl::StrAppend(&path, "[", seen[descriptor->index()]++, "]");
    if (descriptor->type() == FieldDescriptor::TYPE_STRING &&
        !models::IsValidUtf8(field.length_delimited()))
      return path;
    if (descriptor->type() == FieldDescriptor::TYPE_MESSAGE) {
      UnknownFieldSet inner;
      if (!inner.ParseFromString(field.length_delimited())) continue;
      const std::string found = FindInvalidUtf8(inner, *descriptor->message_type());
      if (!found.empty()) return StrCat(path, ".", found);
    }
  }
  return "";
}

}  // namespace

absl::Status ParseMessage(const ByteBuffer& buffer, google::protobuf::Message& message) {
  const auto parse_into = [&buffer](google::protobuf::Message& parsed) {
    return buffer.Read([&parsed](google::protobuf::io::ZeroCopyInputStream& bytes) {
      return parsed.ParseFromZeroCopyStream(&bytes);
    });
  };
  if (parse_into(message)) return absl::OkStatus();
  // Any message parses as Empty, with all its fields unknown and unchecked.
  google::protobuf::Empty fields;
  if (parse_into(fields)) {
    const Descriptor& type = *message.GetDescriptor();
    const std::string field =
        FindInvalidUtf8(fields.GetReflection()->GetUnknownFields(fields), type);
    if (!field.empty()) return absl::InvalidArgumentError(StrCat(field, ": is not valid UTF-8"));
  }
  return absl::InvalidArgumentError(
      StrCat("the request is not a valid ", message.GetDescriptor()->full_name(), " message"));
}

absl::Status SerializeMessage(const google::protobuf::Message& message, ByteBuffer& buffer) {
  const size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes) {
    return absl::InternalError(StrCat("the reply cannot be serialised: it has ", size,
                                      " bytes; a message has fewer than 2 GiB"));
  }
  buffer = ByteBuffer(
      size, [&message](uint8_t* bytes) { message.SerializeWithCachedSizesToArray(bytes); });
  return absl::OkStatus();
}

}  // namespace millrace::server
