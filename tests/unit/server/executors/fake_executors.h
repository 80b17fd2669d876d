#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "mps_runtime/base/mutex.h"
#include "server/executors/executor_process.h"
#include "server/executors/model_executor.h"
#include "tests/fakes/fake_device.h"
#include "tests/fakes/fake_model.h"

namespace millrace::testing {

inline constexpr std::string_view kFakeVersion = "1.2.3";

// An executor that is a thread of the test. It "dies" by ending its connections.
class FakeExecutor final : public server::ExecutorProcess, private server::ExecutorHost {
 public:
  using MakeModel = std::function<absl::StatusOr<std::unique_ptr<const models::Model>>(
      FakeExecutor&, std::string_view name)>;

  // Says what memory an executor takes.
  using Memory = std::function<uint64_t(int number)>;

  FakeExecutor(FileDescriptor control, int number, MakeModel make, std::string version,
               Memory memory, bool computes_on_workers)
      : control_(dup(control.get())),
        number_(number),
        make_(std::move(make)),
        version_(std::move(version)),
        memory_(std::move(memory)),
        device_(MakeDevice(computes_on_workers)),
        thread_([this, control = std::move(control)]() mutable {
          const absl::Status status = server::RunExecutor(std::move(control), version_, *this);
          const MutexLock lock(mu_);
          status_ = status;
          if (!status.ok() && end_.signal == 0) end_.exit_status = 1;
          gone_ = true;
          changed_.NotifyAll();
        }) {}
  ~FakeExecutor() override {
    Kill();
    if (thread_.joinable()) thread_.join();
  }

  // 1 for the first one that a launcher has started.
  int number() const { return number_; }

  // The number of its device; 0 if it was told none. From the first load on.
  int device_number() const { return device_number_; }
  // The device that it was told. From the first load on.
  runtime::DeviceType device_type() const { return device_type_; }

  // Called in a step: ends the executor as this signal would, or with this exit status. The step
  // has no effect.
  void Die(server::ProcessEnd end) {
    {
      const MutexLock lock(mu_);
      end_ = end;
    }
    shutdown(control_.get(), SHUT_RDWR);
    AwaitGone();
  }
  // Called in a step: returns when the executor is killed.
  void Hang() { AwaitGone(); }

  int64_t pid() const override { return number_; }
  uint64_t MemoryBytes() const override { return memory_ == nullptr ? 0 : memory_(number_); }
  void Kill() override {
    {
      const MutexLock lock(mu_);
      if (end_.signal == 0) end_.signal = SIGKILL;
    }
    shutdown(control_.get(), SHUT_RDWR);
  }
  server::ProcessEnd Await() override {
    thread_.join();
    const MutexLock lock(mu_);
    return end_;
  }

 private:
  static std::unique_ptr<FakeDevice> MakeDevice(bool computes_on_workers) {
    auto device = std::make_unique<FakeDevice>();
    device->computes_on_workers = computes_on_workers;
    return device;
  }

  void ReportCrashes(server::CrashPage&) override {}
  absl::Status Configure(const ServerConfig& settings) override {
    device_number_ = settings.device_numbers.empty() ? 0 : settings.device_numbers.front();
    device_type_ = settings.device.value_or(runtime::DeviceType::kCpu);
    return absl::OkStatus();
  }
  int Cores() const override { return 2; }
  server::Device& device() override { return *device_; }
  absl::StatusOr<std::unique_ptr<const models::Model>> Load(std::string_view name,
                                                            int64_t) override {
    return make_(*this, name);
  }
  void OnFrontGone() override {
    const MutexLock lock(mu_);
    gone_ = true;
    changed_.NotifyAll();
  }

  void AwaitGone() {
    const MutexLock lock(mu_);
    while (!gone_) changed_.Wait(mu_);
  }

  FileDescriptor control_;
  const int number_;
  const MakeModel make_;
  const std::string version_;
  const Memory memory_;
  const std::unique_ptr<FakeDevice> device_;
  int device_number_ = 0;
  runtime::DeviceType device_type_{};
  Mutex mu_;
  CondVar changed_;
  bool gone_ MILLRACE_GUARDED_BY(mu_) = false;
  server::ProcessEnd end_ MILLRACE_GUARDED_BY(mu_);
  absl::Status status_ MILLRACE_GUARDED_BY(mu_);
  std::thread thread_;
};

// Starts such executors.
class FakeLauncher final : public server::ExecutorLauncher {
 public:
  explicit FakeLauncher(FakeExecutor::MakeModel make) : make_(std::move(make)) {}

  absl::StatusOr<std::unique_ptr<server::ExecutorProcess>> Launch(FileDescriptor control) override {
    const int number = ++started_;  // Several threads start executors.
    if (refuse_) return absl::UnavailableError("no more processes");
    if (stand_in) {
      if (auto process = stand_in(number, control)) return process;
    }
    return std::make_unique<FakeExecutor>(std::move(control), number, make_, version, memory,
                                          computes_on_workers);
  }

  int started() const { return started_; }
  void Refuse(bool refuse) { refuse_ = refuse; }

  std::string version{kFakeVersion};  // set before its use, as what follows
  FakeExecutor::Memory memory;        // null: it is not known
  bool computes_on_workers = true;
  // Makes another process of the number instead; takes the descriptor only if it does.
  std::function<std::unique_ptr<server::ExecutorProcess>(int number, FileDescriptor& control)>
      stand_in;

 private:
  const FakeExecutor::MakeModel make_;
  std::atomic<int> started_{0};
  std::atomic<bool> refuse_{false};
};

}  // namespace millrace::testing
