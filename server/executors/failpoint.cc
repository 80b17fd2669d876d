#include "server/executors/failpoint.h"

namespace millrace::server {

void Failpoint(std::string_view /*name*/, int /*socket*/) {}

}  // namespace millrace::server
