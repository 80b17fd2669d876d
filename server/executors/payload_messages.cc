#include "server/executors/payload_messages.h"

#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

#include "models/core/strings.h"
#include "models/translation/markup/source_sentences.h"
#include "mps_runtime/base/mutex.h"

namespace millrace::server {
namespace {

namespace wire = executor::v1;

absl::Status Malformed(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("a message of an executor is malformed: ", what));
}

// Returns the enumerator of this number, if it is at most the last one.
template <typename Enum>
absl::StatusOr<Enum> ReadEnum(uint32_t number, Enum last, std::string_view what) {
  if (number > static_cast<uint32_t>(last)) return Malformed(StrCat("unknown ", what, " ", number));
  return static_cast<Enum>(number);
}

template <typename Strings>
std::vector<std::string> ToVector(const Strings& strings) {
  return {strings.begin(), strings.end()};
}

template <typename T, typename Field>
void AddAll(const std::vector<T>& from, Field* to) {
  to->Add(from.begin(), from.end());
}

void WriteTensor(const models::Tensor& tensor, wire::Tensor& message, Behind& behind) {
  message.set_name(tensor.name);
  message.set_type(static_cast<uint32_t>(tensor.type));
  AddAll(tensor.shape, message.mutable_shape());
  message.set_data_bytes(tensor.data.size());
  behind.push_back(tensor.data);
}

absl::StatusOr<models::Tensor> ReadTensor(const wire::Tensor& message, BehindReader& behind) {
  models::Tensor tensor;
  tensor.name = message.name();
  const auto type = ReadEnum(message.type(), models::DataType::kBytes, "type of a tensor");
  if (!type.ok()) return type.status();
  tensor.type = *type;
  tensor.shape.assign(message.shape().begin(), message.shape().end());
  const auto data = behind.Take(message.data_bytes());
  if (!data.ok()) return data.status();
  const std::optional<int64_t> count = models::ElementCount(tensor.shape);
  if (!count) return Malformed("a tensor's shape is out of range");
  const size_t size = models::ElementSize(tensor.type);
  if (size != 0 &&
      (data->size() % size != 0 || static_cast<uint64_t>(*count) != data->size() / size))
    return Malformed("a tensor's data are not those of its shape");
  tensor.data = *data;
  return tensor;
}

template <typename Messages>
absl::StatusOr<std::vector<models::Tensor>> ReadTensors(const Messages& messages,
                                                        BehindReader& behind) {
  std::vector<models::Tensor> tensors;
  for (const wire::Tensor& message : messages) {
    auto tensor = ReadTensor(message, behind);
    if (!tensor.ok()) return tensor.status();
    tensors.push_back(*std::move(tensor));
  }
  return tensors;
}

// Returns a text of the few that models read in place of kept spans, in static storage.
std::optional<std::string_view> Interned(const std::string& text) {
  constexpr size_t kMost = 256;
  static Mutex mu;
  static auto& texts = *new std::set<std::string>;
  const MutexLock lock(mu);
  auto found = texts.find(text);
  if (found == texts.end()) {
    if (texts.size() >= kMost) return std::nullopt;
    found = texts.insert(text).first;
  }
  return *found;
}

void WritePivot(const models::PivotSentence* pivot, wire::PivotSentence& message) {
  const auto* sentence = static_cast<const translation::TranslatedSentence*>(pivot);
  message.set_is_set(sentence != nullptr);
  if (sentence == nullptr) return;
  const translation::MarkedText& marked = sentence->marked;
  message.set_text(marked.text);
  message.set_is_html(marked.is_html);
  message.set_behind(sentence->behind);
  for (const translation::MarkEvent& event : marked.events) {
    wire::PivotSentence::Event& to = *message.add_events();
    to.set_at(event.at);
    to.set_kind(static_cast<uint32_t>(event.kind));
    to.set_markup(event.markup);
  }
  for (const translation::KeptSpan& kept : marked.kept) {
    wire::PivotSentence::Kept& to = *message.add_kept();
    to.set_begin(kept.begin);
    to.set_end(kept.end);
    to.set_becomes(kept.becomes);
    if (kept.reads) to.set_reads(std::string(*kept.reads));
    to.set_returns(kept.returns);
  }
  for (const translation::Spelling& spelling : marked.spellings) {
    wire::PivotSentence::Spelling& to = *message.add_spellings();
    to.set_begin(spelling.begin);
    to.set_end(spelling.end);
    to.set_written(spelling.written);
  }
}

absl::StatusOr<std::shared_ptr<const models::PivotSentence>> ReadPivot(
    const wire::PivotSentence& message) {
  if (!message.is_set()) return nullptr;
  translation::MarkedText marked;
  marked.text = message.text();
  marked.is_html = message.is_html();
  const size_t size = marked.text.size();
  size_t last = 0;
  for (const wire::PivotSentence::Event& event : message.events()) {
    const auto kind = ReadEnum(event.kind(), translation::MarkEvent::Kind::kAlone, "mark");
    if (!kind.ok()) return kind.status();
    if (event.at() < last || event.at() > size) return Malformed("a mark is out of its text");
    last = event.at();
    marked.events.push_back({event.at(), *kind, event.markup()});
  }
  last = 0;
  for (const wire::PivotSentence::Kept& kept : message.kept()) {
    if (kept.begin() < last || kept.end() < kept.begin() || kept.end() > size)
      return Malformed("a protected span is out of its text");
    last = kept.end();
    translation::KeptSpan span{kept.begin(), kept.end(), kept.becomes(), {}, kept.returns()};
    if (kept.has_reads()) {
      span.reads = Interned(kept.reads());
      if (!span.reads) return Malformed("too many texts in place of protected spans");
    }
    marked.kept.push_back(std::move(span));
  }
  last = 0;
  for (const wire::PivotSentence::Spelling& spelling : message.spellings()) {
    if (spelling.begin() < last || spelling.end() < spelling.begin() || spelling.end() > size)
      return Malformed("a spelling is out of its text");
    last = spelling.end();
    marked.spellings.push_back({spelling.begin(), spelling.end(), spelling.written()});
  }
  return std::make_shared<translation::TranslatedSentence>(std::move(marked), message.behind());
}

void WriteOf(const models::InferInput& input, wire::Input& message, Behind& behind) {
  wire::InferInput& to = *message.mutable_infer();
  for (const models::Tensor& tensor : input.inputs) WriteTensor(tensor, *to.add_inputs(), behind);
  AddAll(input.requested_outputs, to.mutable_requested_outputs());
}

absl::StatusOr<models::Input> ReadOf(const wire::InferInput& message, BehindReader& behind) {
  auto tensors = ReadTensors(message.inputs(), behind);
  if (!tensors.ok()) return tensors.status();
  return models::InferInput{.inputs = *std::move(tensors),
                            .requested_outputs = ToVector(message.requested_outputs())};
}

void WriteSearch(const models::SearchOverrides& search, wire::Search& to) {
  if (search.beam_size) to.set_beam_size(*search.beam_size);
  if (search.hypotheses) to.set_hypotheses(*search.hypotheses);
  if (search.length_penalty) to.set_length_penalty(*search.length_penalty);
  if (search.no_repeat_ngram_size) to.set_no_repeat_ngram_size(*search.no_repeat_ngram_size);
  if (search.repetition_penalty) to.set_repetition_penalty(*search.repetition_penalty);
  if (search.min_target_tokens) to.set_min_target_tokens(*search.min_target_tokens);
  if (search.max_target_tokens) to.set_max_target_tokens(*search.max_target_tokens);
  if (!search.sampling) return;
  to.mutable_sampling()->set_temperature(search.sampling->temperature);
  to.mutable_sampling()->set_top_k(search.sampling->top_k);
  to.mutable_sampling()->set_top_p(search.sampling->top_p);
  to.mutable_sampling()->set_seed(search.sampling->seed);
}

models::SearchOverrides ReadSearch(const wire::Search& message) {
  models::SearchOverrides search;
  if (message.has_beam_size()) search.beam_size = message.beam_size();
  if (message.has_hypotheses()) search.hypotheses = message.hypotheses();
  if (message.has_length_penalty()) search.length_penalty = message.length_penalty();
  if (message.has_no_repeat_ngram_size())
    search.no_repeat_ngram_size = message.no_repeat_ngram_size();
  if (message.has_repetition_penalty()) search.repetition_penalty = message.repetition_penalty();
  if (message.has_min_target_tokens()) search.min_target_tokens = message.min_target_tokens();
  if (message.has_max_target_tokens()) search.max_target_tokens = message.max_target_tokens();
  if (message.has_sampling()) {
    const wire::Sampling& sampling = message.sampling();
    search.sampling = models::SamplingOverride{.temperature = sampling.temperature(),
                                               .top_k = sampling.top_k(),
                                               .top_p = sampling.top_p(),
                                               .seed = sampling.seed()};
  }
  return search;
}

void WriteOf(const models::TranslateInput& input, wire::Input& message, Behind& /*behind*/) {
  wire::TranslateInput& to = *message.mutable_translate();
  AddAll(input.texts, to.mutable_texts());
  to.set_source_language(input.source_language);
  to.set_target_language(input.target_language);
  if (input.search != models::SearchOverrides()) WriteSearch(input.search, *to.mutable_search());
  AddAll(input.target_prefixes, to.mutable_target_prefixes());
  to.set_format(static_cast<uint32_t>(input.format));
  for (const models::GlossaryEntry& entry : input.glossary) {
    wire::Term& term = *to.add_glossary();
    term.set_source(entry.source);
    term.set_target(entry.target);
  }
  AddAll(input.do_not_translate, to.mutable_do_not_translate());
  to.set_partial(input.partial);
  to.set_use_cache(input.use_cache);
  to.set_for_pivot(input.for_pivot);
  to.set_first_soon(input.first_soon);
  for (const auto& pivot : input.pivot_sentences)
    WritePivot(pivot.get(), *to.add_pivot_sentences());
}

absl::StatusOr<models::Input> ReadOf(const wire::TranslateInput& message,
                                     BehindReader& /*behind*/) {
  models::TranslateInput input;
  input.texts = ToVector(message.texts());
  if (input.texts.empty()) return Malformed("there is no text to translate");
  input.source_language = message.source_language();
  input.target_language = message.target_language();
  input.search = ReadSearch(message.search());
  input.target_prefixes = ToVector(message.target_prefixes());
  const auto format = ReadEnum(message.format(), models::TextFormat::kMarkdown, "format of a text");
  if (!format.ok()) return format.status();
  input.format = *format;
  for (const wire::Term& term : message.glossary())
    input.glossary.push_back({term.source(), term.target()});
  input.do_not_translate = ToVector(message.do_not_translate());
  input.partial = message.partial();
  input.use_cache = message.use_cache();
  input.for_pivot = message.for_pivot();
  input.first_soon = message.first_soon();
  for (const wire::PivotSentence& pivot : message.pivot_sentences()) {
    auto sentence = ReadPivot(pivot);
    if (!sentence.ok()) return sentence.status();
    input.pivot_sentences.push_back(*std::move(sentence));
  }
  for (const size_t size : {input.target_prefixes.size(), input.pivot_sentences.size()}) {
    if (size != 0 && size != input.texts.size())
      return Malformed("there are not as many prefixes or pivot sentences as texts");
  }
  return input;
}

void WriteMarkup(const models::SpeechMarkup& markup, wire::SynthesizeInput& to) {
  for (const models::SpeechPart& part : markup.parts) {
    wire::SpeechPart& message = *to.add_parts();
    message.set_begin(part.begin);
    message.set_end(part.end);
    message.set_voice(part.manner.voice);
    message.set_language(part.manner.language);
    message.set_speed(part.manner.speed);
    message.set_gain_db(part.manner.gain_db);
    message.set_pause(part.pause);
    message.set_break_before(static_cast<uint32_t>(part.break_before));
  }
  for (const models::SpeechReading& reading : markup.readings) {
    wire::SpeechReading& message = *to.add_readings();
    message.set_begin(reading.begin);
    message.set_end(reading.end);
    message.set_written(reading.written);
    message.set_phonemes(reading.phonemes);
    message.set_is_ipa(reading.is_ipa);
    message.set_place(reading.place);
  }
  for (const models::SpeechAnchor& anchor : markup.anchors) {
    wire::SpeechAnchor& message = *to.add_anchors();
    message.set_byte(anchor.byte);
    message.set_character(anchor.character);
  }
  to.set_pause_after(markup.pause_after);
}

absl::StatusOr<models::SpeechMarkup> ReadMarkup(const wire::SynthesizeInput& message) {
  models::SpeechMarkup markup;
  const size_t size = message.text().size();
  size_t last = 0;
  for (const wire::SpeechPart& part : message.parts()) {
    const auto pause =
        ReadEnum(part.break_before(), models::SpeechBreak::kParagraph, "break of a part");
    if (!pause.ok()) return pause.status();
    if (part.begin() < last || part.end() < part.begin() || part.end() > size)
      return Malformed("a part of a text is out of it");
    last = part.end();
    markup.parts.push_back({.begin = part.begin(),
                            .end = part.end(),
                            .manner = {.voice = part.voice(),
                                       .language = part.language(),
                                       .speed = part.speed(),
                                       .gain_db = part.gain_db()},
                            .pause = part.pause(),
                            .break_before = *pause});
  }
  last = 0;
  for (const wire::SpeechReading& reading : message.readings()) {
    if (reading.begin() < last || reading.end() <= reading.begin() || reading.end() > size)
      return Malformed("a reading is out of its text");
    last = reading.end();
    markup.readings.push_back({.begin = reading.begin(),
                               .end = reading.end(),
                               .written = reading.written(),
                               .phonemes = reading.phonemes(),
                               .is_ipa = reading.is_ipa(),
                               .place = reading.place()});
  }
  last = 0;
  for (const wire::SpeechAnchor& anchor : message.anchors()) {
    if (anchor.byte() < last || anchor.byte() > size)
      return Malformed("an anchor is out of its text");
    last = anchor.byte();
    markup.anchors.push_back({anchor.byte(), anchor.character()});
  }
  markup.pause_after = message.pause_after();
  return markup;
}

void WriteSpoken(const models::SpokenSoFar& spoken, wire::SpokenSoFar& to) {
  to.set_bytes(spoken.bytes);
  to.set_sentences(spoken.sentences);
}

models::SpokenSoFar ReadSpoken(const wire::SpokenSoFar& message) {
  return {.bytes = message.bytes(), .sentences = message.sentences()};
}

void WriteOf(const models::SynthesizeInput& input, wire::Input& message, Behind& /*behind*/) {
  wire::SynthesizeInput& to = *message.mutable_synthesize();
  to.set_text(input.text);
  to.set_is_phonemes(input.is_phonemes);
  to.set_language(input.language);
  to.set_voice(input.voice);
  to.set_speed(input.speed);
  to.set_noise_scale(input.noise_scale);
  to.set_noise_w(input.noise_w);
  to.set_seed(input.seed);
  to.set_streamed(input.streamed);
  to.set_first_sentence(input.first_sentence);
  to.set_part_of_text(input.part_of_text);
  to.set_break_before(static_cast<uint32_t>(input.break_before));
  to.set_sentence_pause(input.sentence_pause);
  to.set_paragraph_pause(input.paragraph_pause);
  to.set_word_times(input.word_times);
  to.set_phoneme_times(input.phoneme_times);
  to.set_use_cache(input.use_cache);
  WriteMarkup(input.markup, to);
  if (input.spoken != models::SpokenSoFar()) WriteSpoken(input.spoken, *to.mutable_spoken());
}

absl::StatusOr<models::Input> ReadOf(const wire::SynthesizeInput& message,
                                     BehindReader& /*behind*/) {
  const auto pause =
      ReadEnum(message.break_before(), models::SpeechBreak::kParagraph, "break of a text");
  if (!pause.ok()) return pause.status();
  auto markup = ReadMarkup(message);
  if (!markup.ok()) return markup.status();
  if (message.spoken().bytes() > message.text().size())
    return Malformed("more of a text was spoken than it has");
  return models::SynthesizeInput{.text = message.text(),
                                 .is_phonemes = message.is_phonemes(),
                                 .language = message.language(),
                                 .voice = message.voice(),
                                 .speed = message.speed(),
                                 .noise_scale = message.noise_scale(),
                                 .noise_w = message.noise_w(),
                                 .seed = message.seed(),
                                 .streamed = message.streamed(),
                                 .first_sentence = message.first_sentence(),
                                 .spoken = ReadSpoken(message.spoken()),
                                 .part_of_text = message.part_of_text(),
                                 .break_before = *pause,
                                 .sentence_pause = message.sentence_pause(),
                                 .paragraph_pause = message.paragraph_pause(),
                                 .word_times = message.word_times(),
                                 .phoneme_times = message.phoneme_times(),
                                 .use_cache = message.use_cache(),
                                 .markup = *std::move(markup)};
}

void WriteOf(const models::InferOutput& output, wire::Output& message, Behind& behind) {
  for (const models::Tensor& tensor : output.outputs)
    WriteTensor(tensor, *message.mutable_infer()->add_outputs(), behind);
  message.mutable_infer();  // also without tensors
}

absl::StatusOr<models::Output> ReadOf(const wire::InferOutput& message, BehindReader& behind) {
  auto tensors = ReadTensors(message.outputs(), behind);
  if (!tensors.ok()) return tensors.status();
  return models::InferOutput{.outputs = *std::move(tensors)};
}

void WriteOf(const models::TranslateOutput& output, wire::Output& message, Behind& /*behind*/) {
  wire::TranslateOutput& to = *message.mutable_translate();
  to.set_text_index(output.text_index);
  to.set_text(output.text);
  to.set_text_finished(output.text_finished);
  to.set_source_tokens(output.source_tokens);
  to.set_target_tokens(output.target_tokens);
  to.set_sentence_finished(output.sentence_finished);
  to.set_score(output.score);
  for (const models::TranslationAlternative& alternative : output.alternatives) {
    to.add_alternatives()->set_text(alternative.text);
    to.mutable_alternatives()->rbegin()->set_score(alternative.score);
  }
  AddAll(output.lost, to.mutable_lost());
  if (output.pivot_sentence != nullptr)
    WritePivot(output.pivot_sentence.get(), *to.mutable_pivot_sentence());
}

absl::StatusOr<models::Output> ReadOf(const wire::TranslateOutput& message,
                                      BehindReader& /*behind*/) {
  models::TranslateOutput output;
  output.text_index = message.text_index();
  output.text = message.text();
  output.text_finished = message.text_finished();
  output.source_tokens = message.source_tokens();
  output.target_tokens = message.target_tokens();
  output.sentence_finished = message.sentence_finished();
  output.score = message.score();
  for (const wire::Alternative& alternative : message.alternatives())
    output.alternatives.push_back({alternative.text(), alternative.score()});
  output.lost = ToVector(message.lost());
  auto pivot = ReadPivot(message.pivot_sentence());
  if (!pivot.ok()) return pivot.status();
  output.pivot_sentence = *std::move(pivot);
  return output;
}

void WriteSpans(const std::vector<models::SpokenSpan>& spans,
                google::protobuf::RepeatedPtrField<wire::SpokenSpan>& to) {
  for (const models::SpokenSpan& span : spans) {
    wire::SpokenSpan& message = *to.Add();
    message.set_text(span.text);
    message.set_begin(span.begin);
    message.set_end(span.end);
    message.set_character(span.character);
  }
}

std::vector<models::SpokenSpan> ReadSpans(
    const google::protobuf::RepeatedPtrField<wire::SpokenSpan>& messages) {
  std::vector<models::SpokenSpan> spans;
  for (const wire::SpokenSpan& message : messages) {
    spans.push_back({.text = message.text(),
                     .begin = message.begin(),
                     .end = message.end(),
                     .character = message.character()});
  }
  return spans;
}

void WriteOf(const models::SynthesizeOutput& output, wire::Output& message, Behind& behind) {
  wire::SynthesizeOutput& to = *message.mutable_synthesize();
  to.set_sample_rate(output.sample_rate);
  const size_t bytes = output.samples.size() * sizeof(float);
  to.set_samples_bytes(bytes);
  behind.emplace_back(reinterpret_cast<const char*>(output.samples.data()), bytes);
  to.set_sentence_index(output.sentence_index);
  to.set_text(output.text);
  to.set_sentence_finished(output.sentence_finished);
  WriteSpans(output.words, *to.mutable_words());
  WriteSpans(output.phonemes, *to.mutable_phonemes());
  if (output.spoken != models::SpokenSoFar()) WriteSpoken(output.spoken, *to.mutable_spoken());
}

absl::StatusOr<models::Output> ReadOf(const wire::SynthesizeOutput& message, BehindReader& behind) {
  const auto samples = behind.Take(message.samples_bytes());
  if (!samples.ok()) return samples.status();
  if (samples->size() % sizeof(float) != 0) return Malformed("a sample is cut");
  constexpr int kMostHertz = 1'000'000;
  if (message.sample_rate() <= 0 || message.sample_rate() > kMostHertz)
    return Malformed(StrCat("the sample rate ", message.sample_rate(), " is out of range"));
  models::SynthesizeOutput output;
  output.sample_rate = message.sample_rate();
  output.samples.resize(samples->size() / sizeof(float));
  if (!samples->empty()) std::memcpy(output.samples.data(), samples->data(), samples->size());
  output.sentence_index = message.sentence_index();
  output.text = message.text();
  output.sentence_finished = message.sentence_finished();
  output.words = ReadSpans(message.words());
  output.phonemes = ReadSpans(message.phonemes());
  output.spoken = ReadSpoken(message.spoken());
  return output;
}

void WriteSpecs(const std::vector<models::TensorSpec>& specs,
                google::protobuf::RepeatedPtrField<wire::TensorSpec>& to) {
  for (const models::TensorSpec& spec : specs) {
    wire::TensorSpec& message = *to.Add();
    message.set_name(spec.name);
    message.set_type(static_cast<uint32_t>(spec.type));
    AddAll(spec.shape, message.mutable_shape());
  }
}

absl::StatusOr<std::vector<models::TensorSpec>> ReadSpecs(
    const google::protobuf::RepeatedPtrField<wire::TensorSpec>& messages) {
  std::vector<models::TensorSpec> specs;
  for (const wire::TensorSpec& message : messages) {
    const auto type = ReadEnum(message.type(), models::DataType::kBytes, "type of a tensor");
    if (!type.ok()) return type.status();
    specs.push_back({message.name(), *type, {message.shape().begin(), message.shape().end()}});
  }
  return specs;
}

void WriteDetails(const models::InferInfo& info, wire::ModelInfo& message) {
  WriteSpecs(info.inputs, *message.mutable_infer()->mutable_inputs());
  WriteSpecs(info.outputs, *message.mutable_infer()->mutable_outputs());
}

void WriteDetails(const models::TranslationInfo& info, wire::ModelInfo& message) {
  wire::ModelInfo::Translation& to = *message.mutable_translation();
  to.set_source_language(info.source_language);
  to.set_target_language(info.target_language);
  AddAll(info.source_languages, to.mutable_source_languages());
  AddAll(info.target_languages, to.mutable_target_languages());
  to.set_max_hypotheses(info.max_hypotheses);
}

void WriteDetails(const models::SpeechInfo& info, wire::ModelInfo& message) {
  wire::ModelInfo::Speech& to = *message.mutable_speech();
  AddAll(info.voices, to.mutable_voices());
  to.set_language(info.language);
  AddAll(info.languages, to.mutable_languages());
  AddAll(info.voice_languages, to.mutable_voice_languages());
  for (const models::LanguageVoice& voice : info.default_voices) {
    wire::ModelInfo::LanguageVoice& with = *to.add_default_voices();
    with.set_language(voice.language);
    with.set_voice(voice.voice);
  }
  to.set_speech_cost(info.speech_cost);
  to.set_sample_rate(info.sample_rate);
  AddAll(info.pronunciation_languages, to.mutable_pronunciation_languages());
  to.set_min_speed(info.min_speed);
  to.set_max_speed(info.max_speed);
  to.set_precision(info.precision);
  to.set_int8_distance_db(info.int8_distance_db);
}

absl::StatusOr<models::ModelDetails> ReadDetails(const wire::ModelInfo& message) {
  switch (message.details_case()) {
    case wire::ModelInfo::kInfer: {
      auto inputs = ReadSpecs(message.infer().inputs());
      if (!inputs.ok()) return inputs.status();
      auto outputs = ReadSpecs(message.infer().outputs());
      if (!outputs.ok()) return outputs.status();
      return models::InferInfo{*std::move(inputs), *std::move(outputs)};
    }
    case wire::ModelInfo::kTranslation: {
      const wire::ModelInfo::Translation& from = message.translation();
      return models::TranslationInfo{.source_language = from.source_language(),
                                     .target_language = from.target_language(),
                                     .source_languages = ToVector(from.source_languages()),
                                     .target_languages = ToVector(from.target_languages()),
                                     .max_hypotheses = from.max_hypotheses()};
    }
    case wire::ModelInfo::kSpeech: {
      const wire::ModelInfo::Speech& from = message.speech();
      models::SpeechInfo info{.voices = ToVector(from.voices()),
                              .language = from.language(),
                              .languages = ToVector(from.languages()),
                              .voice_languages = ToVector(from.voice_languages()),
                              .speech_cost = from.speech_cost(),
                              .sample_rate = from.sample_rate(),
                              .pronunciation_languages = ToVector(from.pronunciation_languages()),
                              .min_speed = from.min_speed(),
                              .max_speed = from.max_speed(),
                              .precision = from.precision(),
                              .int8_distance_db = from.int8_distance_db()};
      for (const wire::ModelInfo::LanguageVoice& voice : from.default_voices())
        info.default_voices.push_back({voice.language(), voice.voice()});
      return info;
    }
    case wire::ModelInfo::DETAILS_NOT_SET:
      break;
  }
  return Malformed("a model has no task");
}

}  // namespace

absl::StatusOr<std::string_view> BehindReader::Take(uint64_t bytes) {
  if (bytes > rest_.size()) return Malformed("data are missing behind it");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

absl::Status BehindReader::End() const {
  return rest_.empty() ? absl::OkStatus() : Malformed("data behind it belong to nothing");
}

void WriteInput(const models::Input& input, wire::Input& message, Behind& behind) {
  std::visit([&](const auto& of_task) { WriteOf(of_task, message, behind); }, input);
}

absl::StatusOr<models::Input> ReadInput(const wire::Input& message, BehindReader& behind) {
  switch (message.kind_case()) {
    case wire::Input::kInfer:
      return ReadOf(message.infer(), behind);
    case wire::Input::kTranslate:
      return ReadOf(message.translate(), behind);
    case wire::Input::kSynthesize:
      return ReadOf(message.synthesize(), behind);
    case wire::Input::KIND_NOT_SET:
      break;
  }
  return Malformed("an input has no task");
}

void WriteOutput(const models::Output& output, wire::Output& message, Behind& behind) {
  std::visit([&](const auto& of_task) { WriteOf(of_task, message, behind); }, output);
}

absl::StatusOr<models::Output> ReadOutput(const wire::Output& message, BehindReader& behind) {
  switch (message.kind_case()) {
    case wire::Output::kInfer:
      return ReadOf(message.infer(), behind);
    case wire::Output::kTranslate:
      return ReadOf(message.translate(), behind);
    case wire::Output::kSynthesize:
      return ReadOf(message.synthesize(), behind);
    case wire::Output::KIND_NOT_SET:
      break;
  }
  return Malformed("an output has no task");
}

void WriteStatus(const absl::Status& status, wire::Status& message) {
  message.set_code(static_cast<int>(status.code()));
  message.set_message(std::string(Message(status)));
}

absl::Status ReadStatus(const wire::Status& message) {
  if (message.code() == 0) return absl::OkStatus();
  constexpr int kLast = static_cast<int>(absl::StatusCode::kUnauthenticated);
  if (message.code() < 0 || message.code() > kLast)
    return Malformed(StrCat("unknown status ", message.code()));
  return {static_cast<absl::StatusCode>(message.code()), message.message()};
}

void WriteModelInfo(const models::ModelInfo& info, wire::ModelInfo& message) {
  message.set_name(info.name);
  message.set_version(info.version);
  message.set_platform(info.platform);
  message.set_license(info.license);
  message.set_max_batch(info.batching.max_batch);
  message.set_linger_us(info.batching.linger.count());
  message.set_queue_size(info.batching.queue_size);
  message.set_continuous(info.batching.continuous);
  message.set_divided(info.batching.divided);
  message.set_full_work(info.batching.full_work);
  // A task without details is still that task.
  if (info.task() == models::Task::kInfer) message.mutable_infer();
  std::visit([&](const auto& details) { WriteDetails(details, message); }, info.details);
}

absl::StatusOr<models::ModelInfo> ReadModelInfo(const wire::ModelInfo& message) {
  auto details = ReadDetails(message);
  if (!details.ok()) return details.status();
  if (message.max_batch() == 0) return Malformed("a model has batches of no request");
  if (message.linger_us() < 0) return Malformed("a model has a negative linger");
  models::ModelInfo info;
  info.name = message.name();
  info.version = message.version();
  info.platform = message.platform();
  info.license = message.license();
  info.batching = {.max_batch = message.max_batch(),
                   .linger = std::chrono::microseconds(message.linger_us()),
                   .queue_size = message.queue_size(),
                   .continuous = message.continuous(),
                   .divided = message.divided(),
                   .full_work = message.full_work()};
  info.details = *std::move(details);
  return info;
}

}  // namespace millrace::server
