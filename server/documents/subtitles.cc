#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "models/core/errors.h"
#include "server/documents/cue_text.h"
#include "server/documents/document_readers.h"
#include "server/documents/inline_text.h"
#include "server/documents/text_document.h"

namespace millrace::server {
namespace {

using CueKind = CuePiece::Kind;

// The most cues that one sentence may run over.
constexpr size_t kMaxTogether = 4;

// A text to translate: some cues that follow each other.
struct Unit {
  size_t first = 0;  // index of a cue
  size_t cues = 1;
  std::vector<InlineToken::Kind> marks = {};
  std::vector<CuePiece> pieces = {};   // the piece for which each mark stands
  std::vector<std::string> ends = {};  // the closing tag of a mark that is a span
  std::vector<bool> is_boundary = {};  // true for a mark that divides cues
};

class Subtitles final : public Document {
 public:
  explicit Subtitles(bool is_html, std::string_view line_end = "\n")
      : is_html_(is_html), line_end_(line_end) {}

  // Adds what comes before a cue, and the cue's text.
  void AddCue(std::string before, std::string_view text) {
    before_.push_back(std::move(before));
    sources_.emplace_back(text);
    cues_.push_back(ReadCueText(text, line_end_));
  }
  void End(std::string behind) {
    behind_ = std::move(behind);
    for (size_t first = 0; first < cues_.size();) {
      size_t end = first + 1;
      while (end < cues_.size() && end - first < kMaxTogether && GoesOn(cues_[end - 1], cues_[end]))
        ++end;
      AddUnit(first, end - first);
      first = end;
    }
  }
  size_t cues() const { return cues_.size(); }

  std::span<const std::string> texts() const override { return texts_; }
  models::TextFormat format() const override { return models::TextFormat::kHtml; }
  absl::StatusOr<std::string> Render(std::vector<std::string> translations) override {
    for (size_t i = 0; i < units_.size(); ++i) Translate(units_[i], translations[i]);
    std::string out;
    for (size_t i = 0; i < cues_.size(); ++i) out += before_[i] + sources_[i];
    return out + behind_;
  }

 private:
  void AddUnit(size_t first, size_t count) {
    Unit unit{first, count};
    InlineWriter writer;
    const auto record = [&unit](size_t /*mark*/, CuePiece piece, bool boundary = false) {
      unit.pieces.push_back(std::move(piece));
      unit.ends.emplace_back();
      unit.is_boundary.push_back(boundary);
    };
    for (size_t i = first; i < first + count; ++i) {
      if (i > first) {
        writer.Text(" ");
        record(writer.Alone(), {}, /*boundary=*/true);
      }
      std::vector<size_t> marks(cues_[i].pieces.size());
      for (size_t p = 0; p < marks.size(); ++p) {
        const CuePiece& piece = cues_[i].pieces[p];
        switch (piece.kind) {
          case CueKind::kText:
            is_html_ ? writer.Html(piece.text) : writer.Text(piece.text);
            break;
          case CueKind::kOpen:
            record(marks[p] = writer.Open(), piece);
            break;
          case CueKind::kClose:
            writer.Close(marks[piece.open]);
            unit.ends[marks[piece.open]] = piece.text;
            break;
          case CueKind::kAlone:
            record(writer.Alone(), piece);
            break;
          case CueKind::kTurn:
            record(writer.Divider(), piece);
            break;
        }
      }
    }
    if (!writer.has_text()) return;
    unit.marks = writer.marks();
    texts_.push_back(writer.html());
    units_.push_back(std::move(unit));
  }

  void Translate(const Unit& unit, std::string_view translation) {
    std::vector<std::vector<CuePiece>> parts = Divide(unit, translation);
    const bool blank = std::ranges::any_of(parts, [](const std::vector<CuePiece>& part) {
      return std::ranges::none_of(part, [](const CuePiece& piece) {
        return piece.kind == CueKind::kText &&
               piece.text.find_first_not_of(' ') != std::string::npos;
      });
    });
    if (blank && unit.cues > 1) parts = DivideEvenly(unit, parts);
    for (size_t i = 0; i < unit.cues; ++i)
      sources_[unit.first + i] = WriteCueText(cues_[unit.first + i], parts[i]);
  }

  // Divides a translation where its marks say. A span that goes over such a place is in both cues.
  std::vector<std::vector<CuePiece>> Divide(const Unit& unit, std::string_view translation) const {
    std::vector<std::vector<CuePiece>> parts(1);
    std::vector<size_t> open;
    for (const InlineToken& token : ReadInline(translation, unit.marks)) {
      std::vector<CuePiece>& part = parts.back();
      if (token.kind == InlineToken::Kind::kText) {
        part.push_back({CueKind::kText, is_html_ ? token.text : Unescaped(token.text)});
      } else if (token.kind == InlineToken::Kind::kClose) {
        part.push_back({CueKind::kClose, unit.ends[token.mark]});
        open.pop_back();
      } else if (unit.is_boundary[token.mark]) {
        if (!part.empty() && part.back().text.ends_with(' ')) part.back().text.pop_back();
        std::vector<CuePiece> next;
        next.reserve(open.size());
        for (const size_t mark : open) next.push_back(unit.pieces[mark]);
        for (size_t i = open.size(); i-- > 0;)
          part.push_back({CueKind::kClose, unit.ends[open[i]]});
        parts.push_back(std::move(next));
      } else {
        if (token.kind == InlineToken::Kind::kOpen) open.push_back(token.mark);
        part.push_back(unit.pieces[token.mark]);
      }
    }
    return parts;
  }

  // Gives each cue as much of the words as it had of the source, without tags.
  std::vector<std::vector<CuePiece>> DivideEvenly(
      const Unit& unit, const std::vector<std::vector<CuePiece>>& parts) const {
    std::string all;
    for (const auto& part : parts) {
      for (const CuePiece& piece : part) {
        if (piece.kind == CueKind::kText) all += piece.text;
      }
      all += ' ';
    }
    size_t source_bytes = 0;
    for (size_t i = 0; i < unit.cues; ++i) source_bytes += cues_[unit.first + i].Visible().size();
    std::vector<std::vector<CuePiece>> even(unit.cues);
    size_t at = 0;
    size_t source_at = 0;
    for (size_t i = 0; i < unit.cues; ++i) {
      source_at += cues_[unit.first + i].Visible().size();
      size_t end = all.size();
      if (i + 1 < unit.cues) {
        const size_t wanted = all.size() * source_at / source_bytes;
        end = std::min(all.find(' ', std::max(wanted, at)), all.size());
      }
      even[i].push_back({CueKind::kText, all.substr(at, end - at)});
      at = end;
    }
    return even;
  }

  const bool is_html_;
  const std::string_view line_end_;
  std::vector<std::string> before_;
  std::vector<std::string> sources_;  // the cues' texts, then their translations
  std::vector<CueText> cues_;
  std::string behind_;
  std::vector<Unit> units_;
  std::vector<std::string> texts_;
};

// Returns true if a line begins a block of WebVTT that has no cue.
bool BeginsOtherBlock(std::string_view line) {
  for (const std::string_view name : {"NOTE", "STYLE", "REGION"}) {
    if (line.starts_with(name) &&
        (line.size() == name.size() || line[name.size()] == ' ' || line[name.size()] == '\t'))
      return true;
  }
  return false;
}

absl::StatusOr<std::unique_ptr<Document>> ReadCues(std::string bytes, bool is_vtt) {
  if (!is_vtt) TurnIntoUtf8(bytes);
  MILLRACE_ASSIGN_OR_RETURN(std::string mark, TakeByteOrderMark(bytes));
  const std::string_view all = bytes;
  if (is_vtt && !all.starts_with("WEBVTT"))
    return InvalidArgument("file: does not begin with WEBVTT, as a .vtt file does");
  auto subtitles = std::make_unique<Subtitles>(is_vtt);
  std::string before = std::move(mark);
  const auto end_of = [all](size_t from) { return std::min(all.find('\n', from), all.size()); };
  const auto line_at = [&](size_t from) {
    const std::string_view line = all.substr(from, end_of(from) - from);
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
  };
  const auto has_times = [](std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const bool begins = !line.empty() && (line[0] == '-' || (line[0] >= '0' && line[0] <= '9'));
    return begins && line.find("-->") != line.npos;
  };
  // Some programs leave the blank line between cues out.
  const auto begins_cue = [&](size_t from) {
    const std::string_view line = line_at(from);
    const bool is_number =
        !is_vtt && line.find_first_not_of("0123456789 \t") == std::string_view::npos;
    return has_times(line) ||
           (is_number && has_times(line_at(std::min(end_of(from) + 1, all.size()))));
  };
  bool at_block = true;  // a block of lines begins
  bool other = false;
  for (size_t at = 0; at < all.size();) {
    const std::string_view line = line_at(at);
    const bool blank = line.find_first_not_of(" \t") == std::string_view::npos;
    if (at_block) other = is_vtt && BeginsOtherBlock(line);
    at_block = blank;
    const size_t next = std::min(end_of(at) + 1, all.size());
    // Players of .srt show what is behind an empty line, too, up to the number of the next cue.
    const bool goes_on = !is_vtt && subtitles->cues() > 0 && !blank && !begins_cue(at);
    if (!goes_on) {
      before += all.substr(at, next - at);
      at = next;
      if (other || !has_times(line)) continue;
    }
    // The text goes up to the next blank line or cue.
    size_t end = at;
    size_t text_end = at;
    while (end < all.size() && !begins_cue(end) &&
           line_at(end).find_first_not_of(" \t") != std::string_view::npos) {
      text_end = end + line_at(end).size();
      end = std::min(end_of(end) + 1, all.size());
    }
    if (text_end == at) continue;
    subtitles->AddCue(std::exchange(before, {}), all.substr(at, text_end - at));
    at = text_end;
    // The end of the last line of the text is not a blank line.
    before += all.substr(at, end - at);
    at = end;
  }
  if (subtitles->cues() == 0) {
    return InvalidArgument(
        "file: has no subtitles; one is a line with \"-->\" between two times, and text below it");
  }
  subtitles->End(std::move(before));
  return subtitles;
}

// Reads subtitles each of which is one line, whose lines have `line_end` between them. text_begin
// returns where the text of a line begins; npos: it has none.
template <typename TextBegin>
absl::StatusOr<std::unique_ptr<Document>> ReadCueLines(std::string bytes, std::string_view line_end,
                                                       std::string_view sample,
                                                       TextBegin text_begin) {
  constexpr std::string_view kBreaks = "\r\n";
  TurnIntoUtf8(bytes);
  MILLRACE_ASSIGN_OR_RETURN(std::string before, TakeByteOrderMark(bytes));
  const std::string_view all = bytes;
  auto subtitles = std::make_unique<Subtitles>(/*is_html=*/false, line_end);
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find_first_of(kBreaks, at), all.size());
    const size_t next = std::min(all.find_first_not_of(kBreaks, end), all.size());
    const std::string_view line = all.substr(at, end - at);
    const size_t begin = std::min<size_t>(text_begin(line), line.size());
    before += line.substr(0, begin);
    if (begin < line.size()) subtitles->AddCue(std::exchange(before, {}), line.substr(begin));
    before += all.substr(end, next - end);
    at = next;
  }
  if (subtitles->cues() == 0)
    return InvalidArgument("file: has no subtitles; one is a line such as ", sample);
  subtitles->End(std::move(before));
  return subtitles;
}

// Returns where the text of a line of .ass begins, behind so many commas; npos: it has none, or is
// a drawing.
size_t AssTextBegin(std::string_view line, std::ptrdiff_t commas) {
  if (!line.starts_with("Dialogue:")) return line.npos;
  size_t begin = 0;
  for (; commas > 0 && begin != line.npos; --commas) begin = line.find(',', begin + 1);
  const size_t drawing = line.find("\\p", begin);
  const bool draws = drawing != line.npos && drawing + 2 < line.size() && line[drawing + 2] > '0' &&
                     line[drawing + 2] <= '9';
  return begin == line.npos || draws ? line.npos : begin + 1;
}

// Returns where the text of a line of MicroDVD begins: {24}{72}Text; npos: it has no words, as the
// line that tells the rate of frames.
size_t MicroDvdTextBegin(std::string_view line) {
  size_t at = 0;
  for (int frames = 0; frames < 2; ++frames) {
    if (at >= line.size() || line[at] != '{') return line.npos;
    at = line.find_first_not_of("0123456789", at + 1);
    if (at == line.npos || line[at] != '}') return line.npos;
    ++at;
  }
  return line.find_first_not_of("0123456789., ", at) == line.npos ? line.npos : at;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadAss(std::string bytes, const DocumentLimits&,
                                                  std::string_view) {
  std::ptrdiff_t commas = 9;  // before the text, unless the file says otherwise
  return ReadCueLines(std::move(bytes), "\\N", "'Dialogue: 0,0:00:01.00,0:00:02.00,,,0,0,0,,Text'",
                      [&commas](std::string_view line) {
                        if (line.starts_with("Format:") && line.find("Start") != line.npos)
                          commas = std::ranges::count(line, ',');
                        return AssTextBegin(line, commas);
                      });
}

absl::StatusOr<std::unique_ptr<Document>> ReadMicroDvd(std::string bytes, const DocumentLimits&,
                                                       std::string_view) {
  return ReadCueLines(std::move(bytes), "|", "'{24}{72}Text', as MicroDVD has them",
                      MicroDvdTextBegin);
}

absl::StatusOr<std::unique_ptr<Document>> ReadSrt(std::string bytes, const DocumentLimits&,
                                                  std::string_view) {
  return ReadCues(std::move(bytes), /*is_vtt=*/false);
}

absl::StatusOr<std::unique_ptr<Document>> ReadWebVtt(std::string bytes, const DocumentLimits&,
                                                     std::string_view) {
  return ReadCues(std::move(bytes), /*is_vtt=*/true);
}

}  // namespace millrace::server
