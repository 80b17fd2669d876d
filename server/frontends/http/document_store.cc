#include "server/frontends/http/document_store.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "models/core/strings.h"
#include "server/frontends/http/random_id.h"
#include "server/requests/or_internal.h"

namespace millrace::server {
namespace {

size_t BytesOf(const DocumentStore::Result& result) {
  return result.ok() ? result->bytes.size() : 0;
}

}  // namespace

DocumentStore::~DocumentStore() {
  Entries entries;
  {
    const MutexLock lock(mu_);
    stopping_ = true;
    entries.swap(entries_);
  }
  // The threads, which take the lock, are joined without it.
}

DocumentStore::Handle DocumentStore::Add(Translate translate) {
  Handle handle{RandomId(), RandomId()};
  Entries old;
  const MutexLock lock(mu_);
  old = TakeOld();
  Entry& entry = entries_.emplace_back();
  entry.handle = handle;
  entry.asked_at = clock_.Now();
  try {
    entry.thread.emplace(
        [this, &entry, translate = std::move(translate)] { Run(entry, translate); });
  } catch (...) {
    entries_.pop_back();
    throw;
  }
  return handle;
}

std::string DocumentStore::Keep(TranslatedDocument document, std::string_view extension) {
  std::string id = StrCat(RandomId(), extension);
  auto end = std::make_shared<const Result>(std::move(document));
  Entries old;
  const MutexLock lock(mu_);
  entries_.push_back({.handle = {id, ""}, .end = std::move(end), .ended_at = clock_.Now()});
  old = TakeOld();
  return id;
}

DocumentStore::Found DocumentStore::Find(const Handle& handle, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  Entries old;
  MutexLock lock(mu_);
  old = TakeOld();
  while (true) {
    const auto entry = FindEntry(handle);
    if (entry == entries_.end()) return {};
    entry->asked_at = clock_.Now();
    if (entry->end != nullptr) return {.known = true, .end = entry->end};
    if (!ended_.WaitUntil(mu_, until)) return {.known = true};
  }
}

bool DocumentStore::Remove(const Handle& handle) {
  Entries removed;  // its thread, which takes the lock, is joined without it
  {
    const MutexLock lock(mu_);
    const auto entry = FindEntry(handle);
    if (entry == entries_.end()) return false;
    entry->removed = true;
    removed.splice(removed.end(), entries_, entry);
  }
  // A caller that waits for its end learns that there is none.
  ended_.NotifyAll();
  return true;
}

void DocumentStore::Run(Entry& entry, const Translate& translate) {
  auto result = OrInternal([&] { return translate([&] { return GoesOn(entry); }); });
  {
    const MutexLock lock(mu_);
    entry.end = std::make_shared<const Result>(std::move(result));
    entry.ended_at = clock_.Now();
  }
  ended_.NotifyAll();
}

absl::Status DocumentStore::GoesOn(const Entry& entry) {
  const MutexLock lock(mu_);
  if (stopping_) return absl::CancelledError("the server stops");
  if (entry.removed) return absl::CancelledError("the document was removed");
  if (clock_.Now() < entry.asked_at + limits_.unasked) return absl::OkStatus();
  return absl::CancelledError(
      StrCat("nobody asked for the state of the document for ",
             std::chrono::duration_cast<std::chrono::seconds>(limits_.unasked).count(),
             " s, so its translation was stopped"));
}

DocumentStore::Entries::iterator DocumentStore::FindEntry(const Handle& handle) {
  const auto found = std::ranges::find_if(
      entries_, [&handle](const Entry& entry) { return entry.handle.id == handle.id; });
  if (found == entries_.end() || found->handle.key.size() != handle.key.size())
    return entries_.end();
  const bool same =
      CRYPTO_memcmp(found->handle.key.data(), handle.key.data(), handle.key.size()) == 0;
  return same ? found : entries_.end();
}

DocumentStore::Entries DocumentStore::TakeOld() {
  size_t ended = 0;
  size_t bytes = 0;
  Entries old;
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
