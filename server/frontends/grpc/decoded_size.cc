#include "server/frontends/grpc/decoded_size.h"

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/wire_format_lite.h"

namespace millrace::server {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

// Generated classes and their allocations take so much, with the pointers to them.
constexpr uint64_t kMessageBytes = 64;
constexpr uint64_t kFieldBytes = 32;
constexpr uint64_t kStringBytes = 64;
constexpr uint64_t kUnknownBytes = 64;
// Lists have room for up to twice as many elements as they have.
constexpr uint64_t kListGrowth = 2;
// Parsers go no deeper.
constexpr int kDeepest = 100;

uint64_t ElementBytes(const FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      return kListGrowth * sizeof(bool);
    case FieldDescriptor::CPPTYPE_INT64:
    case FieldDescriptor::CPPTYPE_UINT64:
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return kListGrowth * sizeof(uint64_t);
    default:
      return kListGrowth * sizeof(uint32_t);
  }
}

class SizeEstimate {
 public:
  SizeEstimate(CodedInputStream& bytes, uint64_t limit) : bytes_(bytes), limit_(limit) {}

  uint64_t size() const { return size_; }

  // Reads a message up to its end, or a group up to its end tag. type: null if it is not known.
  // Returns false at bytes that are no message, and when the estimate has reached the limit.
  bool AddMessage(const Descriptor* type, int depth) {
    if (depth > kDeepest) return false;
    size_ += kMessageBytes +
             kFieldBytes * static_cast<uint64_t>(type == nullptr ? 0 : type->field_count());
    while (size_ < limit_) {
      const uint32_t tag = bytes_.ReadTag();
      if (tag == 0) return bytes_.ConsumedEntireMessage();
      const auto kind = WireFormatLite::GetTagWireType(tag);
      if (kind == WireFormatLite::WIRETYPE_END_GROUP) return true;
      const FieldDescriptor* const field =
          type == nullptr ? nullptr
                          : type->FindFieldByNumber(WireFormatLite::GetTagFieldNumber(tag));
      if (!AddField(field, kind, depth)) return false;
    }
    return false;
  }

 private:
  bool AddField(const FieldDescriptor* field, WireFormatLite::WireType kind, int depth) {
    uint64_t ignored = 0;
    switch (kind) {
      case WireFormatLite::WIRETYPE_VARINT:
        AddNumber(field);
        return bytes_.ReadVarint64(&ignored);
      case WireFormatLite::WIRETYPE_FIXED32:
        AddNumber(field);
        return bytes_.Skip(sizeof(uint32_t));
      case WireFormatLite::WIRETYPE_FIXED64:
        AddNumber(field);
        return bytes_.Skip(sizeof(uint64_t));
      case WireFormatLite::WIRETYPE_START_GROUP:
        size_ += kUnknownBytes;
        return AddMessage(nullptr, depth + 1);
      case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
        return AddBytes(field, depth);
      default:
        return false;
    }
  }

  void AddNumber(const FieldDescriptor* field) {
    if (field == nullptr) {
      size_ += kUnknownBytes;
    } else if (field->is_repeated()) {
      size_ += ElementBytes(*field);
    }
  }

  bool AddBytes(const FieldDescriptor* field, int depth) {
    uint32_t size = 0;
    if (!bytes_.ReadVarint32(&size)) return false;
    if (field != nullptr && field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      const CodedInputStream::Limit outer = bytes_.PushLimit(static_cast<int>(size));
      const bool is_whole = AddMessage(field->message_type(), depth + 1);
      bytes_.PopLimit(outer);
      return is_whole;
    }
    if (field != nullptr && field->is_packable()) return AddPacked(*field, size);
    size_ += size + (field == nullptr ? kUnknownBytes : kStringBytes);
    return bytes_.Skip(static_cast<int>(size));
  }

  bool AddPacked(const FieldDescriptor& field, uint32_t size) {
    switch (WireFormatLite::WireTypeForFieldType(
        static_cast<WireFormatLite::FieldType>(field.type()))) {
      case WireFormatLite::WIRETYPE_FIXED32:
      case WireFormatLite::WIRETYPE_FIXED64:
        size_ += kListGrowth * size;
        return bytes_.Skip(static_cast<int>(size));
      default:
        break;
    }
    const CodedInputStream::Limit outer = bytes_.PushLimit(static_cast<int>(size));
    uint64_t ignored = 0;
    while (bytes_.BytesUntilLimit() > 0 && size_ < limit_) {
      size_ += ElementBytes(field);
      if (!bytes_.ReadVarint64(&ignored)) return false;
    }
    bytes_.PopLimit(outer);
    return size_ < limit_;
  }

  CodedInputStream& bytes_;
  const uint64_t limit_;
  uint64_t size_ = 0;
};

}  // namespace

uint64_t DecodedSize(google::protobuf::io::ZeroCopyInputStream& bytes, const Descriptor& type,
                     uint64_t limit) {
  CodedInputStream coded(&bytes);
  SizeEstimate estimate(coded, limit);
  estimate.AddMessage(&type, 0);
  return estimate.size();
}

}  // namespace millrace::server
