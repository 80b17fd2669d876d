#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>

namespace millrace::mps_standin {

// A graph that libtorch compiled for an operator and the shapes of its arguments. Encoding changes
// it: libtorch and Metal leave to chance what happens when two threads encode one graph at once;
// here it ends the process.
class Graph {
 public:
  // Held while the graph is encoded to a command buffer.
  class Encoding {
   public:
    explicit Encoding(Graph& graph);
    Encoding(const Encoding&) = delete;
    Encoding& operator=(const Encoding&) = delete;
    ~Encoding();

   private:
    Graph& graph_;
  };

  explicit Graph(std::string key) : key_(std::move(key)) {}

  // Between Begin and End a command buffer that has not completed contains the graph.
  void BeginUse() { ++uses_; }
  void EndUse() { --uses_; }
  bool in_use() const { return uses_ > 0; }
  const std::string& key() const { return key_; }

 private:
  const std::string key_;
  std::atomic<bool> encoding_{false};
  std::atomic<int> uses_{0};
};

// Returns the graph of `key`, which it compiles when the cache does not hold it. The cache is that
// of the process, as in a stock libtorch, or with a patch level of 1 the calling thread's own. It
// is then destroyed with the thread, whose work has to have completed; the main thread's stays.
Graph& FindGraph(const std::string& key);

// Returns how many graphs all threads have compiled so far.
int64_t GraphsCompiled();
// Returns how many threads have encoded graphs at once at most, since the last reset.
int MostEncodingsAtOnce();
void ResetMostEncodingsAtOnce();

}  // namespace millrace::mps_standin
