#include "models/text/japanese/morphological_analyzer.h"

#include <mecab.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/match.h"
#include "models/core/errors.h"
#include "models/text/unicode.h"

namespace millrace::models {
namespace {

constexpr std::string_view kAdvice =
    "Japanese with kanji needs a MeCab dictionary in UTF-8: install mecab-ipadic-utf8 or UniDic, "
    "or "
    "name a mecabrc in the environment variable MECABRC";

// The fields of a feature that are read. UniDic has its pronunciations in field 9 of 17 or more,
// IPADIC in field 8 of 9; unknown words have fewer fields.
constexpr size_t kPartOfSpeech = 0;
constexpr size_t kSubcategory = 1;
constexpr size_t kIpadicPronunciation = 8;
constexpr size_t kUnidicPronunciation = 9;
constexpr size_t kUnidicFields = 17;
constexpr size_t kReadFields = kUnidicPronunciation + 1;

// Splits the fields that are read, which commas separate and quotation marks may enclose. Returns
// the number of all fields.
size_t SplitFeature(std::string_view feature, std::array<std::string_view, kReadFields>& fields) {
  size_t count = 0;
  for (size_t at = 0; at <= feature.size(); ++count) {
    const bool quoted = at < feature.size() && feature[at] == '"';
    const size_t end =
        std::min(quoted ? feature.find('"', at + 1) : feature.find(',', at), feature.size());
    std::string_view field = feature.substr(at, end - at);
    if (quoted) field.remove_prefix(1);
    if (count < fields.size()) fields[count] = field;
    at = std::min(feature.find(',', end), feature.size()) + 1;
  }
  return count;
}

// Writes エイ of any row as a long vowel, and イイ unless it is a name (石井), which IPADIC writes
// as they are in kana.
std::string WithLongVowels(std::string_view pronunciation, bool name) {
  constexpr std::u32string_view kERow = U"エケゲセゼテデネヘベペメレ";
  constexpr std::u32string_view kIRow = U"イキギシジチヂニヒビピミリ";
  std::string text;
  char32_t before = 0;
  for (size_t at = 0; at < pronunciation.size();) {
    const CodePoint point = DecodeAt(pronunciation, at);
    const bool is_long = point.value == U'イ' && before != 0 &&
                         (kERow.find(before) != std::u32string_view::npos ||
                          (!name && kIRow.find(before) != std::u32string_view::npos));
    before = is_long ? U'ー' : point.value;
    text += is_long ? "ー" : pronunciation.substr(at, point.bytes);
    at += point.bytes;
  }
  return text;
}

Morpheme ToMorpheme(const MeCab::Node& node) {
  std::array<std::string_view, kReadFields> fields;
  const size_t count = SplitFeature(node.feature, fields);
  Morpheme morpheme;
  const std::string_view part = fields[kPartOfSpeech];
  const std::string_view subcategory = fields[kSubcategory];
  const bool letter = subcategory == "文字" || subcategory == "アルファベット";
  if ((part == "記号" || part == "補助記号" || part == "空白") && !letter) {
    morpheme.kind = Morpheme::Kind::kMark;
  } else if (subcategory == "数詞" || subcategory == "数") {
    morpheme.kind = Morpheme::Kind::kNumeral;
  } else if (node.stat != MECAB_UNK_NODE) {
    morpheme.kind = Morpheme::Kind::kWord;
  }
  const bool unidic = count >= kUnidicFields;
  const size_t field = unidic ? kUnidicPronunciation : kIpadicPronunciation;
  if (count > field && fields[field] != "*") {
    // In verbs the two vowels are of the stem and of the ending: 招いた.
    morpheme.pronunciation = unidic || part == "動詞"
                                 ? std::string(fields[field])
                                 : WithLongVowels(fields[field], subcategory == "固有名詞");
  }
  return morpheme;
}

// Returns the end of the part of the text from `begin` on that is divided at once: MeCab's time
// grows with the square of a run of unknown characters.
size_t PartEnd(std::string_view text, size_t begin) {
  constexpr size_t kMostBytes = 1024;
  if (text.size() - begin <= kMostBytes) return text.size();
  const std::string_view part = text.substr(begin, kMostBytes);
  size_t end = 0;
  for (const std::string_view mark : {"。", "、", " "}) {
    if (const size_t at = part.rfind(mark); at != std::string_view::npos)
      end = std::max(end, at + mark.size());
  }
  if (end > 0) return begin + end;
  end = begin + kMostBytes;
  while (end > begin + 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return end;
}

class MecabAnalyzer final : public MorphologicalAnalyzer {
 public:
  MecabAnalyzer(std::unique_ptr<MeCab::Model> model, std::unique_ptr<MeCab::Tagger> tagger)
      : model_(std::move(model)), tagger_(std::move(tagger)) {}

  absl::StatusOr<std::vector<Morpheme>> Analyze(std::string_view text) const override {
    const std::unique_ptr<MeCab::Lattice> lattice(model_->createLattice());
    std::vector<Morpheme> morphemes;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = PartEnd(text, begin);
      lattice->set_sentence(text.data() + begin, end - begin);
      if (!tagger_->parse(lattice.get())) {
        return Internal("MeCab cannot divide the text: ", std::string_view(lattice->what()));
      }
      for (const MeCab::Node* node = lattice->bos_node(); node != nullptr; node = node->next) {
        if (node->stat == MECAB_BOS_NODE || node->stat == MECAB_EOS_NODE) continue;
        Morpheme morpheme = ToMorpheme(*node);
        morpheme.begin = begin + static_cast<size_t>(node->surface - lattice->sentence());
        morpheme.end = morpheme.begin + node->length;
        morphemes.push_back(std::move(morpheme));
      }
      begin = end;
    }
    return morphemes;
  }

 private:
  const std::unique_ptr<MeCab::Model> model_;
  const std::unique_ptr<MeCab::Tagger> tagger_;  // uses the model
};

}  // namespace

absl::StatusOr<std::unique_ptr<const MorphologicalAnalyzer>> MorphologicalAnalyzer::Open() {
  std::unique_ptr<MeCab::Model> model(MeCab::createModel(""));
  if (model == nullptr) {
    return FailedPrecondition(kAdvice, " (MeCab: ", std::string_view(MeCab::getLastError()), ")");
  }
  const std::string_view charset = model->dictionary_info()->charset;
  if (!absl::EqualsIgnoreCase(absl::string_view(charset.data(), charset.size()), "utf-8") &&
      !absl::EqualsIgnoreCase(absl::string_view(charset.data(), charset.size()), "utf8")) {
    return FailedPrecondition(kAdvice, " (the dictionary that is there is in ", charset, ")");
  }
  std::unique_ptr<MeCab::Tagger> tagger(model->createTagger());
  if (tagger == nullptr) {
    return FailedPrecondition(kAdvice, " (MeCab: ", std::string_view(MeCab::getLastError()), ")");
  }
  return std::make_unique<MecabAnalyzer>(std::move(model), std::move(tagger));
}

}  // namespace millrace::models
