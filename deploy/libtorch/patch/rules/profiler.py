"""The profiler: one object for the process, which all threads and Metal's completion handlers use.

Its locks are inside its containers and held for one look-up or insertion, never while it asks a stream for anything: a lock that is held
across dispatch_sync deadlocks with a block on that queue that wants the same lock."""

from ..rule import Edit, Rule

HEADER, SOURCE = "aten/src/ATen/mps/MPSProfiler.h", "aten/src/ATen/mps/MPSProfiler.mm"


def counter(declaration: str) -> Edit:
    """Turns the declaration of an integer into one of a Counter."""
    kind, rest = declaration.strip().split(" ", 1)
    return Edit(HEADER, f"  {kind} {rest}\n", f"  Counter {rest} // [millrace profiler-lock] was {kind}\n")


COUNTER = """\
// [millrace profiler-lock] A count that threads and completion handlers raise at the same time.
class Counter {
 public:
  Counter(uint64_t value = 0) : value_(value) {}
  operator uint64_t() const {
    return value_.load();
  }
  uint64_t operator++() {
    return ++value_;
  }
  uint64_t operator++(int) {
    return value_++;
  }
  void operator+=(uint64_t more) {
    value_ += more;
  }
  friend uint64_t format_as(const Counter& counter) {
    return counter;
  }

 private:
  std::atomic<uint64_t> value_;
};

struct BaseInfo {
"""

CONTAINERS = """\
// [millrace profiler-lock] What the profiler keeps of operations. A thread finds what it has entered itself, so that
// no two threads write one entry. The lock is held for one call. Iterating, which only the final log does, takes none.
template <typename Key, typename Info>
class ThreadEntries {
 public:
  size_t count(const Key& key) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.count(mine(key));
  }
  void emplace(const Key& key, std::unique_ptr<Info>&& info) {
    std::lock_guard<std::mutex> lock(mutex_);
    entries_.emplace(mine(key), std::move(info));
  }
  std::unique_ptr<Info>& operator[](const Key& key) {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_[mine(key)];
  }
  bool empty() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.empty();
  }
  auto begin() const {
    return entries_.begin();
  }
  auto end() const {
    return entries_.end();
  }

 private:
  using Owned = std::pair<std::thread::id, Key>;
  static Owned mine(const Key& key) {
    return {std::this_thread::get_id(), key};
  }

  mutable std::mutex mutex_;
  std::map<Owned, std::unique_ptr<Info>> entries_;
};

// [millrace profiler-lock] Copies that have not ended. Those that have are removed when the next one is entered, under
// the lock; the loop that used to remove them finds none, because begin() is end().
class CopyEntries {
 public:
  using Map = std::map<uint64_t, std::unique_ptr<CopyInfo>>;

  size_t count(uint64_t id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_.count(id);
  }
  void emplace(uint64_t id, std::unique_ptr<CopyInfo>&& info) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (auto it = entries_.begin(); it != entries_.end();) {
      it = it->second->completed ? entries_.erase(it) : std::next(it);
    }
    entries_.emplace(id, std::move(info));
  }
  std::unique_ptr<CopyInfo>& operator[](uint64_t id) {
    std::lock_guard<std::mutex> lock(mutex_);
    return entries_[id];
  }
  Map::iterator begin() {
    return entries_.end();
  }
  Map::iterator end() {
    return entries_.end();
  }
  Map::iterator erase(Map::iterator it) {
    return it;
  }

 private:
  mutable std::mutex mutex_;
  Map entries_;
};

class MPSProfiler {
"""

RULES = (
    Rule(
        name="profiler-own-stream",
        why="Where no stream is given, the profiler adds its handlers to the command buffer of the default stream, which another thread may be "
            "encoding. Within the profiler the name getDefaultMPSStream() now means the calling thread's stream.",
        upstream=("https://github.com/pytorch/pytorch/pull/191415",),
        edits=(
            Edit(SOURCE, "#include <ATen/mps/MPSProfiler.h>\n", """\
#include <ATen/mps/MPSProfiler.h>

namespace at::mps::Profiler {
// [millrace profiler-own-stream] Hides at::mps::getDefaultMPSStream() from the profiler.
[[maybe_unused]] static MPSStream* getDefaultMPSStream() {
  return getCurrentMPSStream();
}
} // namespace at::mps::Profiler

"""),
        ),
    ),
    Rule(
        name="profiler-lock",
        why="The profiler is made behind an unguarded null check, and its maps and counters are changed by all threads and by completion handlers "
            "without a lock as soon as a trace or a log is on. It is now made once, its containers lock each call, and its counters are atomic. "
            "Traces should still be started and stopped while no other thread runs operations.",
        upstream=("https://github.com/pytorch/pytorch/pull/100635",),
        edits=(
            Edit(SOURCE, "Profiler::MPSProfiler& getMPSProfiler() {\n", """\
static Profiler::MPSProfiler& millrace_make_profiler();

Profiler::MPSProfiler& getMPSProfiler() {
  // [millrace profiler-lock] The initialiser runs once, whichever threads come first.
  static Profiler::MPSProfiler& profiler = millrace_make_profiler();
  return profiler;
}

static Profiler::MPSProfiler& millrace_make_profiler() {
"""),
            Edit(HEADER, "#include <sstream>\n", """\
#include <iterator> // [millrace profiler-lock] and the next four
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <sstream>
"""),
            Edit(HEADER, "struct BaseInfo {\n", COUNTER),
            Edit(HEADER, "  // total number of copies\n", "  Counter length = 0; // [millrace profiler-lock] hides that of CopyInfo\n  // total number of copies\n"),
            counter("size_t totalCount = 0;"),
            counter("size_t scalarsCount = 0;"),
            counter("size_t blockingCount = 0;"),
            counter("size_t memcpyCount = 0;"),
            Edit(HEADER, "class MPSProfiler {\n", CONTAINERS),
            counter("uint64_t m_kernel_counter = 0;"),
            counter("uint64_t m_graph_counter = 0;"),
            counter("uint64_t m_cpu_fb_counter = 0;"),
            counter("uint64_t m_copy_counter = 0;"),
            Edit(HEADER, "  std::unordered_map<uintptr_t, std::unique_ptr<OperationInfo>>\n", "  ThreadEntries<uintptr_t, OperationInfo> // [millrace profiler-lock]\n"),
            Edit(HEADER, "  std::unordered_map<std::string, std::unique_ptr<CpuFbInfo>>\n", "  ThreadEntries<std::string, CpuFbInfo> // [millrace profiler-lock]\n"),
            Edit(HEADER, "  std::unordered_map<uint64_t, std::unique_ptr<CopyInfo>> m_copy_info_list{};\n", "  CopyEntries m_copy_info_list{}; // [millrace profiler-lock]\n"),
        ),
    ),
)
