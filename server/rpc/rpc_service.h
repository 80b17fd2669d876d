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

// A service whose methods take calls in bytes. Its members must be thread-safe, because calls begin
// on every polling thread.
class RpcService {
 public:
  // Begins a call, which must be ended by ByteCall::Finish, now or later. Must not block, nor throw
  // after it has given the call to another thread. If it throws, for example std::bad_alloc, only
  // its own call ends, with INTERNAL.
  using Function = std::function<void(ByteCall&)>;

  // A method of the service.
  struct Method {
    std::string path;   // such as "/millrace.v1.AdminService/LoadModel"
    bool takes_stream;  // the client sends a stream of messages
    Function function;
    size_t longest_at_once;

    // Returns the name without the service, such as "LoadModel".
    std::string_view name() const { return std::string_view{path}.substr(path.rfind('/') + 1); }
    // Returns true if a call with that request must begin on the background thread.
    bool IsLong(const ByteBuffer& request) const {
      return longest_at_once == kAlwaysLong || (!takes_stream && request.size() > longest_at_once);
    }
  };

  RpcService(const RpcService&) = delete;
  RpcService& operator=(const RpcService&) = delete;
  virtual ~RpcService() = default;

  // Returns a name such as "millrace.v1.AdminService".
  const std::string& full_name() const { return descriptor_.full_name(); }
  // Constant once the service is made.
  const std::vector<Method>& methods() const { return methods_; }

 protected:
  // full_name: the name of a service that is linked into the program.
  explicit RpcService(std::string_view full_name);

  // The most bytes of a message that decode in well under a millisecond, for which other calls can
  // wait.
  static constexpr size_t kShort = 64 << 10;

  // Serves the method of that name; methods without a function answer UNIMPLEMENTED. A call with a
  // longer request begins on the background thread, so that it holds up no short ones. Must be
  // called in the constructor.
  void Serve(std::string_view method, Function function, size_t longest_at_once = kShort);
  // Serves a method whose calls always begin on the background thread.
  void ServeSlowly(std::string_view method, Function function) {
    Serve(method, std::move(function), kAlwaysLong);
  }

 private:
  static constexpr size_t kAlwaysLong = static_cast<size_t>(-1);

  const google::protobuf::ServiceDescriptor& descriptor_;
  std::vector<Method> methods_;
};

}  // namespace millrace::server
