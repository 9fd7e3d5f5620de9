// Ends the TCP connections of a server of this process behind what was written to them.
//
// gRPC's own shutdown answers a call that arrives in its midst with CANCELLED, which no client tries again, and clients
// send until they have heard that the server goes. Here the listening socket closes first, so nobody comes back; then
// each connection is closed for sending, behind the answers that are on their way. A client gets those, and UNAVAILABLE
// for everything else; what gRPC writes later reaches nobody.
// Failure: a connection that cannot be closed is left to gRPC.
// Threading: any thread; meant for a server that takes no new calls any more.
#pragma once

#include <cstdint>

namespace bloomring {

// Of the sockets of this process that are bound to this local port.
void hang_up(uint16_t port);

}  // namespace bloomring
