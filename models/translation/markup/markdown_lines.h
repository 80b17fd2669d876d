#pragma once

#include <cstddef>
#include <string_view>

// These functions tell what a line of Markdown is by its shape alone. Lines come without their line
// break.
namespace millrace::translation {

// Returns the line that begins at a place of a text.
std::string_view LineAt(std::string_view text, size_t at);
// Returns where the line behind that at a place begins, or the end of the text.
size_t NextLine(std::string_view text, size_t at);

// Returns true for a rule, and for the line below a heading.
bool IsRule(std::string_view line);
bool IsTableRule(std::string_view line);
// Returns the mark that begins or ends a fenced block with this line; empty: it does neither.
std::string_view FenceOf(std::string_view line);
// Returns the end of a footnote's [^name] that begins at `at`, or `at`.
size_t FootnoteEnd(std::string_view line, size_t at);
// Returns the end of the mark of a directive, such as :::note, !!! note or === "Tab"; 0: it has
// none.
size_t DirectiveEnd(std::string_view line);
// Returns true for a directive to which the indented lines below belong: !!! note, === "Tab".
bool HoldsIndentedLines(std::string_view directive);
// Returns true for an option in a line below a directive: ":class: tip".
bool IsDirectiveOption(std::string_view line);
// Returns the end of the front matter in YAML or TOML that a document begins with; 0: it has none.
size_t FrontMatterEnd(std::string_view text);
// Returns how far a line is indented, with tabs to every fourth column.
size_t IndentOf(std::string_view line);
// Returns the end of what is before the text of a line: quote marks, a list mark, heading marks.
size_t PrefixEnd(std::string_view line);
// Returns a line without the quote marks that it begins with.
std::string_view BehindQuoteMarks(std::string_view line);

}  // namespace millrace::translation
