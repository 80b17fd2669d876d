#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "models/core/model_info.h"
#include "models/core/payload.h"
#include "models/translation/markup/source_sentences.h"
#include "server/executors/fields.h"

// The fields of models' inputs, outputs and descriptions. Check refuses what no model sends.
namespace millrace::server {

void Check(FieldReader& reader, const models::Tensor& tensor);
void Check(FieldReader& reader, const translation::MarkedText& marked);
void Check(FieldReader& reader, const models::TranslateInput& input);
void Check(FieldReader& reader, const models::SynthesizeInput& input);
void Check(FieldReader& reader, const models::SynthesizeOutput& output);
void Check(FieldReader& reader, const models::ModelInfo& info);
void Check(const FieldWriter& /*writer*/, const auto& /*native*/) {}

void Fields(auto& archive, MaybeConst<models::Tensor> auto& tensor) {
  archive(tensor.name, tensor.shape);
  archive.Enumerator(tensor.type, models::DataType::kBytes, "type of a tensor");
  archive.Large(tensor.data);
  Check(archive, tensor);
}

void Fields(auto& archive, MaybeConst<models::InferInput> auto& input) {
  archive(input.inputs, input.requested_outputs);
}

void Fields(auto& archive, MaybeConst<models::InferOutput> auto& output) {
  archive(output.outputs);
}

void Fields(auto& archive, MaybeConst<models::GlossaryEntry> auto& entry) {
  archive(entry.source, entry.target);
}

void Fields(auto& archive, MaybeConst<models::SamplingOverride> auto& sampling) {
  archive(sampling.temperature, sampling.top_k, sampling.top_p, sampling.seed);
}

void Fields(auto& archive, MaybeConst<models::SearchOverrides> auto& search) {
  archive(search.beam_size, search.hypotheses, search.length_penalty, search.no_repeat_ngram_size,
          search.repetition_penalty, search.min_target_tokens, search.max_target_tokens,
          search.sampling);
}

void Fields(auto& archive, MaybeConst<translation::MarkEvent> auto& event) {
  archive(event.at, event.markup);
  archive.Enumerator(event.kind, translation::MarkEvent::Kind::kAlone, "mark");
}

// Returns a text of the few that models read in place of kept spans, in static storage.
std::string_view Interned(FieldReader& reader, const std::string& text);

template <typename Archive>
void Fields(Archive& archive, MaybeConst<translation::KeptSpan> auto& kept) {
  std::optional<std::string> reads;
  if (kept.reads) reads.emplace(*kept.reads);
  archive(kept.begin, kept.end, kept.becomes, kept.returns, reads);
  if constexpr (Archive::kReads) {
    if (reads) kept.reads = Interned(archive, *reads);
  }
}

void Fields(auto& archive, MaybeConst<translation::Spelling> auto& spelling) {
  archive(spelling.begin, spelling.end, spelling.written);
}

void Fields(auto& archive, MaybeConst<translation::MarkedText> auto& marked) {
  archive(marked.text, marked.events, marked.kept, marked.spellings, marked.is_html);
  Check(archive, marked);
}

template <typename Archive>
void Fields(Archive& archive,
            MaybeConst<std::shared_ptr<const models::PivotSentence>> auto& pivot) {
  const auto* sentence = static_cast<const translation::TranslatedSentence*>(pivot.get());
  bool is_set = sentence != nullptr;
  archive(is_set);
  if (!is_set) return;
  if constexpr (Archive::kReads) {
    translation::MarkedText marked;
    std::string behind;
    archive(marked, behind);
    pivot = std::make_shared<translation::TranslatedSentence>(std::move(marked), std::move(behind));
  } else {
    archive(sentence->marked, sentence->behind);
  }
}

void Fields(auto& archive, MaybeConst<models::TranslateInput> auto& input) {
  archive(input.texts, input.source_language, input.target_language, input.search,
          input.target_prefixes, input.glossary, input.do_not_translate, input.partial,
          input.use_cache, input.for_pivot, input.first_soon, input.pivot_sentences);
  archive.Enumerator(input.format, models::TextFormat::kMarkdown, "format of a text");
  Check(archive, input);
}

void Fields(auto& archive, MaybeConst<models::TranslationAlternative> auto& alternative) {
  archive(alternative.text, alternative.score);
}

void Fields(auto& archive, MaybeConst<models::TranslateOutput> auto& output) {
  archive(output.text_index, output.text, output.text_finished, output.source_tokens,
          output.target_tokens, output.sentence_finished, output.score, output.alternatives,
          output.lost, output.pivot_sentence);
}

void Fields(auto& archive, MaybeConst<models::SpeechManner> auto& manner) {
  archive(manner.voice, manner.language, manner.speed, manner.gain_db);
}

void Fields(auto& archive, MaybeConst<models::SpeechPart> auto& part) {
  archive(part.begin, part.end, part.manner, part.pause);
  archive.Enumerator(part.break_before, models::SpeechBreak::kParagraph, "break of a part");
}

void Fields(auto& archive, MaybeConst<models::SpeechReading> auto& reading) {
  archive(reading.begin, reading.end, reading.written, reading.phonemes, reading.is_ipa,
          reading.place);
}

void Fields(auto& archive, MaybeConst<models::SpeechAnchor> auto& anchor) {
  archive(anchor.byte, anchor.character);
}

void Fields(auto& archive, MaybeConst<models::SpeechMarkup> auto& markup) {
  archive(markup.parts, markup.readings, markup.anchors, markup.pause_after);
}

void Fields(auto& archive, MaybeConst<models::SpokenSoFar> auto& spoken) {
  archive(spoken.bytes, spoken.sentences);
}

// All but what earlier runs have spoken, which each step tells.
void Fields(auto& archive, MaybeConst<models::SynthesizeInput> auto& input) {
  archive(input.text, input.is_phonemes, input.language, input.voice, input.speed,
          input.noise_scale, input.noise_w, input.seed, input.streamed, input.first_sentence,
          input.part_of_text, input.sentence_pause, input.paragraph_pause, input.word_times,
          input.phoneme_times, input.use_cache, input.markup);
  archive.Enumerator(input.break_before, models::SpeechBreak::kParagraph, "break of a text");
  Check(archive, input);
}

void Fields(auto& archive, MaybeConst<models::SpokenSpan> auto& span) {
  archive(span.text, span.begin, span.end, span.character);
}

void Fields(auto& archive, MaybeConst<models::SynthesizeOutput> auto& output) {
  archive(output.sample_rate, output.sentence_index, output.text, output.sentence_finished,
          output.words, output.phonemes, output.spoken);
  archive.Large(output.samples);
  Check(archive, output);
}

void Fields(auto& archive, MaybeConst<models::TensorSpec> auto& spec) {
  archive(spec.name, spec.shape);
  archive.Enumerator(spec.type, models::DataType::kBytes, "type of a tensor");
}

void Fields(auto& archive, MaybeConst<models::InferInfo> auto& info) {
  archive(info.inputs, info.outputs);
}

void Fields(auto& archive, MaybeConst<models::TranslationInfo> auto& info) {
  archive(info.source_language, info.target_language, info.source_languages, info.target_languages,
          info.max_hypotheses);
}

void Fields(auto& archive, MaybeConst<models::LanguageVoice> auto& voice) {
  archive(voice.language, voice.voice);
}

void Fields(auto& archive, MaybeConst<models::SpeechInfo> auto& info) {
  archive(info.voices, info.language, info.languages, info.voice_languages, info.default_voices,
          info.speech_cost, info.sample_rate, info.pronunciation_languages, info.min_speed,
          info.max_speed, info.precision, info.int8_distance_db);
}

void Fields(auto& archive, MaybeConst<models::BatchPolicy> auto& batching) {
  archive(batching.max_batch, batching.linger, batching.queue_size, batching.continuous,
          batching.divided, batching.full_work);
}

void Fields(auto& archive, MaybeConst<models::ModelInfo> auto& info) {
  archive(info.name, info.version, info.platform, info.license, info.batching, info.details);
  Check(archive, info);
}

}  // namespace millrace::server
