#include "server/rpc/self_owned.h"

#include <gtest/gtest.h>

#include <memory>

namespace millrace::server {
namespace {

class Owned final : public SelfOwned<Owned> {
 public:
  explicit Owned(bool& alive) : alive_(alive) { alive_ = true; }
  ~Owned() { alive_ = false; }
  void End() { DeleteThis(); }

 private:
  bool& alive_;
};

class Shared final : public SelfShared<Shared> {
 public:
  explicit Shared(bool& alive) : alive_(alive) { alive_ = true; }
  ~Shared() { alive_ = false; }
  void Begin() { HoldThis(); }
  void End() { const auto self = ReleaseThis(); }

 private:
  bool& alive_;
};

template <typename T>
concept CanBeNewed = requires(bool& alive) {
  new T(alive);
};
static_assert(!CanBeNewed<Owned>, "Make alone creates a self-owned object");
static_assert(CanBeNewed<Shared>);

TEST(SelfOwnedTest, LivesFromMakeToDeleteThis) {
  bool alive = false;
  Owned& owned = Owned::Make(alive);
  EXPECT_TRUE(alive);
  owned.End();
  EXPECT_FALSE(alive);
}

TEST(SelfSharedTest, LivesUntilTheWorkEnds) {
  bool alive = false;
  auto shared = std::make_shared<Shared>(alive);
  Shared& work = *shared;
  shared->Begin();
  shared.reset();
  EXPECT_TRUE(alive);
  work.End();
  EXPECT_FALSE(alive);
}

TEST(SelfSharedTest, LivesUntilTheOtherOwnerLetsGo) {
  bool alive = false;
  auto shared = std::make_shared<Shared>(alive);
  shared->Begin();
  shared->End();
  EXPECT_TRUE(alive);
  shared.reset();
  EXPECT_FALSE(alive);
}

}  // namespace
}  // namespace millrace::server
