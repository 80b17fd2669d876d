#pragma once

namespace millrace {

// Gives back the pages of the program and of its larger libraries that are only read: most of those
// that are resident have code that ran once, such as the registration of libtorch's operators and
// the loading of models. A page that is used again comes from the system's cache of files. Any
// thread. Linux only; elsewhere it does nothing.
void ReleaseStartupPages();

}  // namespace millrace
