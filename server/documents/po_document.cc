#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "models/core/errors.h"
#include "models/core/strings.h"
#include "models/text/trim.h"
#include "server/documents/document_readers.h"
#include "server/documents/format_arguments.h"
#include "server/documents/plural_forms.h"
#include "server/documents/text_document.h"
#include "server/documents/value_document.h"

namespace millrace::server {
namespace {

// The strings of one keyword, read and joined.
struct PoText {
  std::string value;
  bool has_control = false;  // it has an escape, such as \a, that no text for people has
};

// Appends a string of gettext; returns false if it is not one.
bool AppendPoString(std::string_view quoted, PoText& text) {
  if (quoted.size() < 2 || quoted.front() != '"' || quoted.back() != '"') return false;
  quoted = quoted.substr(1, quoted.size() - 2);
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] == '"') return false;
    if (quoted[i] != '\\') {
      text.value += quoted[i];
      continue;
    }
    if (++i == quoted.size()) return false;
    constexpr std::string_view kEscapes = "ntr\"\\";
    const size_t escape = kEscapes.find(quoted[i]);
    if (escape == std::string_view::npos) {
      text.has_control = true;
    } else {
      text.value += std::string_view("\n\t\r\"\\")[escape];
    }
  }
  return true;
}

// Returns a text as gettext writes it: with a string for each line if there are several.
std::string PoString(std::string_view text, std::string_view line_end) {
  const size_t first = text.find('\n');
  std::string written = "\"";
  if (first != std::string_view::npos && first + 1 < text.size())
    written += StrCat("\"", line_end, "\"");
  for (size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view kEscaped = "\n\t\r\"\\";
    const size_t escaped = kEscaped.find(text[i]);
    if (escaped == std::string_view::npos) {
      written += text[i];
      continue;
    }
    written += '\\';
    written += std::string_view("ntr\"\\")[escaped];
    if (text[i] == '\n' && i + 1 < text.size()) written += StrCat("\"", line_end, "\"");
  }
  return written + '"';
}

// Returns a translation that begins and ends with a line break if its source does, as gettext
// demands.
std::string WithLineBreaksOf(std::string_view source, std::string_view translation) {
  while (!source.starts_with('\n') && translation.starts_with('\n')) translation.remove_prefix(1);
  while (!source.ends_with('\n') && translation.ends_with('\n')) translation.remove_suffix(1);
  return StrCat(source.starts_with('\n') && !translation.starts_with('\n') ? "\n" : "", translation,
                source.ends_with('\n') && !translation.ends_with('\n') ? "\n" : "");
}

// Returns the value of a field of a header, up to the end of its line; nothing: it is not there.
std::optional<std::string_view> HeaderField(std::string_view header, std::string_view name) {
  for (size_t at = header.find(name); at != std::string_view::npos;
       at = header.find(name, at + 1)) {
    const size_t begin = at + name.size();
    if (at > 0 && header[at - 1] != '\n') continue;
    return models::Trim(header.substr(begin, header.find('\n', begin) - begin));
  }
  return std::nullopt;
}

// Replaces the value of a field in the lines of a header, as the file writes them.
void SetHeaderField(std::string_view name, std::string_view value, std::string& lines) {
  const size_t at = lines.find(StrCat("\"", name));
  if (at == std::string::npos) return;
  const size_t begin = at + 1 + name.size();
  const size_t end = lines.find("\\n", begin);
  if (end < lines.find('\n', begin)) lines.replace(begin, end - begin, StrCat(" ", value));
}

// Returns the least number of plural forms that a catalogue must declare so that none of those that
// are filled is lost; 0: none is filled.
size_t CountFilledForms(std::string_view file) {
  constexpr std::string_view kKeyword = "msgstr[";
  size_t forms = 0;
  size_t form = 0;  // the one whose strings the line may continue; 0: none
  while (!file.empty()) {
    const size_t end = std::min(file.find('\n'), file.size() - 1) + 1;
    const std::string_view line = models::Trim(file.substr(0, end));
    file.remove_prefix(end);
    if (line.starts_with(kKeyword)) {
      size_t index = 0;
      const size_t close = std::min(line.find(']'), line.size());
      const std::string_view digits = line.substr(kKeyword.size(), close - kKeyword.size());
      form = absl::SimpleAtoi(View(digits), &index) ? index + 1 : 0;
    } else if (!line.starts_with('"')) {
      form = 0;
    }
    if (form > forms && line.ends_with('"') && !line.ends_with("\"\"")) forms = form;
  }
  return forms;
}

// Reads a catalogue line by line.
class PoReader {
 public:
  PoReader(std::string_view file, const DocumentLimits& limits, std::string_view target_language)
      : filled_forms_(CountFilledForms(file)),
        line_end_(file.find("\r\n") != std::string_view::npos ? "\r\n" : "\n"),
        target_language_(target_language),
        document_(std::make_unique<ValueDocument>(
            [line_end = line_end_](std::string_view text) { return PoString(text, line_end); },
            limits)) {}

  absl::Status Read(std::string_view file) {
    for (size_t number = 1; !file.empty(); ++number) {
      const size_t line_feed = file.find('\n');
      const std::string_view line =
          file.substr(0, line_feed == std::string_view::npos ? file.size() : line_feed + 1);
      file.remove_prefix(line.size());
      if (!ReadLine(line)) {
        return InvalidArgument(
            "file: line ", number, " has none of what a PO file may have: a comment, or ",
            "domain, msgctxt, msgid, msgid_plural or msgstr in this order, each with strings");
      }
      MILLRACE_RETURN_IF_ERROR(CheckCharset());
    }
    FillEntry();
    return CheckCharset();
  }

  void Keep(std::string_view bytes) { document_->Keep(bytes); }
  std::unique_ptr<Document> Finish() { return std::move(document_); }

 private:
  struct MsgStr {
    std::string keyword;
    std::string lines;  // as they are in the file
    PoText text;
  };

  bool ReadLine(std::string_view line) {
    const std::string_view content = models::Trim(line);
    if (content.empty() || content.front() == '#') {
      FillEntry();
      current_ = nullptr;
      if (content.starts_with("#,")) flags_ += content;
      Keep(line);
      return true;
    }
    const size_t quote = content.find('"');
    if (quote == std::string_view::npos) return false;
    const std::string_view keyword = models::Trim(content.substr(0, quote));
    if (!keyword.empty() && !Begin(keyword)) return false;
    if (current_ == nullptr || !AppendPoString(content.substr(quote), *current_)) return false;
    if (msgstrs_.empty()) {
      Keep(line);
    } else {
      msgstrs_.back().lines += line;
    }
    return true;
  }

  // Begins the strings of a keyword; returns false if there is no such keyword here.
  bool Begin(std::string_view keyword) {
    if (keyword.starts_with("msgstr")) {
      if (!has_id_) return false;
      current_ = &msgstrs_.emplace_back(MsgStr{std::string(keyword), {}, {}}).text;
      return true;
    }
    FillEntry();
    if (keyword == "msgctxt" || keyword == "domain") {
      has_id_ = false;
      context_ = {};
      current_ = &context_;
    } else if (keyword == "msgid") {
      has_id_ = true;
      id_ = plural_ = {};
      current_ = &id_;
    } else if (keyword == "msgid_plural" && has_id_) {
      current_ = &plural_;
    } else {
      return false;
    }
    return true;
  }

  void ReadCharset(std::string_view header) {
    constexpr std::string_view kName = "charset=";
    const size_t at = header.find(kName);
    if (at == std::string_view::npos) return;
    const size_t begin = at + kName.size();
    charset_ = models::Trim(header.substr(begin, header.find('\n', begin) - begin));
  }

  // Reads the language and the plural forms of the header, and writes those of the target language
  // where it names none or others. Forms that somebody has filled were written for the rule that is
  // there, which stays then.
  void ReadHeader(MsgStr& header) {
    ReadCharset(header.text.value);
    const auto language = HeaderField(header.text.value, "Language:");
    const auto plural = HeaderField(header.text.value, "Plural-Forms:");
    if (plural) {
      const size_t at = plural->find("nplurals=");
      const std::string_view count = at == std::string_view::npos
                                         ? ""
                                         : plural->substr(at + 9, plural->find(';', at) - at - 9);
      if (!absl::SimpleAtoi(View(models::Trim(count)), &forms_) || forms_ > kMostForms) forms_ = 0;
    }
    const auto base = [](std::string_view name) {
      return absl::AsciiStrToLower(View(name.substr(0, name.find_first_of("-_@"))));
    };
    const bool is_other = language && base(*language) != base(target_language_);
    if (target_language_.empty() || (!is_other && (!plural || forms_ > 0))) return;
    std::string name(target_language_);
    std::ranges::replace(name, '-', '_');
    if (is_other) SetHeaderField("Language:", name, header.lines);
    const PluralForms known = PluralFormsOf(target_language_);
    if (known.count == 0 || (filled_forms_ > 0 && forms_ > 0) || filled_forms_ > known.count)
      return;
    forms_ = known.count;
    SetHeaderField("Plural-Forms:", StrCat("nplurals=", known.count, "; plural=", known.rule, ";"),
                   header.lines);
  }

  // Gives an entry as many plural forms as the language has, but for those that are filled.
  void CountForms() {
    if (plural_.value.empty() || plural_.has_control || id_.has_control || forms_ == 0 ||
        msgstrs_.empty() || msgstrs_.front().text.has_control)
      return;
    if (msgstrs_.size() < forms_ && !msgstrs_.back().lines.ends_with('\n'))
      msgstrs_.back().lines += line_end_;
    while (msgstrs_.size() > forms_ && msgstrs_.back().text.value.empty()) msgstrs_.pop_back();
    for (size_t i = msgstrs_.size(); i < forms_; ++i)
      msgstrs_.push_back({StrCat("msgstr[", i, "]"), line_end_, {}});
  }

  // Writes a translation of `source`. One that would make a program read other arguments than it
  // is given is left out.
  static std::string Write(std::string_view source, std::string_view translation, bool is_format,
                           bool may_number, std::string_view line_end) {
    std::string text = WithLineBreaksOf(source, translation);
    if (is_format) text = WithArgumentsOf(source, text, may_number).value_or("");
    return PoString(text, line_end);
  }

  bool HasFlag(std::string_view flag) const {
    return flags_.find(StrCat(" ", flag)) != std::string::npos;
  }

  void AddText(const std::string& source, bool is_format, bool may_number) {
    document_->Add(
        source, PoString(source, line_end_),
        [source, is_format, may_number, line_end = line_end_](std::string_view translation) {
          return Write(source, translation, is_format, may_number, line_end);
        });
  }

  // "CHARSET" is what stands there until somebody has translated. The bytes are UTF-8 in any case.
  absl::Status CheckCharset() const {
    constexpr std::string_view kAllowed[] = {"", "UTF-8", "CHARSET", "ASCII", "US-ASCII"};
    for (const std::string_view allowed : kAllowed) {
      if (absl::EqualsIgnoreCase(charset_, View(allowed))) return absl::OkStatus();
    }
    return InvalidArgument("file: the header names the charset '", charset_,
                           "'; only UTF-8 is supported");
  }

  // Writes the msgstr of the entry that ends here.
  void FillEntry() {
    if (has_id_ && id_.value.empty() && !msgstrs_.empty()) ReadHeader(msgstrs_.front());
    CountForms();
    const bool may_number = HasFlag("c-format") || HasFlag("objc-format") || HasFlag("php-format");
    const bool is_format = may_number || HasFlag("python-format");
    for (const MsgStr& msgstr : msgstrs_) {
      if (document_->is_full()) break;
      // A language with one form for all numbers needs that of many.
      const bool is_singular =
          plural_.value.empty() || (msgstr.keyword == "msgstr[0]" && msgstrs_.size() > 1);
      const PoText& source = is_singular ? id_ : plural_;
      if (source.value.empty() || source.has_control || !msgstr.text.value.empty() ||
          msgstr.text.has_control) {
        Keep(msgstr.lines);
        continue;
      }
      Keep(msgstr.keyword);
      Keep(" ");
      AddText(source.value, is_format, may_number);
      if (msgstr.lines.ends_with('\n')) Keep(line_end_);
    }
    if (!msgstrs_.empty()) {
      has_id_ = false;
      current_ = nullptr;
      flags_.clear();
    }
    msgstrs_.clear();
  }

  static constexpr size_t kMostForms = 16;

  const size_t filled_forms_;
  const std::string line_end_;
  const std::string_view target_language_;
  std::unique_ptr<ValueDocument> document_;
  PoText context_;
  PoText id_;
  PoText plural_;
  std::vector<MsgStr> msgstrs_;
  PoText* current_ = nullptr;  // A string without a keyword continues this one.
  bool has_id_ = false;
  std::string charset_;
  std::string flags_;  // the entry's
  size_t forms_ = 0;   // plural forms that the header names; 0: none
};

}  // namespace

absl::StatusOr<std::unique_ptr<Document>> ReadPo(std::string bytes, const DocumentLimits& limits,
                                                 std::string_view target_language) {
  MILLRACE_ASSIGN_OR_RETURN(std::string mark, TakeByteOrderMark(bytes));
  PoReader reader(bytes, limits, target_language);
  reader.Keep(mark);
  MILLRACE_RETURN_IF_ERROR(reader.Read(bytes));
  return reader.Finish();
}

}  // namespace millrace::server
