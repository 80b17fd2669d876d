#pragma once

#include <chrono>

#include "httplib.h"

namespace millrace::testing {

// A client of a server on this machine. It waits for an answer for as long as a test may take:
// under a sanitizer on a busy machine, five seconds are not enough for everything.
class HttpClient : public httplib::Client {
 public:
  explicit HttpClient(int port) : httplib::Client("127.0.0.1", port) {
    set_read_timeout(std::chrono::minutes(10));
  }
};

}  // namespace millrace::testing
