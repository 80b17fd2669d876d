#pragma once

#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace millrace::speech {

// Names of all operators of libtorch that run while it lives.
class RanOperators {
 public:
  RanOperators() {
    now_ = this;
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function)
                                       -> std::unique_ptr<at::ObserverContext> {
          now_->names.insert(function.name());
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~RanOperators() { at::removeCallback(handle_); }

  std::set<std::string> names;

 private:
  static inline thread_local RanOperators* now_ = nullptr;
  at::CallbackHandle handle_ = 0;
};

// Returns the operators that run in forward(). Whatever needs a number on the host waits for the
// device, and cannot be recorded: none may be among them.
template <typename Forward>
std::set<std::string> OperatorsWithoutTheHost(const Forward& forward) {
  std::set<std::string> seen;
  {
    const at::RecordFunctionGuard enabled;
    const RanOperators operators;
    forward();
    seen = operators.names;
  }
  for (const char* name : {"aten::item", "aten::_local_scalar_dense", "aten::nonzero",
                           "aten::masked_select", "aten::repeat_interleave", "aten::is_nonzero"}) {
    EXPECT_FALSE(seen.contains(name)) << name;
  }
  return seen;
}

}  // namespace millrace::speech
