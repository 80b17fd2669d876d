#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "models/text/pattern_text.h"
#include "models/text/term_index.h"

namespace millrace::models {

// A part of a text that a translation must not change, and what it becomes: a view into the text or
// into the terms.
struct ProtectedSpan {
  size_t begin = 0;
  size_t end = 0;
  std::string_view becomes;
};

// Finds placeholders ({name}, {{x}}, ${x}, %s, %1$d, :name:, [name], ((name)), |name|) with the
// words that touch them, tags of templates ({% %}, <% %>), ICU messages, web and mail addresses,
// file paths and names, versions, numbers of clauses such as 5(2)(b), `code`, names_like_this and
// calls(), statements of SQL and commands for a shell, @mentions, #tags, emoji, and the terms as
// whole words. Spans are in order and do not overlap; of two that begin together the longer is
// taken. Plain numbers are not protected. Thread-safe; linear time.
std::vector<ProtectedSpan> FindProtectedSpans(std::string_view text, const TermIndex& terms,
                                              const PatternOptions& options = {});

}  // namespace millrace::models
