#include "server/rpc/background_thread.h"

namespace millrace::server {

BackgroundThread::~BackgroundThread() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  came_.NotifyOne();
  thread_.join();
}

void BackgroundThread::Post(Mail& mail) {
  {
    MutexLock lock(mu_);
    waiting_.push_back(&mail);
  }
  came_.NotifyOne();
}

void BackgroundThread::Run() {
  for (;;) {
    Mail* mail = nullptr;
    {
      MutexLock lock(mu_);
      while (waiting_.empty() && !stopping_) came_.Wait(mu_);
      if (waiting_.empty()) return;
      mail = waiting_.front();
      waiting_.pop_front();
    }
    mail->Deliver();
  }
}

}  // namespace millrace::server
