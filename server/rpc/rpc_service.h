#pragma once

#include <deque>
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
  // it has given the call to another thread.
  using Function = std::function<void(ByteCall&)>;

  RpcService(const RpcService&) = delete;
  RpcService& operator=(const RpcService&) = delete;
  virtual ~RpcService() = default;

  // As "millrace.v1.AdminService".
  const std::string& full_name() const { return descriptor_.full_name(); }
  size_t methods() const { return methods_.size(); }
  // As "/millrace.v1.AdminService/LoadModel"; lives as long as the service.
  const std::string& path(size_t method) const { return methods_[method].path; }
  // Those that are served, as "LoadModel".
  std::vector<std::string> MethodNames() const;

  // Returns true if the client sends a stream of messages.
  bool TakesStream(size_t method) const { return methods_[method].takes_stream; }
  // Returns true if a call with that request is to begin on a thread for long ones.
  bool IsLong(size_t method, const ByteBuffer& request) const {
    const size_t longest = methods_[method].longest_at_once;
    return longest == kAlwaysLong || (!methods_[method].takes_stream && request.size() > longest);
  }
  // Begins a call. A function that throws, as for want of memory, costs its call alone.
  void Begin(size_t method, ByteCall& call);

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
  struct Method {
    std::string path;
    bool takes_stream;
    Function function;
    size_t longest_at_once;
  };
  static constexpr size_t kAlwaysLong = static_cast<size_t>(-1);

  const google::protobuf::ServiceDescriptor& descriptor_;
  std::deque<Method> methods_;  // their paths stay where they are
};

}  // namespace millrace::server
