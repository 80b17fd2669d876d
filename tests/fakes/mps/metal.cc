#include "tests/fakes/mps/metal.h"

#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/rules.h"

namespace millrace::mps_standin {
namespace {

std::atomic<int64_t> buffers_run{0};

bool FailsByIntent() {
  const int64_t every = TheFaults().error_every;
  return every > 0 && ++buffers_run % every == 0;
}

}  // namespace

void CommandBuffer::OpenEncoder() {
  if (committed_) {
    Violation(
        "failed assertion `_status < MTLCommandBufferStatusCommitted' at "
        "-[IOGPUMetalCommandBuffer setCurrentCommandEncoder:]");
  }
  if (encoding_) Violation("A command encoder is already encoding to this command buffer");
  encoding_ = true;
}

void CommandBuffer::CloseEncoder() { encoding_ = false; }

void CommandBuffer::Encode(Work work) {
  if (committed_) Violation("_status < MTLCommandBufferStatusCommitted");
  if (!encoding_) Violation("encoding without an open command encoder");
  work_.push_back(std::move(work));
}

void CommandBuffer::AddCompletedHandler(
    std::function<void(const std::optional<std::string>&)> handler) {
  if (committed_) Violation("Completed handler provided after commit call");
  handlers_.push_back(std::move(handler));
}

void CommandBuffer::WaitUntilCompleted() {
  if (!committed_) Violation("waitUntilCompleted: the command buffer was not committed");
  std::unique_lock<std::mutex> lock(mu_);
  completed_cv_.wait(lock, [&] { return completed_; });
}

void CommandBuffer::Run() {
  std::optional<std::string> error;
  try {
    if (FailsByIntent()) throw std::runtime_error("Internal Error (0000000e:Internal Error)");
    for (const Work& work : work_) work();
  } catch (const c10::Error& failure) {
    error = failure.what_without_backtrace();
  } catch (const std::exception& failure) {
    error = failure.what();
  }
  for (const auto& handler : handlers_) handler(error);
  work_.clear();
  {
    const std::scoped_lock lock(mu_);
    completed_ = true;
    completed_cv_.notify_all();
  }
}

CommandQueue::CommandQueue() {
  std::thread([this] { RunGpu(); }).detach();
}

void CommandQueue::Commit(std::shared_ptr<CommandBuffer> buffer) {
  if (buffer->committed_) Violation("commit an already committed command buffer");
  if (buffer->encoding_) Violation("commit command buffer with uncommitted encoder");
  buffer->committed_ = true;
  {
    const std::scoped_lock lock(mu_);
    committed_.push_back(std::move(buffer));
  }
  cv_.notify_all();
}

void CommandQueue::RunGpu() {
  // One thread inside an operator, as the tests have on the CPU: the same order of additions.
  at::set_num_threads(1);
  const c10::InferenceMode inference_mode;
  for (;;) {
    std::shared_ptr<CommandBuffer> next;
    {
      std::unique_lock<std::mutex> lock(mu_);
      cv_.wait(lock, [&] { return !committed_.empty(); });
      next = std::move(committed_.front());
      committed_.pop_front();
    }
    const int64_t least = TheFaults().gpu_microseconds;
    if (least > 0) std::this_thread::sleep_for(std::chrono::microseconds(least));
    next->Run();
  }
}

}  // namespace millrace::mps_standin
