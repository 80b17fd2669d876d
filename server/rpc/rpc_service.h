#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "server/rpc/byte_call.h"

namespace millrace::server {

// A service whose methods take calls in bytes. What it is made of must be thread-safe: calls begin
// on every polling thread.
class RpcService {
 public:
  // Begins a call: has it ended by ByteCall::Finish, then or later. Must not block, nor throw once
  // it has given the call to another thread. If it throws, as for want of memory, the transport
  // ends its call, and no other, with INTERNAL.
  using Function = std::function<void(ByteCall&)>;

  // A method that is served.
  struct Method {
    std::string path;   // as "/millrace.v1.AdminService/LoadModel"
    bool takes_stream;  // the client sends a stream of messages
    Function function;
    size_t longest_at_once;

    // As "LoadModel".
    std::string_view name() const { return std::string_view(path).substr(path.rfind('/') + 1); }
    // Returns true if a call with that request is to begin on a thread for long ones.
    bool IsLong(const ByteBuffer& request) const {
      return longest_at_once == kAlwaysLong || (!takes_stream && request.size() > longest_at_once);
    }
  };

  RpcService(const RpcService&) = delete;
  RpcService& operator=(const RpcService&) = delete;
  virtual ~RpcService() = default;

  // As "millrace.v1.AdminService".
  const std::string& full_name() const { return descriptor_.full_name(); }
  // Constant once the service is made.
  const std::vector<Method>& methods() const { return methods_; }

 protected:
  // full_name: of a service that is linked into the program.
  explicit RpcService(std::string_view full_name);

  // Bytes of a message that take well under a millisecond to decode, which other calls can wait.
  static constexpr size_t kShort = 64 << 10;

  // Serves the method of that name; the others answer UNIMPLEMENTED. A call whose request is longer
  // begins on a thread for such, so that it holds up none but those. In the constructor.
  void Serve(std::string_view method, Function function, size_t longest_at_once = kShort);
  // The same, on that thread always.
  void ServeSlowly(std::string_view method, Function function) {
    Serve(method, std::move(function), kAlwaysLong);
  }

 private:
  static constexpr size_t kAlwaysLong = static_cast<size_t>(-1);

  const google::protobuf::ServiceDescriptor& descriptor_;
  std::vector<Method> methods_;
};

}  // namespace millrace::server
