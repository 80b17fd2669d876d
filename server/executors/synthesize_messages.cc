#include <cstring>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "server/executors/message_fields.h"
#include "server/executors/task_messages.h"

namespace millrace::server {

namespace wire = executor::v1;

namespace {

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
    MILLRACE_ASSIGN_OR_RETURN(
        const auto pause,
        ReadEnum(part.break_before(), models::SpeechBreak::kParagraph, "break of a part"));
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
                            .break_before = pause});
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

}  // namespace

void WriteTask(const models::SynthesizeInput& input, wire::Input& message, Behind& /*behind*/) {
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

absl::StatusOr<models::Input> ReadTask(const wire::SynthesizeInput& message,
                                       BehindReader& /*behind*/) {
  MILLRACE_ASSIGN_OR_RETURN(
      const auto pause,
      ReadEnum(message.break_before(), models::SpeechBreak::kParagraph, "break of a text"));
  MILLRACE_ASSIGN_OR_RETURN(auto markup, ReadMarkup(message));
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
                                 .break_before = pause,
                                 .sentence_pause = message.sentence_pause(),
                                 .paragraph_pause = message.paragraph_pause(),
                                 .word_times = message.word_times(),
                                 .phoneme_times = message.phoneme_times(),
                                 .use_cache = message.use_cache(),
                                 .markup = std::move(markup)};
}

void WriteTask(const models::SynthesizeOutput& output, wire::Output& message, Behind& behind) {
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

absl::StatusOr<models::Output> ReadTask(const wire::SynthesizeOutput& message,
                                        BehindReader& behind) {
  MILLRACE_ASSIGN_OR_RETURN(const auto samples, behind.Take(message.samples_bytes()));
  if (samples.size() % sizeof(float) != 0) return Malformed("a sample is cut");
  constexpr int kMostHertz = 1'000'000;
  if (message.sample_rate() <= 0 || message.sample_rate() > kMostHertz)
    return Malformed(StrCat("the sample rate ", message.sample_rate(), " is out of range"));
  models::SynthesizeOutput output;
  output.sample_rate = message.sample_rate();
  output.samples.resize(samples.size() / sizeof(float));
  if (!samples.empty()) std::memcpy(output.samples.data(), samples.data(), samples.size());
  output.sentence_index = message.sentence_index();
  output.text = message.text();
  output.sentence_finished = message.sentence_finished();
  output.words = ReadSpans(message.words());
  output.phonemes = ReadSpans(message.phonemes());
  output.spoken = ReadSpoken(message.spoken());
  return output;
}

}  // namespace millrace::server
