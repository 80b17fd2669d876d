#include "server/executors/delivered_outputs.h"

#include <algorithm>
#include <string_view>
#include <variant>

#include "absl/hash/hash.h"

namespace millrace::server {
namespace {

size_t HashOf(const models::InferOutput& output) {
  size_t hash = output.outputs.size();
  for (const models::Tensor& tensor : output.outputs) hash = absl::HashOf(hash, tensor.data.size());
  return hash;
}

size_t HashOf(const models::SynthesizeOutput& output) {
  const std::string_view samples(reinterpret_cast<const char*>(output.samples.data()),
                                 output.samples.size() * sizeof(float));
  return absl::HashOf(samples, output.text, output.sentence_index, output.sentence_finished);
}

}  // namespace

void DeliveredOutputs::BeginReplay() {
  pieces_.seen = 0;
  pieces_.seen_hash = 0;
  for (Text& text : texts_) {
    text.seen = 0;
    text.seen_sentences = 0;
  }
}

DeliveredOutputs::Verdict DeliveredOutputs::Take(models::Output& output) {
  if (auto* translation = std::get_if<models::TranslateOutput>(&output)) {
    if (translation->text_index >= texts_.size()) texts_.resize(translation->text_index + 1);
    return TakeText(*translation, texts_[translation->text_index]);
  }
  if (const auto* speech = std::get_if<models::SynthesizeOutput>(&output))
    return TakePiece(HashOf(*speech));
  return TakePiece(HashOf(std::get<models::InferOutput>(output)));
}

DeliveredOutputs::Verdict DeliveredOutputs::TakePiece(size_t hash) {
  pieces_.seen_hash = absl::HashOf(pieces_.seen_hash, hash);
  ++pieces_.seen;
  if (pieces_.seen > pieces_.delivered) {
    pieces_.delivered = pieces_.seen;
    pieces_.hash = pieces_.seen_hash;
    return Verdict::kDeliver;
  }
  if (pieces_.seen == pieces_.delivered && pieces_.seen_hash != pieces_.hash)
    return Verdict::kDiffers;
  return Verdict::kDrop;
}

DeliveredOutputs::Verdict DeliveredOutputs::TakeText(models::TranslateOutput& output, Text& text) {
  const size_t known = std::min(output.text.size(), text.delivered.size() - text.seen);
  if (output.text.compare(0, known, text.delivered, text.seen, known) != 0)
    return Verdict::kDiffers;
  text.seen += output.text.size();
  output.text.erase(0, known);
  text.delivered += output.text;
  bool is_new = !output.text.empty();
  if (output.sentence_finished && ++text.seen_sentences > text.sentences) {
    text.sentences = text.seen_sentences;
    is_new = true;
  }
  return is_new ? Verdict::kDeliver : Verdict::kDrop;
}

bool DeliveredOutputs::caught_up() const {
  return pieces_.seen >= pieces_.delivered && std::ranges::all_of(texts_, [](const Text& text) {
           return text.seen >= text.delivered.size() && text.seen_sentences >= text.sentences;
         });
}

}  // namespace millrace::server
