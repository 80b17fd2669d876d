#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mps_runtime/base/mutex.h"
#include "nlohmann/json.hpp"
#include "tests/unit/server/frontends/wyoming/read_events.h"
#include "tests/unit/server/requests/fake_voice.h"
#include "tests/unit/server/requests/test_backend.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {

// Returns an event as the clients write it, which is with its data behind the line.
inline std::string EventBytes(const std::string& type,
                              const nlohmann::json& data = nlohmann::json::object()) {
  const std::string text = data.dump();
  return nlohmann::json{{"type", type}, {"version", "1.10.2"}, {"data_length", text.size()}}
             .dump() +
         "\n" + text;
}

}  // namespace millrace::server
