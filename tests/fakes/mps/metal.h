#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace millrace::mps_standin {

// The part of Metal that MPS streams are made of. A command buffer is filled through one open
// encoder at a time, committed once, and then run by its queue's GPU thread, after those committed
// before it. Breaking a rule ends the process with Metal's own words. The caller serialises access
// to a command buffer until it is committed.
class CommandBuffer {
 public:
  using Work = std::function<void()>;

  void OpenEncoder();
  void CloseEncoder();
  bool encoding() const { return encoding_; }
  // Through the open encoder.
  void Encode(Work work);
  // Called by the GPU thread with the error, or nullopt, after the work.
  void AddCompletedHandler(std::function<void(const std::optional<std::string>&)> handler);

  bool committed() const { return committed_; }
  void WaitUntilCompleted();

 private:
  friend class CommandQueue;

  void Run();

  std::vector<Work> work_;
  std::vector<std::function<void(const std::optional<std::string>&)>> handlers_;
  bool encoding_ = false;
  bool committed_ = false;

  std::mutex mu_;
  std::condition_variable completed_cv_;
  bool completed_ = false;
};

// In-order queue with a thread that stands for the GPU. Lives as long as the process.
class CommandQueue {
 public:
  CommandQueue();

  void Commit(std::shared_ptr<CommandBuffer> buffer);

 private:
  void RunGpu();

  std::mutex mu_;
  std::condition_variable cv_;
  std::deque<std::shared_ptr<CommandBuffer>> committed_;
};

}  // namespace millrace::mps_standin
