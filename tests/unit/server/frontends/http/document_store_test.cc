#include "server/frontends/http/document_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <new>
#include <string>
#include <thread>

#include "tests/fakes/fake_clock.h"
#include "tests/unit/server/requests/test_models.h"

namespace millrace::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

constexpr minutes kEndsWithin{1};

DocumentStore::Translate Giving(const std::string& bytes) {
  return [bytes](const DocumentStore::GoOn&) {
    return TranslatedDocument{"a.txt", "text/plain", bytes};
  };
}

DocumentStore::Result TranslateUntilStopped(const DocumentStore::GoOn& go_on) {
  absl::Status status = go_on();
  for (; status.ok(); status = go_on()) std::this_thread::yield();
  return status;
}

class DocumentStoreTest : public ::testing::Test {
 protected:
  bool IsKept(const DocumentStore::Handle& handle) {
    return store_.Find(handle, milliseconds(0)).known;
  }
  // Returns once it has ended.
  DocumentStore::Handle AddEnded(const std::string& bytes) {
    DocumentStore::Handle handle = store_.Add(Giving(bytes));
    EXPECT_NE(store_.Find(handle, kEndsWithin).end, nullptr);
    return handle;
  }

  testing::FakeClock clock_;
  DocumentStore store_{clock_,
                       {.documents = 2, .bytes = 10, .time = minutes(10), .unasked = minutes(5)}};
};

TEST_F(DocumentStoreTest, GivesWhatWasTranslatedToWhoHasTheKey) {
  const DocumentStore::Handle handle = store_.Add(Giving("abc"));
  const DocumentStore::Found found = store_.Find(handle, kEndsWithin);
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ((*found.end)->bytes, "abc");
  const DocumentStore::Handle other = store_.Add(Giving("d"));
  EXPECT_FALSE(IsKept({handle.id, other.key}));
  EXPECT_FALSE(IsKept({handle.id, ""}));
  EXPECT_FALSE(IsKept({"", handle.key}));
}

TEST_F(DocumentStoreTest, AFailureIsAnEndToo) {
  const DocumentStore::Handle handle = store_.Add(
      [](const DocumentStore::GoOn&) -> DocumentStore::Result { throw std::bad_alloc(); });
  const DocumentStore::Found found = store_.Find(handle, kEndsWithin);
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ(found.end->status().code(), absl::StatusCode::kInternal);
}

TEST_F(DocumentStoreTest, WhatIsBeingTranslatedNeverGivesWay) {
  Gate gate;
  const DocumentStore::Handle slow = store_.Add([&gate](const DocumentStore::GoOn&) {
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
  EXPECT_NE(store_.Find(slow, kEndsWithin).end, nullptr);
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

TEST_F(DocumentStoreTest, KeepsWhatIsTranslatedAlreadyByItsIdAlone) {
  const std::string id = store_.Keep({"a.txt", "text/plain", "abc"}, ".txt");
  EXPECT_THAT(id, ::testing::MatchesRegex("[0-9a-f-]{36}\\.txt"));
  const DocumentStore::Found found = store_.Find({id, ""}, milliseconds(0));
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ((*found.end)->bytes, "abc");
  EXPECT_FALSE(IsKept({id, "x"}));
  EXPECT_FALSE(IsKept({"a.txt", ""}));
  const std::string large = store_.Keep({"a.txt", "text/plain", "12345678901"}, ".txt");
  EXPECT_FALSE(IsKept({id, ""}));
  EXPECT_TRUE(IsKept({large, ""}));
  EXPECT_EQ((*found.end)->bytes, "abc");  // it is being sent
}

TEST_F(DocumentStoreTest, ATranslationThatNobodyAsksAfterIsStopped) {
  std::promise<absl::Status> stopped;
  const DocumentStore::Handle handle = store_.Add([&stopped](const DocumentStore::GoOn& go_on) {
    DocumentStore::Result result = TranslateUntilStopped(go_on);
    stopped.set_value(result.status());
    return result;
  });
  clock_.Advance(minutes(4));
  EXPECT_EQ(store_.Find(handle, milliseconds(0)).end, nullptr);
  clock_.Advance(minutes(4));
  EXPECT_EQ(store_.Find(handle, milliseconds(0)).end, nullptr);
  clock_.Advance(minutes(5));
  EXPECT_EQ(stopped.get_future().get().message(),
            "nobody asked for the state of the document for 300 s, so its translation was stopped");
  const DocumentStore::Found found = store_.Find(handle, kEndsWithin);
  ASSERT_NE(found.end, nullptr);
  EXPECT_EQ(found.end->status().code(), absl::StatusCode::kCancelled);
}

TEST_F(DocumentStoreTest, WhatIsRemovedIsStoppedAndForgotten) {
  const DocumentStore::Handle running = store_.Add(TranslateUntilStopped);
  const DocumentStore::Handle ended = AddEnded("1");
  EXPECT_FALSE(store_.Remove({running.id, ended.key}));
  EXPECT_TRUE(IsKept(running));
  for (const DocumentStore::Handle& handle : {running, ended}) {
    EXPECT_TRUE(store_.Remove(handle));
    EXPECT_FALSE(IsKept(handle));
    EXPECT_FALSE(store_.Remove(handle));
  }
}

TEST(DocumentStore, StopsWhatIsBeingTranslatedAtItsEnd) {
  testing::FakeClock clock;
  DocumentStore store(clock, {});
  store.Add(TranslateUntilStopped);
}

}  // namespace
}  // namespace millrace::server
