// The time that a step takes to another process and back, without any work there, by the way that
// its message takes: the floor of what an executor adds to a request.

#include <benchmark/benchmark.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "models/core/payload.h"
#include "server/executors/frame.h"
#include "server/executors/step_messages.h"

namespace millrace::server {
namespace {

bool Wait() { return true; }

// Answers each step with `output_bytes` of audio until the connection ends.
[[noreturn]] void Answer(MessageSocket socket, size_t output_bytes) {
  while (true) {
    const auto step = socket.Receive(Wait);
    if (!step.ok()) std::_Exit(0);
    const auto order = ReadStep(*step);
    if (!order.ok()) std::_Exit(1);
    std::vector<StepResult> results(1);
    results.front().outcome = absl::OkStatus();
    models::SynthesizeOutput audio;
    audio.sample_rate = 24'000;
    audio.samples.resize(output_bytes / sizeof(float));
    results.front().outputs.emplace_back(std::move(audio));
    const FieldWriter done = WriteResults(results);
    if (!socket.Send(done.header(), done.behind(), Wait).ok()) std::_Exit(0);
  }
}

void BM_StepThroughASocketPair(benchmark::State& state) {
  auto pair = MakeSocketPair();
  if (!pair.ok()) return state.SkipWithError("no socket pair");
  const pid_t child = fork();
  if (child == 0) {
    pair->ours.Close();
    Answer(MessageSocket(std::move(pair->theirs)), static_cast<size_t>(state.range(0)));
  }
  pair->theirs.Close();
  {
    MessageSocket socket(std::move(pair->ours));
    models::SynthesizeInput speech;
    speech.text = "Good morning. How are you?";
    const models::Input input = std::move(speech);
    while (state.KeepRunning()) {
      FieldWriter step;
      step(uint64_t{1});
      WriteRequest(1, TimePoint::max(), &input, step);
      if (!socket.Send(step.header(), step.behind(), Wait).ok()) break;
      const auto done = socket.Receive(Wait);
      if (!done.ok() || !ReadResults(*done, 1).ok()) break;
    }
  }
  waitpid(child, nullptr, 0);
}
BENCHMARK(BM_StepThroughASocketPair)->Arg(16)->Arg(96'000)->Arg(4 << 20)->UseRealTime();

// The same bytes through two pipes, without messages: what the kernel alone takes.
void BM_BytesThroughPipes(benchmark::State& state) {
  int there[2];
  int back[2];
  if (pipe(there) != 0 || pipe(back) != 0) return state.SkipWithError("no pipe");
  const pid_t child = fork();
  const auto bytes = static_cast<size_t>(state.range(0));
  if (child == 0) {
    close(there[1]);
    std::vector<char> block(bytes);
    while (read(there[0], block.data(), block.size()) > 0) {
      if (write(back[1], block.data(), block.size()) <= 0) break;
    }
    std::_Exit(0);
  }
  close(there[0]);
  std::vector<char> block(bytes);
  while (state.KeepRunning()) {
    if (write(there[1], block.data(), block.size()) <= 0) break;
    if (read(back[0], block.data(), block.size()) <= 0) break;
  }
  close(there[1]);
  waitpid(child, nullptr, 0);
}
BENCHMARK(BM_BytesThroughPipes)->Arg(64)->UseRealTime();

}  // namespace
}  // namespace millrace::server

BENCHMARK_MAIN();
