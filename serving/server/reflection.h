// Server reflection: a client learns services and messages from the server.
//
// gRPC's library of it registers itself for every server of the process as soon as it is loaded, and each of its
// streams holds a thread. So the program does not link it, and loads it only where it is asked for.
#pragma once

#include "base/result.h"

namespace bloomring {

// From now on every server that is started has reflection. Further calls change nothing. Thread safe.
// Errors: kInvalid when the library, which is a part of gRPC's package, cannot be loaded.
Status load_reflection();

}  // namespace bloomring
