// Load generator for the methods of a Millrace server. Unlike a closed-loop tool it can also offer
// a fixed rate whatever the server answers, and it listens to audio streams. `millrace_loadgen
// --help` shows its options.

#include <chrono>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>

#include "tests/load/loadgen/calls.h"
#include "tests/load/loadgen/options.h"
#include "tests/load/loadgen/report.h"
#include "tests/load/loadgen/runner.h"

int main(int argc, char** argv) {
  namespace loadgen = millrace::loadgen;
  using std::chrono::steady_clock;

  int exit_code = 0;
  const std::optional<loadgen::Options> options = loadgen::ParseOptions(argc, argv, &exit_code);
  if (!options) return exit_code;

  // Blocked before gRPC starts its threads; a thread of ours waits for them and stops the run
  // early, so that what was measured until then is still reported.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  loadgen::Outputs outputs;
  // A moment from now, so that the schedule does not begin while threads are being started.
  const loadgen::SteadyTime start = steady_clock::now() + std::chrono::milliseconds(20);
  loadgen::Recorder recorder(start, options->duration);
  const std::unique_ptr<loadgen::Caller> caller = loadgen::MakeCaller(*options, recorder, outputs);
  loadgen::Runner runner(*options, *caller, recorder);
  std::thread([&runner, signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    runner.Stop();
  }).detach();

  runner.Run();
  const auto wall = steady_clock::now() - start;

  std::cout << loadgen::ReportJson(*options, recorder, outputs, runner.offered(), wall)
            << std::endl;
  if (!options->outputs_file.empty() && !outputs.Write(options->outputs_file)) {
    std::cerr << "cannot write " << options->outputs_file << "\n";
    std::_Exit(1);
  }
  std::_Exit(0);  // the signal thread still waits and borrows `runner`
}
