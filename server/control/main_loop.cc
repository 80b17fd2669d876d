#include "server/control/main_loop.h"

#include <utility>

namespace millrace::server {

void MainLoop::Post(std::function<void()> task) {
  {
    MutexLock lock(mu_);
    if (tasks_closed_) return;
    tasks_.push_back(std::move(task));
  }
  changed_.NotifyAll();
}

void MainLoop::CloseTasks() {
  std::deque<std::function<void()>>
      dropped;  // destroyed outside the lock, because they may answer calls
  MutexLock lock(mu_);
  tasks_closed_ = true;
  dropped.swap(tasks_);
  lock.Unlock();
}

void MainLoop::Run() {
  MutexLock lock(mu_);
  while (!stopped_) {
    if (tasks_.empty()) {
      changed_.Wait(mu_);
      continue;
    }
    {
      const std::function<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.Unlock();
      task();
    }
    lock.Lock();
  }
}

void MainLoop::Stop() {
  {
    MutexLock lock(mu_);
    stopped_ = true;
  }
  changed_.NotifyAll();
}

}  // namespace millrace::server
