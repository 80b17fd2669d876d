// Linked into tests of the libtorch engine: one intra-op thread, as a worker has. More of them spin
// against each other on a busy machine.
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

namespace millrace::models {
namespace {

class SingleThread final : public testing::Environment {
 public:
  void SetUp() override { at::set_num_threads(1); }
};

const auto* const kEnvironment = testing::AddGlobalTestEnvironment(new SingleThread);

}  // namespace
}  // namespace millrace::models
