#include "models/translation/markup/item_list.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/text/unicode.h"
#include "models/text/unspaced_script.h"

namespace millrace::translation {
namespace {

constexpr size_t kLongestList = 2048;  // bytes

// A sign that stands between items.
struct Separator {
  std::string_view sign;
  size_t fewest;           // joints of a list, with a space on each side of each
  size_t fewest_touching;  // the same of joints that touch the items; 0: they join no items
  size_t most_words;       // words of an item
};

constexpr size_t kAnyWords = 100;
constexpr size_t kLabel = 5;  // words
constexpr size_t kFew = 4;    // words of an item between signs that prose has, too
constexpr std::array<Separator, 52> kSeparators = {{
    {"||", 1, 0, kAnyWords}, {"|", 1, 1, kAnyWords}, {"¦", 1, 1, kAnyWords},
    {"•", 1, 2, kAnyWords},  {"·", 1, 2, kAnyWords}, {"・", 1, 2, kAnyWords},
    {"、", 1, 1, kLabel},    {"→", 1, 1, kLabel},    {"⇒", 1, 1, kLabel},
    {"›", 1, 0, kLabel},     {"»", 1, 0, kLabel},    {"▸", 1, 1, kLabel},
    {"►", 1, 1, kLabel},     {"▶", 1, 1, kLabel},    {"❯", 1, 1, kLabel},
    {"●", 1, 2, kLabel},     {"○", 1, 2, kLabel},    {"■", 1, 2, kLabel},
    {"□", 1, 2, kLabel},     {"◆", 1, 2, kLabel},    {"◇", 1, 2, kLabel},
    {"★", 1, 2, kLabel},     {"☆", 1, 2, kLabel},    {"✓", 1, 2, kLabel},
    {"✔", 1, 2, kLabel},     {"⋅", 1, 2, kLabel},    {"∙", 1, 2, kLabel},
    {"◦", 1, 2, kLabel},     {"―", 1, 2, kLabel},    {"❖", 1, 2, kLabel},
    {"::", 1, 0, kLabel},    {"->", 1, 0, kLabel},   {"=>", 1, 0, kLabel},
    {"<>", 1, 0, kLabel},    {">>", 1, 0, kLabel},   {"<<", 1, 0, kLabel},
    {"//", 1, 0, kLabel},    {"^", 1, 0, kLabel},    {"_", 1, 0, kLabel},
    {"/", 2, 2, kFew},       {"\\", 2, 0, kFew},     {">", 2, 2, kFew},
    {"~", 2, 0, kFew},       {"+", 2, 2, kFew},      {"&", 2, 0, kFew},
    {"-", 2, 0, kFew},       {"–", 2, 0, kFew},      {"—", 2, 0, kFew},
    {"*", 2, 0, kFew},       {"=", 2, 0, kFew},      {":", 2, 0, kFew},
    {";", 2, 2, kFew},
}};

// Returns true if a joint divides a kept span or an element. The sign itself may be kept, as one
// that the model does not know is.
bool DividesMarkup(const MarkedText& marked, const ItemJoint& joint) {
  const auto divides_kept = [&joint](const KeptSpan& kept) {
    return kept.begin < joint.end && kept.end > joint.begin &&
           (kept.begin < joint.begin || kept.end > joint.end);
  };
  const auto first = std::ranges::lower_bound(marked.kept, joint.begin, {},
                                              [](const KeptSpan& kept) { return kept.end; });
  for (auto kept = first; kept != marked.kept.end() && kept->begin < joint.end; ++kept) {
    if (divides_kept(*kept)) return true;
  }
  // Elements end before the joint and begin behind it.
  for (auto event = std::ranges::lower_bound(marked.events, joint.begin, {}, &MarkEvent::at);
       event != marked.events.end() && event->at <= joint.end; ++event) {
    const bool ends_before = event->at == joint.begin && event->kind == MarkEvent::Kind::kClose;
    const bool begins_behind = event->at == joint.end && event->kind != MarkEvent::Kind::kClose;
    if (!ends_before && !begins_behind) return true;
  }
  return false;
}

// Returns the joints of a sign outside elements and kept spans. spaced: only with a space on each
// side.
std::vector<ItemJoint> JointsOf(const MarkedText& marked, std::string_view sign, bool spaced) {
  const std::string_view text = marked.text;
  std::vector<ItemJoint> joints;
  size_t depth = 0;
  auto event = marked.events.begin();
  for (size_t at = text.find(sign); at != std::string_view::npos;
       at = text.find(sign, at + sign.size())) {
    ItemJoint joint{at, at + sign.size()};
    while (joint.begin > 0 && text[joint.begin - 1] == ' ') --joint.begin;
    while (models::ByteAt(text, joint.end) == ' ') ++joint.end;
    const bool has_spaces = joint.begin < at && joint.end > at + sign.size();
    for (; event != marked.events.end() && event->at <= joint.begin; ++event) {
      if (event->kind == MarkEvent::Kind::kOpen) ++depth;
      if (event->kind == MarkEvent::Kind::kClose && depth > 0) --depth;
    }
    if (depth > 0 || has_spaces != spaced || DividesMarkup(marked, joint)) continue;
    // Between two signs there may be no item, as in a row of a table.
    if (!joints.empty() && joint.begin <= joints.back().end) {
      joints.back().end = joint.end;
    } else {
      joints.push_back(joint);
    }
  }
  return joints;
}

// Returns true if the items between the joints are a few words each, and all of one case where the
// sign is one of prose as well.
bool AreItems(std::string_view text, const std::vector<ItemJoint>& joints,
              const Separator& separator, bool spaced) {
  constexpr std::string_view kMarks = ".!?;,";
  constexpr std::string_view kBrackets = "()[]{}<>=\"";
  constexpr size_t kFewestLetters = 2;
  const bool is_prose_sign = separator.fewest > 1;
  size_t capitals = 0;
  size_t small = 0;
  bool has_words = false;
  for (size_t i = 0; i <= joints.size(); ++i) {
    const size_t begin = i == 0 ? 0 : joints[i - 1].end;
    const size_t end = i == joints.size() ? text.size() : joints[i].begin;
    if (end <= begin) return false;
    std::string_view item = models::Trim(text.substr(begin, end - begin));
    if (i == joints.size() && is_prose_sign)
      item = item.substr(0, item.find_last_not_of(kMarks) + 1);
    size_t letters = 0;
    for (const char32_t c : models::DecodeUtf8(item)) {
      // Names and sentences without spaces have such signs inside, too: 東京・大阪・京都に行った。
      if (!spaced && models::IsUnspaced(c)) return false;
      letters += models::IsLetter(c) ? 1 : 0;
    }
    // In a row of a table, an item may be a number.
    if (letters < (is_prose_sign || !spaced ? kFewestLetters : 0)) return false;
    has_words = has_words || letters > 0;
    if (static_cast<size_t>(std::ranges::count(item, ' ')) >= separator.most_words) return false;
    if (!is_prose_sign && spaced) continue;
    if (item.find_first_of(kMarks) != std::string_view::npos ||
        item.find_first_of(kBrackets) != std::string_view::npos)
      return false;
    const char32_t first = models::DecodeAt(item, 0).value;
    capitals += models::IsUpper(first) ? 1 : 0;
    small += models::IsLower(first) ? 1 : 0;
  }
  return has_words && (capitals == 0 || small == 0);
}

// Returns true for one word whose first letter alone is a capital: On, as in "On/Off".
bool IsLabel(std::string_view word) {
  constexpr size_t kFewestLetters = 2;
  size_t letters = 0;
  for (size_t at = 0; at < word.size(); ++letters) {
    const models::CodePoint c = models::DecodeAt(word, at);
    if (letters == 0 ? !models::IsUpper(c.value) : !models::IsLower(c.value)) return false;
    at += c.bytes;
  }
  return letters >= kFewestLetters;
}

// Returns the end of a bullet, or of the marks of a heading or quotation of some levels, at `at`,
// with the spaces behind it; `at` if there is none.
size_t SignsEnd(std::string_view text, size_t at) {
  constexpr std::u32string_view kBullets = U"-–—•·*‣◦▪●○▸►#>←→«‹";
  constexpr size_t kMostSigns = 6;
  const models::CodePoint c = models::DecodeAt(text, at);
  if (c.bytes == 0 || kBullets.find(c.value) == std::u32string_view::npos) return at;
  // A quotation is closed.
  const std::string_view closing = c.value == U'«' ? "»" : c.value == U'‹' ? "›" : "";
  if (!closing.empty() && text.find(closing, at) != std::string_view::npos) return at;
  size_t end = at + c.bytes;
  while (c.value < 0x80 && end - at < kMostSigns && models::ByteAt(text, end) == text[at]) ++end;
  // The asterisk of a note or of a field that is needed: *Required
  if (at == 0 && c.value == U'*' && end == 1 && text.find('*', end) == std::string_view::npos &&
      models::IsLetter(models::DecodeAt(text, end).value))
    return end;
  if (models::ByteAt(text, end) != ' ') return at;
  return std::min(text.find_first_not_of(' ', end), text.size());
}

}  // namespace

std::vector<ItemJoint> FindItemJoints(const MarkedText& marked) {
  const std::string_view text = marked.text;
  if (text.size() > kLongestList || text.find('\n') != std::string_view::npos) return {};
  for (const bool spaced : {true, false}) {
    for (const Separator& separator : kSeparators) {
      const size_t fewest = spaced ? separator.fewest : separator.fewest_touching;
      if (fewest == 0) continue;
      if (text.find(separator.sign) == std::string_view::npos) continue;
      std::vector<ItemJoint> joints = JointsOf(marked, separator.sign, spaced);
      const bool is_pair = joints.size() == 1 && separator.sign == "/" && !spaced &&
                           IsLabel(text.substr(0, joints[0].begin)) &&
                           IsLabel(text.substr(joints[0].end));
      if (is_pair || (joints.size() >= fewest && AreItems(text, joints, separator, spaced)))
        return joints;
    }
  }
  return {};
}

size_t BulletEnd(std::string_view text) {
  constexpr std::string_view kSpeech = " - ";
  size_t end = 0;
  for (size_t next = SignsEnd(text, end); next > end; next = SignsEnd(text, end)) end = next;
  // Models keep the dashes of a dialogue, which begins with one.
  const bool is_dialogue =
      text.starts_with('-') && text.substr(end).find(kSpeech) != std::string_view::npos;
  return end < text.size() && !is_dialogue ? end : 0;
}

}  // namespace millrace::translation
