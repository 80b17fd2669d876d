#include "server/documents/inline_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "models/core/strings.h"

namespace millrace::server {
namespace {

using TokenKind = InlineToken::Kind;

// Elements of a letter and a number are placeholders within a sentence for the reader of HTML, and
// a variable is a word that stays as it is.
constexpr std::string_view kWordBegin = "<var id=";
constexpr std::string_view kWordEnd = ">x</var>";
constexpr struct {
  TokenKind kind;
  std::string_view before, after;
} kTags[] = {{TokenKind::kOpen, "<g", ">"},
             {TokenKind::kClose, "</g", ">"},
             {TokenKind::kAlone, "<x", "/>"},
             {TokenKind::kAlone, kWordBegin, kWordEnd},
             {TokenKind::kDivider, "<br id=", "/>"}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEntities = {
    {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&nbsp;", "\u00A0"}}};

std::string Tag(TokenKind kind, size_t mark) {
  for (const auto& tag : kTags) {
    if (tag.kind == kind) return StrCat(tag.before, mark, tag.after);
  }
  return {};
}

// Reads the text before a number, the number and the text after it, and takes it off the front.
std::optional<size_t> TakeMark(std::string_view& html, std::string_view before,
                               std::string_view after) {
  if (!html.starts_with(before)) return std::nullopt;
  size_t mark = 0;
  const char* begin = html.data() + before.size();
  const auto [end, error] = std::from_chars(begin, html.data() + html.size(), mark);
  if (error != std::errc()) return std::nullopt;
  const std::string_view rest = html.substr(static_cast<size_t>(end - html.data()));
  if (!rest.starts_with(after)) return std::nullopt;
  html = rest.substr(after.size());
  return mark;
}

std::optional<InlineToken> TakeTag(std::string_view& html) {
  for (const auto& tag : kTags) {
    if (const std::optional<size_t> mark = TakeMark(html, tag.before, tag.after))
      return InlineToken{tag.kind, *mark};
  }
  return std::nullopt;
}

std::vector<InlineToken> Parse(std::string_view html) {
  std::vector<InlineToken> tokens;
  while (!html.empty()) {
    if (html.front() == '<') {
      if (std::optional<InlineToken> tag = TakeTag(html)) {
        tokens.push_back(*std::move(tag));
        continue;
      }
    }
    const std::string_view text = html.substr(0, html.find('<', 1));
    if (tokens.empty() || tokens.back().kind != TokenKind::kText) tokens.emplace_back();
    tokens.back().text += text;
    html.remove_prefix(text.size());
  }
  return tokens;
}

// Returns true if all spans are there once, and nest.
bool AreSpansWhole(const std::vector<InlineToken>& tokens, const std::vector<TokenKind>& marks) {
  std::vector<size_t> open;
  std::vector<bool> seen(marks.size());
  for (const InlineToken& token : tokens) {
    if (token.kind == TokenKind::kOpen) {
      if (token.mark >= marks.size() || marks[token.mark] != TokenKind::kOpen || seen[token.mark])
        return false;
      seen[token.mark] = true;
      open.push_back(token.mark);
    } else if (token.kind == TokenKind::kClose) {
      if (open.empty() || open.back() != token.mark) return false;
      open.pop_back();
    }
  }
  if (!open.empty()) return false;
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] == TokenKind::kOpen && !seen[i]) return false;
  }
  return true;
}

}  // namespace

void InlineWriter::Text(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
  Html(html);
}

void InlineWriter::Html(std::string_view html) {
  if (html.empty()) return;
  html_ += html;
  last_ = html.back();
  has_text_ |= html.find_first_not_of(" \t\r\n") != std::string_view::npos;
}

size_t InlineWriter::Add(TokenKind kind) {
  marks_.push_back(kind);
  html_ += Tag(kind, marks_.size() - 1);
  return marks_.size() - 1;
}

size_t InlineWriter::Open() { return Add(TokenKind::kOpen); }

void InlineWriter::Close(size_t mark) { html_ += Tag(TokenKind::kClose, mark); }

size_t InlineWriter::Alone() { return Add(TokenKind::kAlone); }

size_t InlineWriter::Word() {
  html_ += StrCat(kWordBegin, marks_.size(), kWordEnd);
  marks_.push_back(TokenKind::kAlone);
  return marks_.size() - 1;
}

size_t InlineWriter::Divider() {
  last_ = ' ';
  return Add(TokenKind::kDivider);
}

std::vector<InlineToken> ReadInline(std::string_view html, const std::vector<TokenKind>& marks) {
  std::vector<InlineToken> parsed = Parse(html);
  const bool spans = AreSpansWhole(parsed, marks);
  std::vector<InlineToken> tokens;
  std::vector<bool> seen(marks.size());
  for (InlineToken& token : parsed) {
    if (token.kind == TokenKind::kOpen || token.kind == TokenKind::kClose) {
      if (!spans) continue;
    } else if (token.kind != TokenKind::kText) {
      if (token.mark >= marks.size() || marks[token.mark] != token.kind || seen[token.mark])
        continue;
      seen[token.mark] = true;
    }
    tokens.push_back(std::move(token));
  }
  for (size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] != TokenKind::kOpen && !seen[i]) tokens.push_back({marks[i], i});
  }
  return tokens;
}

std::string Unescaped(std::string_view html) {
  std::string text;
  while (!html.empty()) {
    const size_t plain = std::min(html.find('&'), html.size());
    text += html.substr(0, plain);
    html.remove_prefix(plain);
    if (html.empty()) break;
    std::string_view character = "&";
    size_t bytes = 1;
    for (const auto& [entity, meaning] : kEntities) {
      if (!html.starts_with(entity)) continue;
      character = meaning;
      bytes = entity.size();
      break;
    }
    text += character;
    html.remove_prefix(bytes);
  }
  return text;
}

}  // namespace millrace::server
