#include "models/translation/markup/mark_tree.h"

#include <utility>

#include "models/text/trim.h"

namespace millrace::translation {
namespace {

// Takes the white space at the ends of a pair's text out of it: words decide where it goes, and
// editors often format the space behind a word with it.
void TrimSpace(std::string_view text, MarkNode& node) {
  const std::string_view inside = text.substr(node.begin, node.end - node.begin);
  const std::string_view trimmed = models::Trim(inside);
  if (trimmed.empty()) return;
  node.begin += static_cast<size_t>(trimmed.data() - inside.data());
  node.end = node.begin + trimmed.size();
}

}  // namespace

std::vector<MarkNode> MarksOf(const MarkedText& marked) {
  // The open marks, the outermost first; the bottom entry represents the text itself.
  std::vector<MarkNode> open(1);
  const auto close = [&open, &marked](size_t end, std::string_view closing) {
    MarkNode node = std::move(open.back());
    open.pop_back();
    node.end = end;
    node.closing = closing;
    TrimSpace(marked.text, node);
    open.back().inner.push_back(std::move(node));
  };
  for (const MarkEvent& event : marked.events) {
    switch (event.kind) {
      case MarkEvent::Kind::kOpen:
        open.push_back({.begin = event.at, .opening = event.markup});
        break;
      case MarkEvent::Kind::kAlone:
        open.back().inner.push_back(
            {.begin = event.at, .end = event.at, .is_pair = false, .opening = event.markup});
        break;
      case MarkEvent::Kind::kClose:
        if (open.size() == 1) {
          // The mark opened before this text, so everything so far is inside it.
          open.push_back({.from_before = true, .inner = std::move(open.front().inner)});
          open.front().inner.clear();
        }
        close(event.at, event.markup);
        break;
    }
  }
  while (open.size() > 1) {
    open.back().goes_on = true;
    close(marked.text.size(), {});
  }
  return std::move(open.front().inner);
}

}  // namespace millrace::translation
