#include "server/frontends/deepl/document_store.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "server/frontends/deepl/random_id.h"
#include "server/requests/or_internal.h"

namespace millrace::server {
namespace {

size_t BytesOf(const DocumentStore::Result& result) {
  return result.ok() ? result->bytes.size() : 0;
}

}  // namespace

DocumentStore::~DocumentStore() {
  stop_ = true;
  std::list<Entry> entries;
  {
    const MutexLock lock(mu_);
    entries.swap(entries_);
  }
  // The threads, which take the lock, are joined without it.
}

DocumentStore::Handle DocumentStore::Add(Translate translate) {
  Handle handle{RandomId(), RandomId()};
  std::list<Entry> old;
  const MutexLock lock(mu_);
  old = TakeOld();
  Entry& entry = entries_.emplace_back();
  entry.handle = handle;
  try {
    entry.thread.emplace(
        [this, &entry, translate = std::move(translate)] { Run(entry, translate); });
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return handle;
}

DocumentStore::Found DocumentStore::Find(const Handle& handle, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  std::list<Entry> old;
  MutexLock lock(mu_);
  old = TakeOld();
  while (true) {
    const Entry* const entry = FindEntry(handle);
    if (entry == nullptr) return {};
    if (entry->end != nullptr) return {.known = true, .end = entry->end};
    if (!ended_.WaitUntil(mu_, until)) return {.known = true};
  }
}

void DocumentStore::Run(Entry& entry, const Translate& translate) {
  auto result = OrInternal([&] { return translate(stop_); });
  {
    const MutexLock lock(mu_);
    entry.end = std::make_shared<const Result>(std::move(result));
    entry.ended_at = clock_.Now();
  }
  ended_.NotifyAll();
}

const DocumentStore::Entry* DocumentStore::FindEntry(const Handle& handle) const {
  const auto found = std::ranges::find_if(
      entries_, [&handle](const Entry& entry) { return entry.handle.id == handle.id; });
  if (found == entries_.end() || found->handle.key.size() != handle.key.size()) return nullptr;
  const bool same =
      CRYPTO_memcmp(found->handle.key.data(), handle.key.data(), handle.key.size()) == 0;
  return same ? &*found : nullptr;
}

std::list<DocumentStore::Entry> DocumentStore::TakeOld() {
  size_t ended = 0;
  size_t bytes = 0;
  std::list<Entry> old;
  // From the newest on, because the oldest ones give way.
  for (auto it = entries_.end(); it != entries_.begin();) {
    --it;
    if (it->end == nullptr) continue;
    ++ended;
    bytes += BytesOf(*it->end);
    const bool fits = ended == 1 || (ended <= limits_.documents && bytes <= limits_.bytes);
    if (fits && clock_.Now() < it->ended_at + limits_.time) continue;
    const auto next = std::next(it);
    old.splice(old.end(), entries_, it);
    it = next;
  }
  return old;
}

}  // namespace millrace::server
