#include "models/translation/markup/markdown_blocks.h"

#include <algorithm>
#include <array>

#include "models/text/ascii.h"
#include "models/text/trim.h"
#include "models/translation/markup/markdown_lines.h"

namespace millrace::translation {
namespace {

constexpr size_t kMostSearchedForBlocks = size_t{16} << 20;
// Statements of a module are looked at so far for the end of what they open.
constexpr size_t kLongestStatement = 2048;

// Tags of templates between which there is no text, and environments of LaTeX that are formulas.
constexpr std::array<std::string_view, 7> kCodeTags = {"highlight", "codeblock", "code", "comment",
                                                       "mermaid",   "katex",     "math"};
constexpr std::array<std::string_view, 18> kFormulas = {
    "equation", "align",   "aligned", "gather",   "gathered", "multline",
    "split",    "cases",   "matrix",  "bmatrix",  "pmatrix",  "vmatrix",
    "Bmatrix",  "Vmatrix", "array",   "eqnarray", "alignat",  "tikzpicture"};

std::string_view NameAt(std::string_view text) {
  const auto* const end = std::ranges::find_if_not(text, models::IsAsciiLetter);
  return {text.begin(), end};
}

// Returns what closes a tag of a template that a text begins with; empty: it begins with none.
std::string_view TemplateCloser(std::string_view text) {
  if (text.starts_with("{%")) return "%}";
  if (text.starts_with("{{<")) return ">}}";
  return text.starts_with("{{%") ? "%}}" : std::string_view();
}

bool BeginsStatement(std::string_view line) {
  for (const std::string_view begin :
       {"export const ", "export let ", "export var ", "export function ", "export async function ",
        "export class ", "export default function", "export default class", "export default (",
        "export default {", "export {", "export * from "}) {
    if (line.starts_with(begin)) return true;
  }
  return line.starts_with("import '") || line.starts_with("import \"") ||
         (line.starts_with("import ") && (line.find(" from '") != std::string_view::npos ||
                                          line.find(" from \"") != std::string_view::npos)) ||
         line == "import {";
}

bool IsBlankLine(std::string_view line) { return models::Trim(line).empty(); }

}  // namespace

size_t MarkdownBlocks::EndOf(size_t at, bool after_blank) {
  const std::string_view line = LineAt(text_, at);
  const size_t prefix = PrefixEnd(line);
  size_t content = at + prefix;
  while (content < at + line.size() && (text_[content] == ' ' || text_[content] == '\t')) ++content;
  size_t end = at;
  switch (models::ByteAt(text_, content)) {
    case '`':
    case '~':
      end = FenceEnd(at, content);
      break;
    case '$':
    case '%':
    case '\\':
      end = FormulaEnd(content);
      break;
    case '{':
      end = TemplateEnd(content);
      break;
    case 'e':
    case 'i':
      if (after_blank && content == at && BeginsStatement(line)) end = ModuleEnd(at);
      break;
    default:
      break;
  }
  if (end <= at) return at;
  // The line break belongs to the block if nothing else is behind it in the line.
  return IsBlankLine(LineAt(text_, end)) ? NextLine(text_, end) : end;
}

size_t MarkdownBlocks::FenceEnd(size_t at, size_t content) const {
  const std::string_view fence = FenceOf(LineAt(text_, content));
  const std::string_view prefix = text_.substr(at, content - at);
  if (fence.empty() || prefix.find('#') != std::string_view::npos) return at;
  const bool quoted = prefix.find('>') != std::string_view::npos;
  for (size_t next = NextLine(text_, at); next < text_.size(); next = NextLine(text_, next)) {
    std::string_view line = LineAt(text_, next);
    if (quoted && !models::TrimLeft(line).starts_with('>')) return next - 1;
    if (quoted) line = BehindQuoteMarks(line);
    const std::string_view closing = FenceOf(line);
    if (closing.starts_with(fence) && models::Trim(line).size() == closing.size())
      return next + LineAt(text_, next).size();
  }
  return text_.size();
}

size_t MarkdownBlocks::FormulaEnd(size_t content) {
  const std::string_view line = models::TrimRight(LineAt(text_, content));
  if (line == "\\[") return WithoutBlankLine(content, Behind("\\]", content));
  if (constexpr std::string_view kBegin = "\\begin"; line.starts_with(kBegin)) {
    const std::string_view name = line.substr(kBegin.size(), line.find('}') - kBegin.size() + 1);
    const bool is_formula = name.starts_with('{') && name.ends_with('}') &&
                            std::ranges::find(kFormulas, NameAt(name.substr(1))) != kFormulas.end();
    return is_formula ? Behind("\\end" + std::string(name), content) : 0;
  }
  // Comments of Obsidian stand between their marks as formulas do.
  const std::string_view mark = line.substr(0, 2);
  if (mark != "$$" && mark != "%%") return 0;
  const size_t end = Behind(mark, content + mark.size());
  // The $$ of a formula within a paragraph has its counterpart in the line.
  if (end <= content + line.size())
    return end == content + line.size() && line.size() > 2 * mark.size() ? end : 0;
  // The mark of another formula does not end this one.
  if (LineAt(text_, end).find(mark) != std::string_view::npos) return 0;
  // Only a formula whose mark is alone in its line may have blank lines.
  return line == mark ? end : WithoutBlankLine(content, end);
}

size_t MarkdownBlocks::TemplateEnd(size_t content) {
  const std::string_view line = models::TrimRight(LineAt(text_, content));
  const std::string_view closer = TemplateCloser(line);
  if (closer.empty()) return 0;
  const std::string_view mark = line.substr(0, closer.size());
  const size_t begin = std::min(line.find_first_not_of("- \t", mark.size()), line.size());
  const std::string_view name = NameAt(line.substr(begin));
  if (std::ranges::find(kCodeTags, name) != kCodeTags.end()) {
    const std::string ending = (closer == "%}" ? "end" : "/") + std::string(name);
    for (const std::string_view space : {" ", "- ", ""}) {
      const size_t end = Behind(std::string(mark) + std::string(space) + ending, content);
      if (end > 0) return Behind(closer, end);
    }
  }
  // A tag that is alone in its line.
  return line.find(closer) + closer.size() == line.size() ? content + line.size() : 0;
}

size_t MarkdownBlocks::ModuleEnd(size_t at) const {
  size_t first_blank = 0;
  int depth = 0;
  for (size_t next = at; next < std::min(at + kLongestStatement, text_.size());
       next = NextLine(text_, next)) {
    const std::string_view line = LineAt(text_, next);
    if (IsBlankLine(line)) {
      if (depth <= 0) return next - 1;
      if (first_blank == 0) first_blank = next - 1;
    }
    depth += static_cast<int>(std::ranges::count(line, '{') - std::ranges::count(line, '}'));
  }
  if (first_blank > 0 && depth > 0) return first_blank;
  return std::min(text_.find("\n\n", at), text_.size());
}

size_t MarkdownBlocks::Behind(std::string_view mark, size_t from) {
  if (searched_in_vain_ > kMostSearchedForBlocks) return 0;
  const size_t found = text_.find(mark, from);
  if (found != std::string_view::npos) return found + mark.size();
  searched_in_vain_ += text_.size() - from;
  return 0;
}

size_t MarkdownBlocks::WithoutBlankLine(size_t from, size_t end) {
  for (size_t next = NextLine(text_, from); next < end; next = NextLine(text_, next)) {
    if (!IsBlankLine(LineAt(text_, next))) continue;
    searched_in_vain_ += end - from;
    return 0;
  }
  return end;
}

}  // namespace millrace::translation
