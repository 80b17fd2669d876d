#include "server/executors/payload_fields.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>

#include "mps_runtime/base/mutex.h"

namespace millrace::server {
namespace {

// Returns true if the spans follow each other within a text of this size.
template <typename Spans>
bool FollowEachOther(const Spans& spans, size_t size) {
  size_t last = 0;
  for (const auto& span : spans) {
    if (span.begin < last || span.end < span.begin || span.end > size) return false;
    last = span.end;
  }
  return true;
}

// The same of the places of marks.
template <typename Marks, typename Place>
bool FollowEachOther(const Marks& marks, Place place, size_t size) {
  return std::ranges::is_sorted(marks, {}, place) &&
         (marks.empty() || std::invoke(place, marks.back()) <= size);
}

}  // namespace

std::string_view Interned(FieldReader& reader, const std::string& text) {
  constexpr size_t kMost = 256;
  static Mutex mu;
  static auto& texts = *new std::set<std::string>;
  const MutexLock lock(mu);
  auto found = texts.find(text);
  if (found == texts.end()) {
    if (texts.size() >= kMost) {
      reader.Refuse("too many texts in place of protected spans");
      return {};
    }
    found = texts.insert(text).first;
  }
  return *found;
}

void Check(FieldReader& reader, const models::Tensor& tensor) {
  const std::optional<int64_t> count = models::ElementCount(tensor.shape);
  if (!count) return reader.Refuse("a tensor's shape is out of range");
  const size_t size = models::ElementSize(tensor.type);
  reader.Require(size == 0 || (tensor.data.size() % size == 0 &&
                               static_cast<uint64_t>(*count) == tensor.data.size() / size),
                 "a tensor's data are not those of its shape");
}

void Check(FieldReader& reader, const translation::MarkedText& marked) {
  const size_t size = marked.text.size();
  reader.Require(FollowEachOther(marked.events, &translation::MarkEvent::at, size),
                 "a mark is out of its text");
  reader.Require(FollowEachOther(marked.kept, size), "a protected span is out of its text");
  reader.Require(FollowEachOther(marked.spellings, size), "a spelling is out of its text");
}

void Check(FieldReader& reader, const models::TranslateInput& input) {
  reader.Require(!input.texts.empty(), "there is no text to translate");
  for (const size_t size : {input.target_prefixes.size(), input.pivot_sentences.size()}) {
    reader.Require(size == 0 || size == input.texts.size(),
                   "there are not as many prefixes or pivot sentences as texts");
  }
}

void Check(FieldReader& reader, const models::SynthesizeInput& input) {
  const size_t size = input.text.size();
  const models::SpeechMarkup& markup = input.markup;
  reader.Require(FollowEachOther(markup.parts, size), "a part of a text is out of it");
  const auto is_empty = [](const models::SpeechReading& one) { return one.begin == one.end; };
  reader.Require(
      FollowEachOther(markup.readings, size) && std::ranges::none_of(markup.readings, is_empty),
      "a reading is out of its text");
  reader.Require(FollowEachOther(markup.anchors, &models::SpeechAnchor::byte, size),
                 "an anchor is out of its text");
}

void Check(FieldReader& reader, const models::SynthesizeOutput& output) {
  constexpr int kMostHertz = 1'000'000;
  if (output.sample_rate <= 0 || output.sample_rate > kMostHertz)
    reader.Refuse(StrCat("the sample rate ", output.sample_rate, " is out of range"));
}

void Check(FieldReader& reader, const models::ModelInfo& info) {
  reader.Require(info.batching.max_batch > 0, "a model has batches of no request");
  reader.Require(info.batching.linger.count() >= 0, "a model has a negative linger");
}

}  // namespace millrace::server
