// Ends the TCP connections of a server of this process after the data already written to them.
//
// gRPC's own shutdown answers a call that arrives during it with CANCELLED, which no client retries, and clients send
// until they hear of the shutdown. So here each connection is closed for sending, after the answers in transit. A
// client gets those, and UNAVAILABLE for its other calls. Data that gRPC writes later is discarded. The listening
// sockets are closed before (Acceptor::stop), so that no client reconnects.
// Errors: a connection that cannot be closed is left to gRPC.
// Threading: any thread; meant for a server that takes no new calls.
#pragma once

#include <cstdint>

namespace bloomring {

// Ends the connections on the sockets of this process that are bound to this local port.
void hang_up(uint16_t port);

}  // namespace bloomring
