#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>

namespace millrace::runtime {

// Returns an operator in one of our own libraries of libtorch, "library::operator", or none where
// no module of a device has registered it. Modules are loaded before any model.
template <typename Signature>
std::optional<c10::TypedOperatorHandle<Signature>> FindDeviceOperator(const char* name) {
  const auto found = c10::Dispatcher::singleton().findSchema({name, ""});
  if (!found) return std::nullopt;
  return found->typed<Signature>();
}

}  // namespace millrace::runtime
