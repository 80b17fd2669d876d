#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace millrace::loadgen {

enum class Method {
  kInfer,
  kTranslate,
  kStreamTranslate,
  kSynthesize,
  kStreamSynthesize,
  kHttpInfer,
  kHttpTranslate,
  kHttpSynthesize
};

// The request of the command line: plain data, validated by ParseOptions.
struct Options {
  std::string address;
  Method method = Method::kInfer;
  std::string method_name;  // as on the command line
  std::string model;
  std::vector<std::string> texts;  // at least one, except for infer
  // How routes over HTTP choose a translator, and the voice of a model.
  std::string source_language;
  std::string target_language;
  std::string voice;
  // Translate: how many tokens the translation of each text is to have, 1..1024. Empty: as many as
  // the model finds.
  std::vector<int> target_tokens;
  int connections = 1;  // over HTTP in a closed loop: as many as calls in flight
  std::string api_key;  // empty: none is sent

  // Closed loop: this many calls in flight, each answered one replaced at once. 0: open loop.
  int concurrency = 1;
  // Open loop: calls a second, sent on schedule whatever comes back. 0: closed loop. What the
  // generator itself cannot send in time is counted as unsent.
  double rate = 0;
  // Open loop: calls that may be unanswered at once; what exceeds it is counted as unsent.
  int max_outstanding = 20000;
  // Open loop: a call that could not be sent so long after its time is given up as unsent: the
  // machine cannot generate the rate.
  std::chrono::nanoseconds max_lag = std::chrono::milliseconds(50);

  // It ends at whichever comes first; 0: no such limit. One of them is set.
  std::chrono::nanoseconds duration{0};
  uint64_t count = 0;

  std::chrono::nanoseconds deadline = std::chrono::seconds(30);
  uint64_t seed = 1;         // for the synthesis noise, equal for all calls
  std::string outputs_file;  // empty: none is written

  bool open_loop() const { return rate > 0; }
};

// Empty when the process should end with *exit_code; help or the reason has been printed.
std::optional<Options> ParseOptions(int argc, char** argv, int* exit_code);

}  // namespace millrace::loadgen
