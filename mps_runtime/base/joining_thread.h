#pragma once

#include <thread>
#include <utility>

namespace millrace {

// A std::thread whose destructor joins it. (std::jthread is missing from the C++ library of older
// Xcodes.)
class JoiningThread {
 public:
  template <typename Body>
  explicit JoiningThread(Body body) : thread_(std::move(body)) {}
  JoiningThread(JoiningThread&&) = default;
  JoiningThread& operator=(JoiningThread&&) = delete;
  ~JoiningThread() {
    if (thread_.joinable()) thread_.join();
  }

  void join() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace millrace
