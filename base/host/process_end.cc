#include "base/host/process_end.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BLOOMRING_ADDRESS_SANITIZER
#elif __has_feature(thread_sanitizer)
#define BLOOMRING_THREAD_SANITIZER
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define BLOOMRING_THREAD_SANITIZER
#endif

#if defined(BLOOMRING_ADDRESS_SANITIZER)
#include <sanitizer/lsan_interface.h>
#endif

namespace bloomring {

void end_process(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
#if defined(BLOOMRING_THREAD_SANITIZER)
  std::exit(code);
#else
#if defined(BLOOMRING_ADDRESS_SANITIZER)
  __lsan_do_leak_check();
#endif
  std::quick_exit(code);
#endif
}

}  // namespace bloomring
