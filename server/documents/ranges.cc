#include "server/documents/ranges.h"

#include <algorithm>
#include <utility>

namespace millrace::server {
namespace {

constexpr size_t kFarthest = 256;

bool HasText(const OfficeItem& item) {
  return !item.text.empty() || std::ranges::any_of(item.inner, HasText);
}

bool Divides(const OfficeItem& item) {
  return item.kind == OfficeItem::Kind::kDivider || std::ranges::any_of(item.inner, Divides);
}

}  // namespace

size_t RangeEnd(std::span<const pugi::xml_node> nodes, size_t begin, RangeMarkReader* read) {
  const RangeMark first = read(nodes[begin]);
  if (first.place != RangeMark::Place::kBegin || first.id.empty()) return 0;
  const size_t limit = std::min(nodes.size(), begin + kFarthest);
  for (size_t i = begin + 1; i < limit; ++i) {
    const RangeMark mark = read(nodes[i]);
    if (mark.place == RangeMark::Place::kEnd && mark.kind == first.kind && mark.id == first.id)
      return i;
  }
  return 0;
}

OfficeItem RangeItem(std::span<const pugi::xml_node> nodes, std::vector<OfficeItem> inside) {
  if (std::ranges::none_of(inside, HasText)) {
    const bool divides = std::ranges::any_of(inside, Divides);
    return {.kind = divides ? OfficeItem::Kind::kDivider : OfficeItem::Kind::kAlone,
            .nodes = {nodes.begin(), nodes.end()}};
  }
  return {.kind = OfficeItem::Kind::kField,
          .nodes = {nodes.front()},
          .end_nodes = {nodes.back()},
          .inner = std::move(inside)};
}

}  // namespace millrace::server
