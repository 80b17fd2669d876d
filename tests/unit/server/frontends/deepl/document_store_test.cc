#include "server/frontends/deepl/document_store.h"

#include <gtest/gtest.h>

#include <chrono>
#include <new>
#include <string>
#include <thread>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr minutes kPatience{1};

DocumentStore::Translate Giving(const std::string& bytes) {
  return [bytes](const std::atomic<bool>&) {
    return TranslatedDocument{"a.txt", "text/plain", bytes};
  };
}

class DocumentStoreTest : public ::testing::Test {
 protected:
  bool IsKept(const DocumentStore::Handle& handle) {
    return store_.Find(handle, milliseconds(0)).known;
  }
  // Returns once it has ended.
  DocumentStore::Handle AddEnded(const std::string& bytes) {
    const DocumentStore::Handle handle = store_.Add(Giving(bytes));
    EXPECT_NE(store_.Find(handle, kPatience).end, nullptr);
    return handle;
  }

  testing::FakeClock clock_;
  DocumentStore store_{clock_, {.documents = 2, .bytes = 10, .time = minutes(10)}};
};

TEST_F(DocumentStoreTest, GivesWhatWasTranslatedToWhoHasTheKey) {
  const DocumentStore::Handle handle = store_.Add(Giving("abc"));
  const DocumentStore::Found found = store_.Find(handle, kPatience);
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ((*found.end)->bytes, "abc");
  const DocumentStore::Handle other = store_.Add(Giving("d"));
  EXPECT_FALSE(IsKept({handle.id, other.key}));
  EXPECT_FALSE(IsKept({handle.id, ""}));
  EXPECT_FALSE(IsKept({"", handle.key}));
}

TEST_F(DocumentStoreTest, AFailureIsAnEndToo) {
  const DocumentStore::Handle handle =
      store_.Add([](const std::atomic<bool>&) -> DocumentStore::Result { throw std::bad_alloc(); });
  const DocumentStore::Found found = store_.Find(handle, kPatience);
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ(found.end->status().code(), absl::StatusCode::kInternal);
}

TEST_F(DocumentStoreTest, WhatIsBeingTranslatedNeverGivesWay) {
  Gate gate;
  const DocumentStore::Handle slow = store_.Add([&gate](const std::atomic<bool>&) {
    gate.Pass();
    return TranslatedDocument{"a.txt", "text/plain", "slow"};
  });
  gate.AwaitInside();
  const DocumentStore::Handle first = AddEnded("1");
  const DocumentStore::Handle second = AddEnded("2");
  const DocumentStore::Handle third = AddEnded("3");
  EXPECT_FALSE(IsKept(first));
  EXPECT_TRUE(IsKept(second));
  EXPECT_TRUE(IsKept(third));
  EXPECT_TRUE(IsKept(slow));
  EXPECT_EQ(store_.Find(slow, milliseconds(0)).end, nullptr);
  gate.Open();
  EXPECT_NE(store_.Find(slow, kPatience).end, nullptr);
}

TEST_F(DocumentStoreTest, OldOnesGiveWayToManyBytesAndWithTime) {
  const DocumentStore::Handle first = AddEnded("12345");
  const DocumentStore::Handle second = AddEnded("123456");
  EXPECT_FALSE(IsKept(first));
  EXPECT_TRUE(IsKept(second));
  const DocumentStore::Handle large = AddEnded("12345678901");
  EXPECT_FALSE(IsKept(second));
  EXPECT_TRUE(IsKept(large));
  clock_.Advance(minutes(10));
  EXPECT_FALSE(IsKept(large));
}

TEST(DocumentStore, StopsWhatIsBeingTranslated) {
  testing::FakeClock clock;
  DocumentStore store(clock, {});
  store.Add([](const std::atomic<bool>& stop) -> DocumentStore::Result {
    while (!stop) std::this_thread::yield();
    return absl::CancelledError("stopped");
  });
}

}  // namespace
}  // namespace millrace::server
