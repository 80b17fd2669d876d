#include "server/rpc/byte_buffer.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <memory>
#include <new>

#include "server/rpc/grpc_buffer.h"

namespace millrace::server {

ByteBuffer::ByteBuffer() { new (ByteBufferAccess::Storage(*this)) grpc::ByteBuffer(); }

ByteBuffer::ByteBuffer(std::string_view bytes) {
  const grpc::Slice slice(bytes.data(), bytes.size());
  new (ByteBufferAccess::Storage(*this)) grpc::ByteBuffer(&slice, 1);
}

ByteBuffer::ByteBuffer(size_t size, absl::FunctionRef<void(uint8_t* bytes)> fill) {
  const grpc::Slice slice(size);
  fill(const_cast<uint8_t*>(slice.begin()));
  new (ByteBufferAccess::Storage(*this)) grpc::ByteBuffer(&slice, 1);
}

ByteBuffer::ByteBuffer(const ByteBuffer& other) {
  new (ByteBufferAccess::Storage(*this)) grpc::ByteBuffer(ToGrpc(other));
}

ByteBuffer::ByteBuffer(ByteBuffer&& other) noexcept : ByteBuffer() {
  ToGrpc(*this).Swap(&ToGrpc(other));
}

ByteBuffer& ByteBuffer::operator=(const ByteBuffer& other) {
  // gRPC's own assignment leaks the message when a buffer is assigned to itself.
  if (this != &other) ToGrpc(*this) = ToGrpc(other);
  return *this;
}

ByteBuffer& ByteBuffer::operator=(ByteBuffer&& other) noexcept {
  ToGrpc(*this).Swap(&ToGrpc(other));
  return *this;
}

ByteBuffer::~ByteBuffer() { std::destroy_at(&ToGrpc(*this)); }

size_t ByteBuffer::size() const { return ToGrpc(*this).Length(); }

void ByteBuffer::Clear() { ToGrpc(*this).Clear(); }

bool ByteBuffer::Read(
    absl::FunctionRef<bool(google::protobuf::io::ZeroCopyInputStream& bytes)> read) const {
  // The reader does not write; its constructor only lacks a const.
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&ToGrpc(*this)));
  return reader.status().ok() && read(reader);
}

}  // namespace millrace::server
