#include "models/translation/search/search_options.h"

#include "models/core/errors.h"

namespace millrace::translation {
namespace {

template <typename T>
absl::Status InRange(const char* field, T value, T low, T high) {
  if (value >= low && value <= high) return absl::OkStatus();
  return InvalidArgument(field, ": ", value, " is out of range, allowed ", low, "..", high);
}

}  // namespace

absl::Status CheckSearchOptions(const SearchOptions& options) {
  constexpr int kMaxNgram = 64;
  constexpr int kMaxTopK = 1 << 20;
  absl::Status status = InRange("beam_size", options.beam_size, 1, SearchOptions::kMaxBeam);
  status.Update(InRange("hypotheses", options.hypotheses, 1, options.beam_size));
  status.Update(InRange("length_penalty", options.length_penalty, -10.0F, 10.0F));
  status.Update(InRange("no_repeat_ngram_size", options.no_repeat_ngram_size, 0, kMaxNgram));
  status.Update(InRange("repetition_penalty", options.repetition_penalty, 0.01F, 100.0F));
  status.Update(InRange("temperature", options.temperature, 0.01F, 100.0F));
  status.Update(InRange("top_k", options.top_k, 0, kMaxTopK));
  status.Update(InRange("top_p", options.top_p, 0.0F, 1.0F));
  if (options.sample && options.beam_size != 1) {
    status.Update(InvalidArgument("beam_size: ", options.beam_size,
                                  " with sample, which is for beam_size 1"));
  }
  return status;
}

}  // namespace millrace::translation
