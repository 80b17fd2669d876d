#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "server/config/command_line.h"

namespace millrace {

using Arguments = std::vector<std::string>;

template <class T>
T Parse(const Arguments& arguments, const Environment& environment = {}) {
  auto parsed = ParseCommandLine(arguments, environment);
  if (const auto* early = std::get_if<EarlyExit>(&parsed)) {
    ADD_FAILURE() << early->err << early->out;
    return T{};
  }
  return std::get<T>(std::get<Command>(std::move(parsed)));
}

inline EarlyExit Refused(const Arguments& arguments, const Environment& environment = {}) {
  auto parsed = ParseCommandLine(arguments, environment);
  if (auto* early = std::get_if<EarlyExit>(&parsed)) return std::move(*early);
  ADD_FAILURE() << "accepted";
  return {};
}

inline bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace millrace
