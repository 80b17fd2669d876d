#include "models/translation/search/search_request.h"

#include <algorithm>

#include "models/core/errors.h"

namespace millrace::translation {
namespace {

constexpr int kMaxTargetTokens = 1024;

absl::Status CheckTokens(const char* field, std::optional<int> value, int low) {
  if (!value || (*value >= low && *value <= kMaxTargetTokens)) return absl::OkStatus();
  return InvalidArgument(field, ": ", *value, " is out of range, allowed ", low, "..",
                         kMaxTargetTokens);
}

absl::Status CheckTargetTokens(const models::SearchOverrides& wanted) {
  absl::Status status = CheckTokens("min_target_tokens", wanted.min_target_tokens, 0);
  status.Update(CheckTokens("max_target_tokens", wanted.max_target_tokens, 1));
  if (status.ok() && wanted.min_target_tokens && wanted.max_target_tokens &&
      *wanted.min_target_tokens > *wanted.max_target_tokens) {
    return InvalidArgument("min_target_tokens: ", *wanted.min_target_tokens,
                           " is above max_target_tokens, which is ", *wanted.max_target_tokens);
  }
  return status;
}

}  // namespace

absl::StatusOr<SearchOptions> SearchFor(const SearchOptions& own,
                                        const models::SearchOverrides& wanted) {
  SearchOptions options = own;
  options.hypotheses = wanted.hypotheses.value_or(1);
  if (wanted.sampling) {
    options.sample = true;
    options.beam_size = 1;
    options.temperature = wanted.sampling->temperature;
    options.top_k = wanted.sampling->top_k;
    options.top_p = wanted.sampling->top_p;
    options.seed = wanted.sampling->seed;
  } else if (!options.sample) {
    // The beam must be as wide as the number of hypotheses to return.
    options.beam_size = std::clamp(options.hypotheses, own.beam_size, SearchOptions::kMaxBeam);
  }
  options.beam_size = wanted.beam_size.value_or(options.beam_size);
  options.length_penalty = wanted.length_penalty.value_or(own.length_penalty);
  options.no_repeat_ngram_size = wanted.no_repeat_ngram_size.value_or(own.no_repeat_ngram_size);
  options.repetition_penalty = wanted.repetition_penalty.value_or(own.repetition_penalty);
  absl::Status status = CheckSearchOptions(options);
  status.Update(CheckTargetTokens(wanted));
  if (!status.ok()) return status;
  return options;
}

absl::Status CheckGreedy(const models::SearchOverrides& wanted) {
  // A value outside every range is reported as such first.
  if (auto search = SearchFor({}, wanted); !search.ok()) return search.status();
  const auto refuse = [](const char* field) {
    return InvalidArgument(
        field, ": this model takes the likeliest word each time, so a text has one translation; ",
        "only max_target_tokens can be set");
  };
  if (wanted.beam_size.value_or(1) != 1) return refuse("beam_size");
  if (wanted.hypotheses.value_or(1) != 1) return refuse("hypotheses");
  if (wanted.length_penalty) return refuse("length_penalty");
  if (wanted.no_repeat_ngram_size.value_or(0) != 0) return refuse("no_repeat_ngram_size");
  if (wanted.repetition_penalty.value_or(1) != 1) return refuse("repetition_penalty");
  if (wanted.min_target_tokens.value_or(0) != 0) return refuse("min_target_tokens");
  if (wanted.sampling) return refuse("sampling");
  return absl::OkStatus();
}

}  // namespace millrace::translation
