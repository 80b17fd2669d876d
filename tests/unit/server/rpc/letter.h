#pragma once

#include <functional>
#include <utility>

#include "server/rpc/mailbox.h"

namespace millrace::server {

// Mail that runs a function.
class Letter final : public Mail {
 public:
  explicit Letter(std::function<void()> read) : read_(std::move(read)) {}
  void Deliver() override { read_(); }

 private:
  std::function<void()> read_;
};

}  // namespace millrace::server
