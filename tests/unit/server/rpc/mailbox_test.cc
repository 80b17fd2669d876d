#include "server/rpc/mailbox.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <deque>
#include <new>
#include <semaphore>
#include <vector>

#include "mps_runtime/base/joining_thread.h"
#include "tests/unit/server/rpc/letter.h"

namespace millrace::server {
namespace {

using ::testing::ElementsAre;

constexpr int kThreads = 8;

class MailboxTest : public ::testing::Test {
 protected:
  // A letter that writes down its number.
  Letter Numbered(int number) {
    return Letter([this, number] { delivered_.push_back(number); });
  }

  Mailbox mailbox_;
  std::vector<int> delivered_;
};

TEST_F(MailboxTest, ALetterThatThrowsKeepsNoOtherBack) {
  Letter first = Numbered(1);
  Letter bad([] { throw std::bad_alloc(); });
  Letter third = Numbered(3);
  for (Letter* letter : {&first, &bad, &third}) mailbox_.Post(*letter);
  EXPECT_THROW(mailbox_.DeliverAll(), std::bad_alloc);
  EXPECT_THAT(delivered_, ElementsAre(1, 3));
}

TEST_F(MailboxTest, OnlyTheFirstLetterFindsItEmpty) {
  Letter first = Numbered(1);
  Letter second = Numbered(2);
  Letter third = Numbered(3);
  EXPECT_TRUE(mailbox_.Post(first));
  EXPECT_FALSE(mailbox_.Post(second));
  mailbox_.DeliverAll();
  EXPECT_TRUE(mailbox_.Post(third));
}

TEST_F(MailboxTest, EmptyMailboxDeliversNothing) {
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre());
}

TEST_F(MailboxTest, DeliversOnceInTheOrderOfPosting) {
  Letter first = Numbered(1);
  Letter second = Numbered(2);
  Letter third = Numbered(3);
  for (Letter* letter : {&second, &first, &third}) mailbox_.Post(*letter);
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre(2, 1, 3));
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre(2, 1, 3));
}

// As a call that writes again once its write was begun. The others of the same delivery still come.
TEST_F(MailboxTest, LetterPostedAgainAsItIsDeliveredComesWithTheNextDelivery) {
  std::vector<bool> was_empty;
  Letter again([&] {
    delivered_.push_back(1);
    if (delivered_.size() == 1) was_empty.push_back(mailbox_.Post(again));
  });
  Letter other = Numbered(2);
  mailbox_.Post(again);
  mailbox_.Post(other);
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre(1, 2));
  EXPECT_THAT(was_empty, ElementsAre(true));
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre(1, 2, 1));
}

// As a call that ends.
TEST_F(MailboxTest, LetterMayBeGoneOnceDelivered) {
  struct SelfDeleting final : Mail {
    explicit SelfDeleting(std::vector<int>& delivered) : delivered(delivered) {}
    void Deliver() override {
      delivered.push_back(1);
      delete this;
    }
    std::vector<int>& delivered;
  };
  Letter last = Numbered(2);
  mailbox_.Post(*new SelfDeleting(delivered_));
  mailbox_.Post(*new SelfDeleting(delivered_));
  mailbox_.Post(last);
  mailbox_.DeliverAll();
  EXPECT_THAT(delivered_, ElementsAre(1, 1, 2));
}

// A thread that delivers only when it was told to, as often as that: what a Post that returned
// false relies on. `waker` is set by who tells it, as gRPC's alarm is, without a lock of its own.
class ToldThread {
 public:
  void Post(Mail& mail) {
    if (!mailbox_.Post(mail)) return;
    ++told_;
    ++waker_;
    told_to_.release();
  }
  // Until `letters` were delivered.
  void Run(const std::atomic<int>& delivered, int letters) {
    while (delivered.load() < letters) {
      told_to_.acquire();
      ++waker_;
      ++woken_;
      mailbox_.DeliverAll();
    }
  }
  int told() const { return told_; }
  int woken() const { return woken_; }
  int waker() const { return waker_; }

 private:
  Mailbox mailbox_;
  std::counting_semaphore<> told_to_{0};
  std::atomic<int> told_{0};
  int waker_ = 0;
  int woken_ = 0;
};

// Every letter of every thread, once, in that thread's order; a lost wake-up hangs.
TEST(MailboxRaceTest, PostsThatReturnTrueSufficeToDeliverAllInOrder) {
  constexpr int kLetters = 2000;
  std::vector<std::vector<int>> delivered(kThreads);
  std::atomic<int> count{0};
  std::vector<std::deque<Letter>> letters(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int i = 0; i < kLetters; ++i) {
      letters[thread].emplace_back([&delivered, &count, thread, i] {
        delivered[thread].push_back(i);
        ++count;
      });
    }
  }
  ToldThread told;
  {
    std::barrier start(kThreads + 1);
    JoiningThread delivers([&] {
      start.arrive_and_wait();
      told.Run(count, kThreads * kLetters);
    });
    std::vector<JoiningThread> posts;
    for (std::deque<Letter>& mine : letters) {
      posts.emplace_back([&] {
        start.arrive_and_wait();
        for (Letter& letter : mine) told.Post(letter);
      });
    }
  }
  for (const std::vector<int>& of_thread : delivered) {
    ASSERT_EQ(of_thread.size(), kLetters);
    for (int i = 0; i < kLetters; ++i) ASSERT_EQ(of_thread[i], i);
  }
  EXPECT_EQ(told.woken(), told.told());
  EXPECT_EQ(told.waker(), 2 * told.told());
}

// The same letters come again and again, each posted anew by its own thread once it has arrived:
// mostly the mailbox is empty, and each Post has to wake.
TEST(MailboxRaceTest, LettersPostedAnewWhileOthersAreDeliveredAreNeitherLostNorDoubled) {
  constexpr int kRounds = 2000;
  std::atomic<int> count{0};
  ToldThread told;
  std::barrier start(kThreads + 1);
  JoiningThread delivers([&] {
    start.arrive_and_wait();
    told.Run(count, kThreads * kRounds);
  });
  std::vector<JoiningThread> posts;
  for (int thread = 0; thread < kThreads; ++thread) {
    posts.emplace_back([&] {
      std::binary_semaphore arrived{0};
      int arrivals = 0;
      Letter letter([&] {
        ++arrivals;
        ++count;
        arrived.release();
      });
      start.arrive_and_wait();
      for (int round = 0; round < kRounds; ++round) {
        told.Post(letter);
        arrived.acquire();
        ASSERT_EQ(arrivals, round + 1);
      }
    });
  }
}

}  // namespace
}  // namespace millrace::server
