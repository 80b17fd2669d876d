#include "server/control/reload_hook.h"

#include <gtest/gtest.h>

namespace millrace::server {
namespace {

TEST(ReloadHookTest, CallsTheActionInItsScope) {
  ReloadHook hook;
  int calls = 0;
  {
    const ReloadHook::Use use(hook, [&calls] { ++calls; });
    EXPECT_EQ(calls, 0);
    hook.Call();
    hook.Call();
    EXPECT_EQ(calls, 2);
  }
  hook.Call();
  EXPECT_EQ(calls, 2);
}

TEST(ReloadHookTest, CallsBeforeThereIsAnActionAreMadeUpForOnce) {
  ReloadHook hook;
  hook.Call();
  hook.Call();
  int calls = 0;
  const ReloadHook::Use use(hook, [&calls] { ++calls; });
  EXPECT_EQ(calls, 1);
  hook.Call();
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace millrace::server
