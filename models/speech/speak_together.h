#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "models/core/request.h"
#include "models/speech/speech_state.h"
#include "models/speech/voice.h"
#include "mps_runtime/worker_context.h"

namespace millrace::speech {

// Speaks one sentence of each request together, in a network that encodes sentences, which gives
// their numbers of frames, and decodes groups of those of like length. Its Batch has the types
// Sentence, Encoded and Part, and the functions Encode, Group and Decode; kMaxSentences are spoken
// at once, and more of them one lot behind the other. sentence_of(request)
// returns absl::StatusOr<Batch::Sentence>. The result has a place for each request, which is empty
// if it is to stop, as those of Voice::Speak are.
template <typename Batch, typename SentenceOf>
std::vector<Voice::Spoken> SpeakTogether(Batch& batch, std::span<models::Request* const> requests,
                                         const SentenceOf& sentence_of,
                                         runtime::WorkerContext& context) {
  if (constexpr size_t kMost = Batch::kMaxSentences; requests.size() > kMost) {
    auto spoken = SpeakTogether(batch, requests.first(kMost), sentence_of, context);
    std::ranges::move(SpeakTogether(batch, requests.subspan(kMost), sentence_of, context),
                      std::back_inserter(spoken));
    return spoken;
  }
  std::vector<Voice::Spoken> spoken(requests.size(), std::nullopt);
  std::vector<typename Batch::Sentence> sentences;
  std::vector<size_t> places;  // the index of each sentence's request
  for (size_t i = 0; i < requests.size(); ++i) {
    if (requests[i]->ShouldStop()) continue;
    absl::StatusOr<typename Batch::Sentence> sentence = sentence_of(*requests[i]);
    if (!sentence.ok()) {
      spoken[i] = sentence.status();
      continue;
    }
    sentences.push_back(*std::move(sentence));
    places.push_back(i);
  }
  if (sentences.empty()) return spoken;
  std::vector<typename Batch::Encoded> encoded = batch.Encode(sentences, context);

  std::vector<int64_t> frames;  // the frames of the sentences that are to be decoded
  std::vector<size_t> chosen;   // indices of these sentences
  for (size_t i = 0; i < sentences.size(); ++i) {
    SpeechState& state = StateOf(*requests[places[i]]);
    const absl::StatusOr<bool> begun = state.BeginUnit(encoded[i].frames);
    if (!begun.ok()) {
      spoken[places[i]] = begun.status();
    } else if (*begun) {
      frames.push_back(state.frames());
      chosen.push_back(i);
    }
  }
  for (const std::vector<size_t>& group : batch.Group(frames)) {
    std::vector<typename Batch::Part> parts;
    std::vector<size_t> theirs;
    for (const size_t i : group) {
      const size_t sentence = chosen[i];
      if (requests[places[sentence]]->ShouldStop()) continue;
      parts.push_back({sentences[sentence], encoded[sentence], frames[i]});
      theirs.push_back(places[sentence]);
    }
    if (parts.empty()) continue;
    std::vector<std::vector<float>> samples = batch.Decode(parts, context);
    for (size_t i = 0; i < theirs.size(); ++i) spoken[theirs[i]] = std::move(samples[i]);
  }
  return spoken;
}

}  // namespace millrace::speech
