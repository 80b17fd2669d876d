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

// The state that an engine keeps of a sentence between two calls.
class SentenceState {
 public:
  virtual ~SentenceState() = default;
  // Returns the search, from which a new state can continue. Null if the sentence restarts, which
  // decides the same tokens again.
  virtual std::unique_ptr<Search> TakeSearch() { return nullptr; }
};

// The translation of one sentence in an engine, from source tokens to target tokens.
struct SentenceJob {
  std::vector<int32_t> source;  // ends with the end of sentence
  // The tokens that the translation must begin with; not part of target.
  std::vector<int32_t> prefix;
  size_t min_target = 0;  // tokens before the end is allowed; for engines with a search
  size_t max_target = 0;  // tokens; a longer translation is cut
  SearchOptions search;   // ignored by engines that are always greedy

  bool align = false;  // the alignment is wanted

  // Output: the tokens that are final, without the end of sentence.
  std::vector<int32_t> target;
  // Output, once done: the source position of each token of target. Empty unless `align` is set and
  // the engine has alignments.
  std::vector<int32_t> alignment;
  // Output of engines with a search, once done: all results, of which the first is target.
  std::vector<Hypothesis> found;
  bool done = false;                     // target is complete
  bool stopped = false;                  // ended by should_stop: target is not complete
  std::unique_ptr<SentenceState> state;  // null once it is done
  std::unique_ptr<Search> suspended;     // the search of a suspended job

  bool at_work() const { return !done && !stopped; }
  // Releases the state that the engine holds, after a failure or before a long wait. The job can be
  // continued, and decides tokens that begin with those decided so far: they stay in target, or are
  // decoded again where there is no search to continue. Must not be called when the job is done.
  void Suspend();
};

// Tokens that surround those of every sentence of a request.
struct SentenceFrame {
  std::vector<int32_t> before = {};
  std::vector<int32_t> after = {};
  std::vector<int32_t> prefix = {};  // the beginning of the translation
};

// Makes a job for the tokens of a sentence. Its translation may be max_length_factor times as long
// as the framed tokens, plus 5.
SentenceJob MakeSentenceJob(const std::vector<int32_t>& tokens, const SentenceFrame& frame,
                            float max_length_factor);

// Translates sentences in batches, a few tokens of each in a call, so that others can join between
// two calls. Thread-safe; a sentence may be in one call at a time, on any thread.
class TranslationEngine {
 public:
  virtual ~TranslationEngine() = default;

  // Returns how many tokens of each job the engine decodes at a time, if that takes about as long
  // for few jobs as for many; else 1.
  virtual size_t TokensTogether() const { return 1; }
  // Decodes at least one and up to max_tokens more tokens of each job, which must be new or in
  // progress. A suspended job first restores its state. An engine that cannot pause decodes to the
  // end. should_stop(i) is called for each job before the first decoder step and once in each step;
  // if it returns true, the job ends at once. After an exception the jobs must be suspended.
  virtual void Advance(std::span<SentenceJob* const> jobs, size_t max_tokens,
                       absl::FunctionRef<bool(size_t)> should_stop,
                       runtime::WorkerContext& context) const = 0;

  // Translates the jobs from beginning to end.
  void Translate(std::span<SentenceJob> jobs, absl::FunctionRef<bool(size_t)> should_stop,
                 runtime::WorkerContext& context) const;
};

}  // namespace millrace::translation
