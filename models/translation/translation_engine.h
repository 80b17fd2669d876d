#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "models/translation/search/search.h"
#include "mps_runtime/worker_context.h"

namespace millrace::translation {

// What an engine keeps of a sentence between two calls.
class SentenceState {
 public:
  virtual ~SentenceState() = default;
  // Its search, from which a new state can go on; null when the sentence begins anew, and comes to
  // the same tokens.
  virtual std::unique_ptr<Search> TakeSearch() { return nullptr; }
};

// One sentence in an engine: tokens of the vocabulary in, tokens out.
struct SentenceJob {
  std::vector<int32_t> source;  // ends with the end of sentence
  std::vector<int32_t> prefix;  // what the translation must begin with; not part of target
  size_t min_target = 0;        // tokens before the end may come, of engines that search
  size_t max_target = 0;        // tokens; a longer translation is cut
  SearchOptions search;         // an engine that is greedy by nature takes no notice of it

  bool align = false;  // alignment is asked for

  // Out. The tokens that are decided, without the end of sentence; they only become more.
  std::vector<int32_t> target;
  // Once done, of engines that can tell, when asked for: of each token of target the token of
  // source that it comes from. Else empty.
  std::vector<int32_t> alignment;
  std::vector<Hypothesis>
      found;             // once done, of engines that search: the first one's tokens are target
  bool done = false;     // target is complete
  bool stopped = false;  // it left early: target is not complete
  std::unique_ptr<SentenceState> state;  // until it is done
  std::unique_ptr<Search> suspended;     // what its search had come to, when it has no state

  bool at_work() const { return !done && !stopped; }
  // Gives back what an engine holds for it, after a failure or for a long wait. It goes on to
  // tokens that begin with those that were decided. Not for one that is done.
  void Suspend();
};

// What stands around the tokens of every sentence of a request.
struct SentenceFrame {
  std::vector<int32_t> before = {};
  std::vector<int32_t> after = {};
  std::vector<int32_t> prefix = {};  // of the translation
};

// A job for the tokens of a sentence. Its translation may be max_length_factor times as long as the
// framed tokens, plus 5.
SentenceJob MakeSentenceJob(const std::vector<int32_t>& tokens, const SentenceFrame& frame,
                            float max_length_factor);

// Translates sentences together, some tokens of each a call, so that between two calls others may
// join them. Thread-safe; a sentence is in one call at a time, on whichever thread.
class TranslationEngine {
 public:
  virtual ~TranslationEngine() = default;

  // Goes on with each of the jobs, which are at work and may be new, by up to max_tokens tokens,
  // and at least one; what was suspended comes to where it was first. An engine that cannot pause
  // goes on to their end. should_stop(i) is asked once a decoder step, and once before the first,
  // for each job at work; such a job leaves at once. After an exception the jobs must be suspended.
  virtual void Advance(std::span<SentenceJob* const> jobs, size_t max_tokens,
                       absl::FunctionRef<bool(size_t)> should_stop,
                       runtime::WorkerContext& context) const = 0;

  // From the beginning to the end, without others.
  void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                 runtime::WorkerContext& context) const;
};

}  // namespace millrace::translation
