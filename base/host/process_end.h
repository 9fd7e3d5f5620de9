// Ends a process whose libraries may still run threads of their own.
//
// gRPC goes on in the background after its last channel is gone: a handshake that was begun ends there, and takes the
// library's parts down. `exit` destroys static objects meanwhile, those of OpenSSL and gRPC too, and a thread that uses
// one of them ends the process by a signal, after it has done its work.
#pragma once

namespace bloomring {

// Writes out the standard streams and ends the process with this code, without destructors of static objects and
// functions of `atexit`. Whatever must be closed is closed before: call it at the end of `main`.
// Under AddressSanitizer it looks for leaks first; under ThreadSanitizer it is `exit`, which reports the races.
[[noreturn]] void end_process(int code);

}  // namespace bloomring
