#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace millrace::translation {

// A message of ICU: {count, plural, one {# file} other {# files}}.
struct PlainMessage {
  // The text of a branch, between its braces.
  struct Branch {
    size_t begin = 0;
    size_t end = 0;
    // A number that # stands for in it; empty: # is a sign like others.
    std::string_view number = {};
  };

  size_t begin = 0;
  size_t end = 0;
  // The line in which it stands, without the spaces around it.
  size_t line_begin = 0;
  size_t line_end = 0;
  std::vector<Branch> branches = {};
};

// Reads the message that begins with the { at `at`. Where there is none, its end is `at`.
PlainMessage ReadMessage(std::string_view text, size_t at);

// Returns the messages that stand alone in their lines, and those of a few branches that are the
// only ones within one line, in order. Linear time.
std::vector<PlainMessage> FindMessages(std::string_view text);

// Returns true for the apostrophe within a word that messages write twice: don''t, {0}''s.
bool IsDoubledApostrophe(std::string_view text, size_t at);

}  // namespace millrace::translation
