#include "server/requests/translation_progress.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace millrace::server {

void TranslationProgress::Start(TranslationWork& work) {
  route_ = std::move(work.route);
  texts_ = std::move(work.texts);
  places_ = std::move(work.places);
  second_ = std::move(work.second);
  if (first_of_two()) halves_.resize(places_.size());
}

std::optional<models::TranslateOutput> TranslationProgress::Take(models::TranslateOutput part) {
  ModelMetrics& metrics = route_.models[model_]->metrics();
  metrics.source_tokens.Increment(static_cast<double>(part.source_tokens));
  metrics.target_tokens.Increment(static_cast<double>(part.target_tokens));
  const size_t index = part.text_index;
  part.text_index = places_[index];
  if (first_of_two()) {
    Half& half = halves_[index];
    half.text += part.text;
    half.source_tokens += part.source_tokens;
    std::ranges::move(part.lost, std::back_inserter(half.lost));
    // Of nothing there is nothing to translate.
    if (!part.text_finished || !half.text.empty()) return std::nullopt;
    part.source_tokens = std::exchange(half.source_tokens, 0);
    part.lost = std::exchange(half.lost, {});
    return part;
  }
  // What was read of the client's text was read by the first model.
  if (!halves_.empty()) {
    Half& half = halves_[index];
    part.source_tokens = std::exchange(half.source_tokens, 0);
    std::ranges::move(std::exchange(half.lost, {}), std::back_inserter(part.lost));
  }
  return part;
}

std::optional<models::Input> TranslationProgress::Next() {
  if (!first_of_two()) return std::nullopt;
  ++model_;
  std::vector<size_t> places;
  std::vector<std::string> prefixes;
  std::vector<Half> halves;
  for (size_t i = 0; i < places_.size(); ++i) {
    if (halves_[i].text.empty()) continue;
    places.push_back(places_[i]);
    if (!second_.target_prefixes.empty()) prefixes.push_back(std::move(second_.target_prefixes[i]));
    second_.texts.push_back(std::move(halves_[i].text));
    halves.push_back({{}, halves_[i].source_tokens, std::move(halves_[i].lost)});
  }
  places_ = std::move(places);
  halves_ = std::move(halves);
  second_.target_prefixes = std::move(prefixes);
  if (second_.texts.empty()) return std::nullopt;
  return std::move(second_);
}

}  // namespace millrace::server
