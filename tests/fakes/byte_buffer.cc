// The buffers of tests without gRPC.

#include "server/rpc/byte_buffer.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "server/rpc/byte_buffer_access.h"

namespace millrace::server {

namespace {

// Messages come in pieces, as from a network.
constexpr int kPieceBytes = 7;

using Message = std::string;

// Owned by the buffer; null without a message.
Message*& MessageOf(ByteBuffer& buffer) {
  return *std::launder(static_cast<Message**>(ByteBufferAccess::Storage(buffer)));
}
const Message* MessageOf(const ByteBuffer& buffer) {
  return *std::launder(static_cast<Message* const*>(ByteBufferAccess::Storage(buffer)));
}

void Init(ByteBuffer& buffer, Message* message) {
  new (ByteBufferAccess::Storage(buffer)) Message*(message);
}

}  // namespace

ByteBuffer::ByteBuffer() { Init(*this, nullptr); }

ByteBuffer::ByteBuffer(std::string_view bytes) { Init(*this, new Message(bytes)); }

ByteBuffer::ByteBuffer(size_t size, absl::FunctionRef<void(uint8_t* bytes)> fill) {
  auto message = std::make_unique<Message>(size, '\0');
  fill(reinterpret_cast<uint8_t*>(message->data()));
  Init(*this, message.release());
}

ByteBuffer::ByteBuffer(const ByteBuffer& other) {
  const Message* const message = MessageOf(other);
  Init(*this, message == nullptr ? nullptr : new Message(*message));
}

ByteBuffer::ByteBuffer(ByteBuffer&& other) noexcept : ByteBuffer() {
  std::swap(MessageOf(*this), MessageOf(other));
}

ByteBuffer& ByteBuffer::operator=(const ByteBuffer& other) { return *this = ByteBuffer(other); }

ByteBuffer& ByteBuffer::operator=(ByteBuffer&& other) noexcept {
  std::swap(MessageOf(*this), MessageOf(other));
  return *this;
}

ByteBuffer::~ByteBuffer() { delete MessageOf(*this); }

size_t ByteBuffer::size() const {
  const Message* const message = MessageOf(*this);
  return message == nullptr ? 0 : message->size();
}

void ByteBuffer::Clear() { delete std::exchange(MessageOf(*this), nullptr); }

bool ByteBuffer::Read(
    absl::FunctionRef<bool(google::protobuf::io::ZeroCopyInputStream& bytes)> read) const {
  const Message* const message = MessageOf(*this);
  if (message == nullptr) return false;
  google::protobuf::io::ArrayInputStream stream(message->data(), static_cast<int>(message->size()),
                                                kPieceBytes);
  return read(stream);
}

}  // namespace millrace::server
