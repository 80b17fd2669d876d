#include "server/executors/delivered_outputs.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <variant>

namespace millrace::server {
namespace {

// Adds samples to the hash of those before them.
uint64_t HashSamples(uint64_t hash, std::span<const float> samples) {
  for (const float sample : samples) {
    hash = (hash ^ std::bit_cast<uint32_t>(sample)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

void DeliveredOutputs::BeginReplay() {
  tensors_.BeginReplay();
  const Speech::Checkpoint& from = speech_.checkpoint;
  speech_.begun.BeginReplay(from.begun);
  speech_.finished.BeginReplay(from.finished);
  speech_.samples.BeginReplay(from.samples);
  speech_.seen_hash = from.hash;
  speech_.within_sentence = false;
  for (Text& text : texts_) {
    text.seen = 0;
    text.finished.BeginReplay();
  }
}

DeliveredOutputs::Verdict DeliveredOutputs::Take(models::Output& output) {
  if (auto* translation = std::get_if<models::TranslateOutput>(&output)) {
    if (translation->text_index >= texts_.size()) texts_.resize(translation->text_index + 1);
    return TakeText(*translation, texts_[translation->text_index]);
  }
  if (auto* speech = std::get_if<models::SynthesizeOutput>(&output)) return TakeSpeech(*speech);
  return tensors_.Next() ? Verdict::kDeliver : Verdict::kDrop;
}

DeliveredOutputs::Verdict DeliveredOutputs::TakeSpeech(models::SynthesizeOutput& output) {
  Count& count = speech_.samples;
  const size_t known = std::min(output.samples.size(), count.delivered - count.seen);
  const std::span<const float> samples(output.samples);
  speech_.seen_hash = HashSamples(speech_.seen_hash, samples.first(known));
  count.seen += known;
  if (known > 0 && count.seen == count.delivered && speech_.seen_hash != speech_.hash)
    return Verdict::kDiffers;
  bool is_new = output.samples.size() > known;
  if (is_new) {
    speech_.hash = speech_.seen_hash = HashSamples(speech_.seen_hash, samples.subspan(known));
    count.delivered = count.seen += output.samples.size() - known;
    output.samples.erase(output.samples.begin(),
                         output.samples.begin() + static_cast<std::ptrdiff_t>(known));
  }
  if (!std::exchange(speech_.within_sentence, !output.sentence_finished)) {
    if (speech_.begun.Next()) {
      is_new = true;
    } else {
      // They came with the first piece of the sentence.
      output.text.clear();
      output.words.clear();
      output.phonemes.clear();
    }
  }
  if (output.sentence_finished && speech_.finished.Next()) is_new = true;
  if (output.spoken.sentences > speech_.checkpoint.spoken.sentences) {
    speech_.checkpoint = {.spoken = output.spoken,
                          .begun = speech_.begun.seen,
                          .finished = speech_.finished.seen,
                          .samples = count.seen,
                          .hash = speech_.seen_hash};
  }
  return is_new ? Verdict::kDeliver : Verdict::kDrop;
}

DeliveredOutputs::Verdict DeliveredOutputs::TakeText(models::TranslateOutput& output, Text& text) {
  const size_t known = std::min(output.text.size(), text.delivered.size() - text.seen);
  if (output.text.compare(0, known, text.delivered, text.seen, known) != 0)
    return Verdict::kDiffers;
  text.seen += output.text.size();
  output.text.erase(0, known);
  text.delivered += output.text;
  bool is_new = !output.text.empty();
  if (output.sentence_finished && text.finished.Next()) is_new = true;
  return is_new ? Verdict::kDeliver : Verdict::kDrop;
}

bool DeliveredOutputs::caught_up() const {
  const auto text_caught_up = [](const Text& text) {
    return text.seen >= text.delivered.size() && text.finished.caught_up();
  };
  return tensors_.caught_up() && speech_.samples.caught_up() && speech_.finished.caught_up() &&
         std::ranges::all_of(texts_, text_caught_up);
}

}  // namespace millrace::server
