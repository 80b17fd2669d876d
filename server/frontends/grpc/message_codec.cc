#include "server/frontends/grpc/message_codec.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/empty.pb.h"
#include "google/protobuf/io/zero_copy_stream.h"
#include "google/protobuf/unknown_field_set.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/unicode.h"
#include "server/frontends/grpc/decoded_size.h"

namespace millrace::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// Protobuf cannot serialise larger messages.
constexpr size_t kMaxMessageBytes = std::numeric_limits<int32_t>::max();

// Messages may take so many times their size once they are parsed, up to a limit, as lists of short
// strings do; and longer ones than that twice their size. Those up to kSmall are not checked.
constexpr uint64_t kDecodedOfByte = 32;
constexpr uint64_t kMostDecoded = 32 << 20;
constexpr uint64_t kDecodedOfLongByte = 2;
constexpr size_t kSmall = 16 << 10;

// Returns an error if the message would take more memory than it may.
absl::Status CheckDecodedSize(const ByteBuffer& buffer, const Descriptor& type) {
  if (buffer.size() <= kSmall) return absl::OkStatus();
  const uint64_t bytes = buffer.size();
  const uint64_t limit =
      std::max(std::min(kSmall + kDecodedOfByte * bytes, kMostDecoded), kDecodedOfLongByte * bytes);
  uint64_t size = 0;
  buffer.Read([&](google::protobuf::io::ZeroCopyInputStream& wire) {
    size = DecodedSize(wire, type, limit);
    return true;
  });
  if (size < limit) return absl::OkStatus();
  return InvalidArgument("the request has too many small values: it has ", bytes,
                         " bytes and would take more than ", limit,
                         " when decoded; send fewer at once, or tensors as raw_input_contents");
}

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
  MILLRACE_RETURN_IF_ERROR(CheckDecodedSize(buffer, *message.GetDescriptor()));
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
    if (!field.empty()) return InvalidArgument(field, ": is not valid UTF-8");
  }
  return InvalidArgument("the request is not a valid ", message.GetDescriptor()->full_name(),
                         " message");
}

absl::Status SerializeMessage(const google::protobuf::Message& message, ByteBuffer& buffer) {
  const size_t size = message.ByteSizeLong();
  if (size > kMaxMessageBytes) {
    return Internal("the reply cannot be serialised: it has ", size,
                    " bytes; a message has fewer than 2 GiB");
  }
  buffer = ByteBuffer(
      size, [&message](uint8_t* bytes) { message.SerializeWithCachedSizesToArray(bytes); });
  return absl::OkStatus();
}

}  // namespace millrace::server
