#include "server/frontends/deepl/glossary_store.h"

#include <algorithm>
#include <utility>

#include "models/core/errors.h"
#include "server/frontends/http/random_id.h"

namespace millrace::server {
namespace {

size_t BytesOf(const Glossary& glossary) {
  constexpr size_t kEntryBytes = 64;
  size_t bytes = glossary.name.size();
  for (const models::GlossaryEntry& entry : glossary.entries)
    bytes += kEntryBytes + entry.source.size() + entry.target.size();
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> GlossaryStore::Add(const std::string& owner, Glossary glossary) {
  const size_t bytes = BytesOf(glossary);
  std::string id = RandomId();
  MutexLock lock(mu_);
  const auto of_owner = static_cast<size_t>(std::ranges::count_if(
      glossaries_, [&](const auto& entry) { return entry.first.first == owner; }));
  if (of_owner >= limits_.glossaries_of_owner || glossaries_.size() >= limits_.glossaries ||
      bytes_ + bytes > limits_.bytes) {
    return FailedPrecondition("no more glossaries fit; the server keeps ",
                              limits_.glossaries_of_owner, " of an API key, ", limits_.glossaries,
                              " in all and ", limits_.bytes >> 20, " MiB of entries; delete one");
  }
  bytes_ += bytes;
  glossaries_[{owner, id}] = std::make_shared<const Glossary>(std::move(glossary));
  return id;
}

std::shared_ptr<const Glossary> GlossaryStore::Find(const std::string& owner,
                                                    const std::string& id) const {
  MutexLock lock(mu_);
  const auto found = glossaries_.find({owner, id});
  return found == glossaries_.end() ? nullptr : found->second;
}

std::vector<GlossaryStore::Entry> GlossaryStore::List(const std::string& owner) const {
  std::vector<Entry> list;
  MutexLock lock(mu_);
  for (const auto& [key, glossary] : glossaries_) {
    if (key.first == owner) list.emplace_back(key.second, glossary);
  }
  return list;
}

bool GlossaryStore::Remove(const std::string& owner, const std::string& id) {
  MutexLock lock(mu_);
  const auto found = glossaries_.find({owner, id});
  if (found == glossaries_.end()) return false;
  bytes_ -= BytesOf(*found->second);
  glossaries_.erase(found);
  return true;
}

}  // namespace millrace::server
