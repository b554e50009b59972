// Owns making the test program its own children, as the daemon is: `test_host --child …` does a verb instead of testing.
#include <unistd.h>
#include <cstdlib>

#include "agent/host/child.hpp"

namespace {
[[gnu::constructor]] void enter(int argc, char** argv) {
  if (const auto status = nvstripe::host::child_main(argc, argv)) ::_exit(*status);
}
}  // namespace
