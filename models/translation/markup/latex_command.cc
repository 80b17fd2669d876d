#include "models/translation/markup/latex_command.h"

#include <algorithm>

#include "models/text/ascii.h"

namespace millrace::translation {
namespace {

// Commands by their names, with a space on each side of each.
constexpr std::string_view kWithWords =
    " author caption centerline chapter date emph enquote framebox large Large mbox paragraph part "
    "section subparagraph subsection subsubsection subtitle text textbf textit textmd textnormal "
    "textrm textsc textsf textsl textup thanks title todo underline uline sout ";
constexpr std::string_view kWithoutWords =
    " autoref begin bibitem bibliography bibliographystyle cite citeauthor citep citet citeyear "
    "cref Cref documentclass end eqref gls hspace include includegraphics index input label "
    "nameref nocite pageref ref setlength texttt url usepackage vspace ";
constexpr std::string_view kAlone =
    " LaTeX TeX XeTeX bfseries bigskip cdots centering clearpage copyright dots hfill hline "
    "itshape item itemize ldots linebreak maketitle medskip newline newpage noindent pagebreak par "
    "qquad quad smallskip tableofcontents textbackslash textellipsis textendash textemdash today "
    "vfill ";

bool IsNamedIn(std::string_view names, std::string_view name) {
  for (size_t at = names.find(name); at != std::string_view::npos; at = names.find(name, at + 1)) {
    if (names[at - 1] == ' ' && names[at + name.size()] == ' ') return true;
  }
  return false;
}

// Returns the place of the bracket that closes the one at `open`; `open` if there is none near.
size_t ClosingOf(std::string_view text, size_t open) {
  constexpr size_t kLongest = 1024;
  const char opening = text[open];
  const char closing = opening == '{' ? '}' : ']';
  const size_t limit = std::min(text.size(), open + kLongest);
  size_t depth = 0;
  for (size_t at = open; at < limit; ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == opening) {
      ++depth;
    } else if (text[at] == closing && --depth == 0) {
      return at;
    }
  }
  return open;
}

// Returns the end of a formula between \( and \), or \[ and \]; 0: there is none.
size_t FormulaEnd(std::string_view text, size_t at) {
  constexpr size_t kLongest = 1024;
  const char opening = models::ByteAt(text, at + 1);
  if (opening != '(' && opening != '[') return 0;
  const std::string_view closing = opening == '(' ? "\\)" : "\\]";
  const size_t close = text.substr(0, at + kLongest).find(closing, at + 2);
  return close == std::string_view::npos ? 0 : close + closing.size();
}

}  // namespace

LatexCommand ReadLatexCommand(std::string_view text, size_t at) {
  const size_t name_end = models::LettersEnd(text, at + 1);
  const std::string_view name = text.substr(at + 1, name_end - at - 1);
  if (name.empty()) return {FormulaEnd(text, at), 0};
  size_t end = name_end + (models::ByteAt(text, name_end) == '*' ? 1 : 0);
  const auto take_options = [&] {
    if (models::ByteAt(text, end) != '[') return;
    if (const size_t close = ClosingOf(text, end); close > end) end = close + 1;
  };
  take_options();
  const bool has_braces = models::ByteAt(text, end) == '{';
  const size_t close = has_braces ? ClosingOf(text, end) : end;
  if (close > end && IsNamedIn(kWithWords, name)) return {end + 1, close};
  if (close > end && name == "href") {  // the address, then the words
    const size_t words = close + 1;
    if (models::ByteAt(text, words) != '{') return {};
    const size_t words_close = ClosingOf(text, words);
    return words_close > words ? LatexCommand{words + 1, words_close} : LatexCommand{};
  }
  if (close > end && IsNamedIn(kWithoutWords, name)) {
    end = close + 1;
    take_options();
    return {end, 0};
  }
  // Behind a letter or before another backslash it is part of a path.
  const bool is_part = (at > 0 && (models::IsAsciiAlnum(text[at - 1]) || text[at - 1] == ':')) ||
                       models::ByteAt(text, name_end) == '\\';
  if (is_part || !IsNamedIn(kAlone, name)) return {};
  return {close > end && close == end + 1 ? close + 1 : name_end, 0};
}

}  // namespace millrace::translation
