#include <algorithm>
#include <optional>

#include "models/translation/markup/block_builder.h"
#include "models/translation/markup/html_tag.h"

namespace millrace::translation {
namespace {

// The number of innermost open tags among which the counterpart of a closing tag is searched.
constexpr size_t kMaxOpenTags = 32;

struct PlainTag {
  size_t begin;
  HtmlTag tag;
  bool paired = false;
};

std::vector<PlainTag> FindTags(std::string_view text) {
  std::vector<PlainTag> found;
  std::vector<size_t> open;
  HtmlTagReader reader(text);
  for (size_t at = text.find('<'); at != std::string_view::npos;) {
    PlainTag tag{at, {}};
    if (!reader.Read(at, tag.tag)) {
      at = text.find('<', at + 1);
      continue;
    }
    if (!tag.tag.closes && !tag.tag.is_empty) {
      open.push_back(found.size());
    } else if (tag.tag.closes) {
      const size_t deepest = open.size() - std::min(open.size(), kMaxOpenTags);
      for (size_t i = open.size(); i-- > deepest;) {
        if (found[open[i]].tag.name != tag.tag.name) continue;
        tag.paired = found[open[i]].paired = true;
        open.resize(i);
        break;
      }
    }
    at = text.find('<', tag.tag.end);
    found.push_back(std::move(tag));
  }
  return found;
}

}  // namespace

std::vector<MarkedBlock> ReadPlain(std::string_view text) {
  BlockBuilder out({.flows = false});
  size_t at = 0;
  for (const PlainTag& found : FindTags(text)) {
    out.Text(text.substr(at, found.begin - at));
    at = found.tag.end;
    const std::string_view markup = text.substr(found.begin, at - found.begin);
    if (!found.paired) {
      // A tag without a counterpart is a placeholder unless it reads like "if a <b and c> d".
      const bool remark = markup.find(' ') != std::string_view::npos &&
                          markup.find('=') == std::string_view::npos && !found.tag.is_empty;
      remark ? out.Text(markup) : out.Keep(markup);
    } else if (found.tag.closes) {
      out.Close(found.tag.name, markup);
    } else {
      out.Open(found.tag.name, markup);
    }
  }
  out.Text(text.substr(at));
  return out.TakeBlocks();
}

}  // namespace millrace::translation
