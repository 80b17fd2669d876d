#include "server/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace millrace {

void HoldStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lower ones are open by now, so this one is the first that is free.
    if (fcntl(stream, F_GETFD) == -1)
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace millrace
