#pragma once

#include <functional>
#include <utility>

#include "server/rpc/byte_call.h"
#include "server/rpc/self_owned.h"

namespace millrace::server {

// A call that waits for what its client can cancel, such as a load.
class CancellableCall final : public ByteCall::Handler, public SelfOwned<CancellableCall> {
 public:
  // Must be called before the method's function returns, hence before OnCancel.
  void SetCancel(std::function<void()> cancel) { cancel_ = std::move(cancel); }
  void OnCancel() override { cancel_(); }
  void OnDone() override { DeleteThis(); }

 private:
  std::function<void()> cancel_ = [] {};
};

}  // namespace millrace::server
