#include "mps_runtime/selftest/selftest.h"

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "mps_runtime/base/joining_thread.h"
#include "mps_runtime/base/mutex.h"
#include "mps_runtime/runtime.h"
#include "mps_runtime/selftest/conformance.h"

namespace millrace::runtime {
namespace {

double Seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

SelftestReport NewReport() {
  SelftestReport report;
  report.system = ReadSystemInfo();
  return report;
}

// The facts that the first use of the device revealed.
struct Start {
  Provenance provenance;
  std::optional<SupportFacts> facts;
  std::string error;  // why no test can run; empty: they can
};

// The run so far, with a thread that watches it: it reports progress, and ends the process when
// there is none.
class Supervisor {
 public:
  Supervisor(const SelftestOptions& options, const SelftestCallbacks& callbacks)
      : options_(options), callbacks_(callbacks), thread_([this] { Watch(); }) {}
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() {
    MutexLock lock(mu_);
    stop_ = true;
    changed_.NotifyOne();
  }

  // Names the step in progress, until End; `rest` comes after it.
  void Begin(std::string_view name, const Findings& findings, std::vector<std::string> rest)
      MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    name_ = name;
    findings_ = &findings;
    report_.not_run = std::move(rest);
    begin_ = reported_ = Clock::Real().Now();
    callbacks_.on_begin(name);
    changed_.NotifyOne();
  }
  void EndStart(Start start) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    findings_ = nullptr;
    report_.provenance = std::move(start.provenance);
    report_.facts = std::move(start.facts);
    report_.error = std::move(start.error);
    callbacks_.on_start(report_);
  }
  void EndTest(TestResult result) MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    findings_ = nullptr;
    report_.results.push_back(std::move(result));
    callbacks_.on_result(report_.results.back());
  }

  SelftestReport Report() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    report_.seconds = Seconds(Clock::Real().Now() - start_);
    return report_;
  }

 private:
  void Watch() MILLRACE_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (!stop_) {
      if (findings_ == nullptr) {
        changed_.Wait(mu_);
        continue;
      }
      const TimePoint now = Clock::Real().Now();
      const TimePoint hung = findings_->last_progress() + options_.hang_after;
      const TimePoint report = reported_ + options_.progress_every;
      if (now >= hung) Hang(now);
      if (now >= report) {
        callbacks_.on_progress(name_, Seconds(now - begin_), findings_->step());
        reported_ = now;
        continue;
      }
      changed_.WaitUntil(mu_, std::min(hung, report));
    }
  }

  [[noreturn]] void Hang(TimePoint now) MILLRACE_REQUIRES(mu_) {
    TestResult result{.name = std::string(name_),
                      .status = TestResult::Status::kHung,
                      .seconds = Seconds(now - begin_),
                      .findings = findings_->contents()};
    std::string what = "no progress for " + std::to_string(options_.hang_after.count()) + " ms";
    if (const std::string step = findings_->step(); !step.empty()) what += " at: " + step;
    result.findings.failures.push_back(std::move(what));
    report_.results.push_back(std::move(result));
    report_.seconds = Seconds(now - start_);
    callbacks_.on_hang(report_);
    std::_Exit(1);
  }

  const SelftestOptions& options_;
  const SelftestCallbacks& callbacks_;
  const TimePoint start_ = Clock::Real().Now();

  Mutex mu_;
  CondVar changed_;
  SelftestReport report_ MILLRACE_GUARDED_BY(mu_) = NewReport();
  bool stop_ MILLRACE_GUARDED_BY(mu_) = false;
  std::string_view name_ MILLRACE_GUARDED_BY(mu_);
  const Findings* findings_ MILLRACE_GUARDED_BY(mu_) = nullptr;  // null when nothing is in progress
  TimePoint begin_ MILLRACE_GUARDED_BY(mu_);
  TimePoint reported_ MILLRACE_GUARDED_BY(mu_);

  JoiningThread thread_;  // declared last: it uses the other members
};

// Describes what this process runs on. This is the first use of the device, which may fail or hang.
Start StartOn(std::optional<DeviceType> device) {
  try {
    const auto runtime = Runtime::Bootstrap(SelftestRuntime({.device = device}, 1));
    return {runtime->provenance(), ReadSupportFacts(*runtime), {}};
  } catch (const std::exception& failure) {
    return {ReadLibtorchProvenance(), std::nullopt, failure.what()};
  }
}

// Returns an empty text when libtorch has the required patch level.
std::string WhyPatchLevelIsLow(const Provenance& provenance, int required) {
  if (provenance.mps_patch_level >= required) return {};
  return "--require-patch-level " + std::to_string(required) + ": the libtorch from " +
         provenance.libtorch_path + " has patch level " +
         std::to_string(provenance.mps_patch_level);
}

}  // namespace

bool SelftestReport::passed() const {
  return error.empty() && std::all_of(results.begin(), results.end(), [](const TestResult& result) {
           return result.status == TestResult::Status::kPassed;
         });
}

TestResult RunTest(const SelftestTest& test, const SelftestSetup& setup, Findings& findings) {
  const TimePoint begin = Clock::Real().Now();
  try {
    test.run(setup, findings);
  } catch (const std::exception& error) {
    findings.Fail(std::string("threw: ") + error.what());
  } catch (...) {
    findings.Fail("threw what is no std::exception");
  }
  TestResult result{.name = std::string(test.name),
                    .status = TestResult::Status::kPassed,
                    .seconds = Seconds(Clock::Real().Now() - begin),
                    .findings = findings.contents()};
  if (!result.findings.failures.empty()) result.status = TestResult::Status::kFailed;
  return result;
}

std::vector<SelftestTest> Matching(std::span<const SelftestTest> tests, std::string_view filter) {
  std::vector<SelftestTest> matching;
  for (const SelftestTest& test : tests) {
    if (test.name.find(filter) != test.name.npos) matching.push_back(test);
  }
  return matching;
}

SelftestReport RunSelftest(std::span<const SelftestTest> tests, const SelftestOptions& options,
                           const SelftestCallbacks& callbacks) {
  std::vector<std::string> rest;
  for (const SelftestTest& test : tests) rest.emplace_back(test.name);
  Supervisor supervisor(options, callbacks);
  {
    const Findings none;
    supervisor.Begin("Bootstrap", none, rest);
    Start start = StartOn(options.device);
    if (start.error.empty())
      start.error = WhyPatchLevelIsLow(start.provenance, options.require_patch_level);
    const bool refused = !start.error.empty();
    supervisor.EndStart(std::move(start));
    if (refused) return supervisor.Report();
  }
  for (const SelftestTest& test : tests) {
    rest.erase(rest.begin());
    Findings findings;
    supervisor.Begin(test.name, findings, rest);
    supervisor.EndTest(RunTest(test, {.device = options.device}, findings));
  }
  return supervisor.Report();
}

}  // namespace millrace::runtime
