#pragma once

#include <exception>

#include "models/core/errors.h"

namespace millrace::server {

// Returns what the function returns, or INTERNAL when it throws, for example std::bad_alloc.
template <typename Function>
auto OrInternal(Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::exception& error) {
    return Internal(error.what());
  }
}

}  // namespace millrace::server
