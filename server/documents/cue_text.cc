#include "server/documents/cue_text.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "models/core/utf8.h"
#include "models/text/unicode.h"

namespace millrace::server {
namespace {

using CueKind = CuePiece::Kind;

// Returns the bytes of the tag that a text begins with; 0: there is none.
size_t TagBytes(std::string_view text) {
  size_t end = std::string_view::npos;
  // {\\i1} of .ass, {y:i} of MicroDVD
  if (text.starts_with("{\\") || (text.starts_with('{') && text.size() > 3 && text[2] == ':' &&
                                  std::isalpha(static_cast<unsigned char>(text[1])) != 0)) {
    end = text.find_first_of("}\r\n");
    return end != std::string_view::npos && text[end] == '}' ? end + 1 : 0;
  }
  if (!text.starts_with('<')) return 0;
  const size_t name = text.starts_with("</") ? 2 : 1;
  if (name >= text.size() || !std::isalnum(static_cast<unsigned char>(text[name]))) return 0;
  end = text.find_first_of("<>\r\n", 1);
  return end != std::string_view::npos && text[end] == '>' ? end + 1 : 0;
}

std::string_view TagName(std::string_view tag) {
  tag.remove_prefix(tag.starts_with("</") ? 2 : 1);
  return tag.substr(0, std::min(tag.find_first_of(" .\t>/"), tag.size()));
}

bool IsDash(std::string_view text) {
  for (const std::string_view dash : {"-", "\u2010", "\u2013", "\u2014"}) {
    if (text.starts_with(dash)) return true;
  }
  return false;
}

// Returns the rest of a line behind the tags and spaces that it begins with.
std::string_view BehindTags(std::string_view line) {
  while (!line.empty()) {
    const size_t bytes = line[0] == ' ' ? 1 : TagBytes(line);
    if (bytes == 0) break;
    line.remove_prefix(bytes);
  }
  return line;
}

// Returns true for a line that is a remark in brackets: "[DOOR CLOSES]".
bool IsRemark(std::string_view line) {
  line = BehindTags(line);
  while (line.ends_with(' ') || (line.ends_with('>') && line.rfind("</") != line.npos))
    line = line.substr(0, line.ends_with(' ') ? line.size() - 1 : line.rfind("</"));
  if (line.size() < 2) return false;
  const char closing = line.front() == '[' ? ']' : line.front() == '(' ? ')' : '\0';
  return closing != '\0' && line.find(closing) == line.size() - 1;
}

// Returns true for a line that begins with the name of who speaks: "JOHN:".
bool NamesSpeaker(std::string_view line) {
  constexpr size_t kLongest = 32;
  line = BehindTags(line);
  const std::string_view name = line.substr(0, std::min(line.find(':'), line.size()));
  if (name.size() < 2 || name.size() == line.size() || name.size() > kLongest) return false;
  return std::isupper(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::none_of(
             name, [](unsigned char c) { return std::islower(c) != 0 || c == '.' || c == ','; });
}

// Returns the bytes of the annotation of ruby text, with its tags, that a text begins with; 0:
// there is none.
size_t AnnotationBytes(std::string_view text) {
  constexpr std::string_view kEnd = "</rt>";
  if (!text.starts_with("<rt>")) return 0;
  const size_t end = text.find(kEnd);
  return end == std::string_view::npos ? 0 : end + kEnd.size();
}

void AddText(std::string_view text, CueText& cue) {
  if (text.empty()) return;
  if (cue.pieces.empty() || cue.pieces.back().kind != CueKind::kText) cue.pieces.emplace_back();
  cue.pieces.back().text += text;
}

void AddLine(std::string_view line, CueText& cue) {
  size_t text = 0;
  size_t at = 0;
  while (at < line.size()) {
    const size_t annotation = AnnotationBytes(line.substr(at));
    const size_t bytes = annotation > 0 ? annotation : TagBytes(line.substr(at));
    if (bytes == 0) {
      ++at;
      continue;
    }
    AddText(line.substr(text, at - text), cue);
    cue.pieces.push_back({CueKind::kAlone, std::string(line.substr(at, bytes))});
    at += bytes;
    text = at;
  }
  AddText(line.substr(text), cue);
}

// Finds the tags that have an end.
void PairTags(std::vector<CuePiece>& pieces) {
  std::vector<size_t> open;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const std::string_view tag = pieces[i].text;
    if (pieces[i].kind != CueKind::kAlone || !tag.starts_with('<')) continue;
    if (!tag.starts_with("</")) {
      open.push_back(i);
    } else if (!open.empty() && TagName(pieces[open.back()].text) == TagName(tag)) {
      pieces[open.back()].kind = CueKind::kOpen;
      pieces[i].kind = CueKind::kClose;
      pieces[i].open = open.back();
      open.pop_back();
    } else {
      // A tag without an end, such as that of a speaker, is inside one that has an end.
      const auto same = std::find_if(open.rbegin(), open.rend(), [&](size_t other) {
        return TagName(pieces[other].text) == TagName(tag);
      });
      if (same == open.rend()) continue;
      pieces[*same].kind = CueKind::kOpen;
      pieces[i].kind = CueKind::kClose;
      pieces[i].open = *same;
      open.erase(same.base() - 1, open.end());
    }
  }
}

// Takes the tags off that are around the whole text.
void TakeOuterTags(CueText& cue) {
  std::vector<CuePiece>& pieces = cue.pieces;
  size_t begin = 0;
  size_t end = pieces.size();
  while (begin < end) {
    if (pieces[begin].kind == CueKind::kAlone) {
      cue.prefix += pieces[begin++].text;
    } else if (pieces[end - 1].kind == CueKind::kAlone) {
      cue.suffix.insert(0, pieces[--end].text);
    } else if (pieces[begin].kind == CueKind::kOpen && pieces[end - 1].kind == CueKind::kClose &&
               pieces[end - 1].open == begin) {
      cue.prefix += pieces[begin++].text;
      cue.suffix.insert(0, pieces[--end].text);
    } else {
      break;
    }
  }
  pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(end), pieces.end());
  pieces.erase(pieces.begin(), pieces.begin() + static_cast<ptrdiff_t>(begin));
  for (CuePiece& piece : pieces) {
    if (piece.kind == CueKind::kClose) piece.open -= begin;
  }
}

// One turn as it is written, with the places where its line may be broken.
class TurnWriter {
 public:
  void Add(const CuePiece& piece) {
    if (piece.kind != CueKind::kText) {
      out_ += piece.text;
      return;
    }
    const std::string_view text = piece.text;
    for (size_t i = 0; i < text.size(); ++i) {
      char c = text[i];
      if (c == '\n' || c == '\r' || c == '\t') c = ' ';
      if (c == ' ') {
        if (width_ == 0) continue;
        // Nothing stands between two spaces, and a blank line would end the subtitle. A dash at the
        // beginning of a line would be another speaker.
        if (text_end_ == width_ && !IsDash(text.substr(i + 1)))
          spaces_.push_back({out_.size(), width_, EndsSentence(last_)});
      }
      out_ += c;
      width_ += IsContinuationByte(c) ? 0 : 1;
      if (c != ' ') text_end_ = width_;
      if (c != ' ') last_ = c;
    }
  }

  std::string Take(size_t lines, std::string_view line_end) {
    // Spaces behind the text do not separate lines.
    while (!spaces_.empty() && spaces_.back().width >= text_end_) spaces_.pop_back();
    std::vector<size_t> breaks;
    auto space = spaces_.begin();
    for (size_t line = 1; line < lines && space != spaces_.end(); ++line) {
      const size_t wanted = width_ * line / lines;
      const auto distance = [this, wanted](const Space& at) {
        const size_t off = at.width > wanted ? at.width - wanted : wanted - at.width;
        // A sentence may end its line although others would be more alike in length.
        return at.ends_sentence ? off - std::min(off, width_ / 6) : off;
      };
      auto best = space;
      for (auto at = space; at != spaces_.end(); ++at) {
        if (distance(*at) < distance(*best)) best = at;
      }
      breaks.push_back(best->at);
      space = best + 1;
    }
    for (size_t i = breaks.size(); i-- > 0;) out_.replace(breaks[i], 1, line_end);
    while (out_.ends_with(' ')) out_.pop_back();
    return std::move(out_);
  }

 private:
  struct Space {
    size_t at = 0;     // byte of the output
    size_t width = 0;  // characters before it
    bool ends_sentence = false;
  };

  static bool EndsSentence(char last) { return last == '.' || last == '!' || last == '?'; }

  std::string out_;
  std::vector<Space> spaces_;
  char last_ = 0;        // the last one of the text that is no space
  size_t width_ = 0;     // characters without tags
  size_t text_end_ = 0;  // the same up to the last one that is no space
};

}  // namespace

std::string CueText::Visible() const {
  std::string visible;
  for (const CuePiece& piece : pieces) {
    if (piece.kind == CueKind::kText) visible += piece.text;
    if (piece.kind == CueKind::kTurn) visible += ' ';
  }
  return visible;
}

CueText ReadCueText(std::string_view text, std::string_view line_end) {
  CueText cue;
  const bool has_returns = line_end == "\n" && text.find("\r\n") != std::string_view::npos;
  cue.line_end = has_returns ? "\r\n" : line_end;
  bool first = true;
  std::string_view before;  // the line before
  while (first || !text.empty()) {
    const size_t end = std::min(text.find(line_end), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + line_end.size(), text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (first) {
      cue.lines.push_back(1);
    } else if (IsDash(BehindTags(line)) || NamesSpeaker(line) || IsRemark(line) ||
               IsRemark(before)) {
      cue.pieces.push_back({CueKind::kTurn, {}});
      cue.lines.push_back(1);
    } else {
      AddText(" ", cue);
      ++cue.lines.back();
    }
    AddLine(line, cue);
    before = line;
    first = false;
  }
  PairTags(cue.pieces);
  TakeOuterTags(cue);
  return cue;
}

bool GoesOn(const CueText& from, const CueText& next) {
  if (from.lines.size() > 1 || next.lines.size() > 1) return false;
  std::string before = from.Visible();
  while (before.ends_with(' ')) before.pop_back();
  if (before.empty()) return false;
  const char32_t last = models::DecodeBefore(before, before.size()).value;
  if (!models::IsLetter(last) && last != ',') return false;
  const std::string behind = next.Visible();
  const size_t first = std::min(behind.find_first_not_of(' '), behind.size());
  return models::IsLower(models::DecodeAt(behind, first).value);
}

std::string WriteCueText(const CueText& cue, std::span<const CuePiece> pieces) {
  std::string out = cue.prefix;
  size_t turn = 0;
  TurnWriter writer;
  const auto take = [&] {
    out += writer.Take(turn < cue.lines.size() ? cue.lines[turn] : 1, cue.line_end);
    ++turn;
    writer = TurnWriter();
  };
  for (const CuePiece& piece : pieces) {
    if (piece.kind == CueKind::kTurn) {
      take();
      out += cue.line_end;
    } else {
      writer.Add(piece);
    }
  }
  take();
  return out + cue.suffix;
}

}  // namespace millrace::server
