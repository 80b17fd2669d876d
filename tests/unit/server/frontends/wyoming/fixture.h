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

// A voice that speaks a sample for each byte of a text, and keeps what it spoke. Thread-safe.
class KeepingVoice {
 public:
  // before: what the worker does first.
  testing::ModelHooks Hooks(std::function<void()> before = [] {}) {
    return {.complete = [this, before = std::move(before)](models::Request& request) {
      before();
      const auto& input = std::get<models::SynthesizeInput>(request.input());
      {
        const MutexLock lock(mu_);
        texts_.push_back(input.text);
      }
      models::SynthesizeOutput part;
      part.sample_rate = 8000;
      part.samples.assign(input.text.size(), 0.5F);
      request.Emit(std::move(part));
      request.Finish(absl::OkStatus());
    }};
  }
  std::vector<std::string> texts() const {
    const MutexLock lock(mu_);
    return texts_;
  }

 private:
  mutable Mutex mu_;
  std::vector<std::string> texts_ MILLRACE_GUARDED_BY(mu_);
};

}  // namespace millrace::server
