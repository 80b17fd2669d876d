// The buffers of tests without gRPC.

#include "server/rpc/byte_buffer.h"

#include <memory>
#include <new>
#include <string>
#include <utility>

#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace millrace::server {

namespace {

// Messages come in pieces, as from a network.
constexpr int kPieceBytes = 7;

using Message = std::string;

}  // namespace

struct ByteBufferAccess {
  // Owned by the buffer; null without a message.
  static Message*& Of(ByteBuffer& buffer) {
    return *std::launder(reinterpret_cast<Message**>(buffer.storage_));
  }
  static const Message* Of(const ByteBuffer& buffer) { return Of(const_cast<ByteBuffer&>(buffer)); }
  static void Init(ByteBuffer& buffer, Message* message) {
    new (buffer.storage_) Message*(message);
  }
};

ByteBuffer::ByteBuffer() { ByteBufferAccess::Init(*this, nullptr); }

ByteBuffer::ByteBuffer(std::string_view bytes) {
  ByteBufferAccess::Init(*this, new Message(bytes));
}

ByteBuffer::ByteBuffer(size_t size, absl::FunctionRef<void(uint8_t* bytes)> fill) {
  auto message = std::make_unique<Message>(size, '\0');
  fill(reinterpret_cast<uint8_t*>(message->data()));
  ByteBufferAccess::Init(*this, message.release());
}

ByteBuffer::ByteBuffer(const ByteBuffer& other) {
  const Message* const message = ByteBufferAccess::Of(other);
  ByteBufferAccess::Init(*this, message == nullptr ? nullptr : new Message(*message));
}

ByteBuffer::ByteBuffer(ByteBuffer&& other) noexcept : ByteBuffer() {
  std::swap(ByteBufferAccess::Of(*this), ByteBufferAccess::Of(other));
}

ByteBuffer& ByteBuffer::operator=(const ByteBuffer& other) { return *this = ByteBuffer(other); }

ByteBuffer& ByteBuffer::operator=(ByteBuffer&& other) noexcept {
  std::swap(ByteBufferAccess::Of(*this), ByteBufferAccess::Of(other));
  return *this;
}

ByteBuffer::~ByteBuffer() { delete ByteBufferAccess::Of(*this); }

size_t ByteBuffer::size() const {
  const Message* const message = ByteBufferAccess::Of(*this);
  return message == nullptr ? 0 : message->size();
}

void ByteBuffer::Clear() { delete std::exchange(ByteBufferAccess::Of(*this), nullptr); }

bool ByteBuffer::Read(
    absl::FunctionRef<bool(google::protobuf::io::ZeroCopyInputStream& bytes)> read) const {
  const Message* const message = ByteBufferAccess::Of(*this);
  if (message == nullptr) return false;
  google::protobuf::io::ArrayInputStream stream(message->data(), static_cast<int>(message->size()),
                                                kPieceBytes);
  return read(stream);
}

}  // namespace millrace::server
