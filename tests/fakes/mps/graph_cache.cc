#include "tests/fakes/mps/graph_cache.h"

#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/fakes/mps/faults.h"
#include "tests/fakes/mps/raise_to.h"
#include "tests/fakes/mps/rules.h"

namespace millrace::mps_standin {
namespace {

std::atomic<int64_t> compiled{0};
std::atomic<int> encodings{0};
std::atomic<int> most_encodings{0};

// Compiles for ever, by intent, what a worker is the first thread of the process to need.
void HangIfNewOnAWorker(const std::string& key) {
  static auto* const mu = new std::mutex;
  static auto* const known = new std::set<std::string>;
  {
    const std::scoped_lock lock(*mu);
    if (!known->insert(key).second || OnMainThread() || !TheFaults().hang_on_compile) return;
  }
  std::fprintf(stderr, "stand-in: compiles for ever: %s\n", key.c_str());
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

class GraphCache {
 public:
  ~GraphCache() {
    for (const auto& [key, graph] : graphs_) {
      if (graph.in_use()) Violation("a thread ended before its graph was done: " + key);
    }
  }

  Graph& Find(const std::string& key) {
    const std::scoped_lock lock(mu_);  // libtorch looks graphs up on a serial queue
    const auto [found, is_new] = graphs_.try_emplace(key, key);
    if (is_new) {
      HangIfNewOnAWorker(key);
      ++compiled;
    }
    return found->second;
  }

 private:
  std::mutex mu_;
  std::map<std::string, Graph> graphs_;  // they do not move
};

GraphCache& CacheOfThisThread() {
  if (TheFaults().SharesCaches()) {
    static auto* const shared = new GraphCache;
    static auto* const first_use = new FirstUse("the graph cache");
    first_use->Check();
    return *shared;
  }
  if (OnMainThread()) {
    static auto* const of_main_thread = new GraphCache;
    return *of_main_thread;
  }
  thread_local GraphCache own;
  return own;
}

}  // namespace

Graph::Encoding::Encoding(Graph& graph) : graph_(graph) {
  if (graph_.encoding_.exchange(true)) Violation("two threads encode one graph: " + graph_.key());
  RaiseTo(most_encodings, ++encodings);
  if (const int64_t stay = TheFaults().encode_microseconds; stay > 0)
    std::this_thread::sleep_for(std::chrono::microseconds(stay));
}

Graph::Encoding::~Encoding() {
  --encodings;
  graph_.encoding_ = false;
}

Graph& FindGraph(const std::string& key) { return CacheOfThisThread().Find(key); }

int64_t GraphsCompiled() { return compiled; }
int MostEncodingsAtOnce() { return most_encodings; }
void ResetMostEncodingsAtOnce() { most_encodings = encodings.load(); }

}  // namespace millrace::mps_standin
