#pragma once

#include <atomic>

namespace millrace::server {

// Something for another thread to do. It lies in a Mailbox at most once at a time and must live
// until it is delivered.
class Mail {
 public:
  // On the mailbox's thread.
  virtual void Deliver() = 0;

 protected:
  ~Mail() = default;

 private:
  friend class Mailbox;
  Mail* next_ = nullptr;
};

// A queue without a lock: any thread posts, one thread delivers (Treiber's stack, taken as a whole
// and turned round). Allocates nothing.
class Mailbox {
 public:
  // True when the mailbox was empty: its thread has to be told. What that thread did before it
  // emptied the mailbox has then happened before. Any thread.
  bool Post(Mail& mail) {
    Mail* newest = newest_.load(std::memory_order_relaxed);
    do {
      mail.next_ = newest;
    } while (!newest_.compare_exchange_weak(newest, &mail, std::memory_order_acq_rel,
                                            std::memory_order_relaxed));
    return newest == nullptr;
  }

  // Delivers what has come, in the order in which each thread posted it. On the mailbox's thread.
  void DeliverAll() {
    Mail* newest = newest_.exchange(nullptr, std::memory_order_acq_rel);
    Mail* oldest = nullptr;
    while (newest != nullptr) {
      Mail* const before = newest->next_;
      newest->next_ = oldest;
      oldest = newest;
      newest = before;
    }
    while (oldest != nullptr) {
      // Once delivered it may be gone, or posted anew.
      Mail* const mail = oldest;
      oldest = oldest->next_;
      mail->Deliver();
    }
  }

 private:
  std::atomic<Mail*> newest_{nullptr};
};

}  // namespace millrace::server
