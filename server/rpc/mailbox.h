#pragma once

#include <atomic>
#include <exception>

namespace millrace::server {

// A task for another thread. It may be in at most one Mailbox at a time, and must live until it is
// delivered.
class Mail {
 public:
  // Runs on the mailbox's thread.
  virtual void Deliver() = 0;

 protected:
  ~Mail() = default;

 private:
  friend class Mailbox;
  Mail* next_ = nullptr;
};

// A lock-free queue with many producers and one consumer (Treiber's stack, taken whole and
// reversed). Allocates nothing.
class Mailbox {
 public:
  // Returns true if the mailbox was empty, so that its thread must be woken. Everything that thread
  // did before it emptied the mailbox happens before the return. Any thread.
  bool Post(Mail& mail) {
    Mail* newest = newest_.load(std::memory_order_relaxed);
    do {
      mail.next_ = newest;
    } while (!newest_.compare_exchange_weak(newest, &mail, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return newest == nullptr;
  }

  // Delivers all mail, in the order in which each thread posted it. On the mailbox's thread. Throws
  // what the first mail that throws does, once the others are delivered.
  void DeliverAll() {
    Mail* newest = newest_.exchange(nullptr, std::memory_order_acq_rel);
    Mail* oldest = nullptr;
    while (newest != nullptr) {
      Mail* const before = newest->next_;
      newest->next_ = oldest;
      oldest = newest;
      newest = before;
    }
    std::exception_ptr failure;
    while (oldest != nullptr) {
      // A delivered mail may be gone, or posted again.
      Mail* const mail = oldest;
      oldest = oldest->next_;
      try {
        mail->Deliver();
      } catch (...) {
        if (failure == nullptr) failure = std::current_exception();
      }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
  }

 private:
  std::atomic<Mail*> newest_{nullptr};
};

}  // namespace millrace::server
