// The network of the product (redis_network.h): TCP sockets, a thread for each client, the machine's clocks and its
// source of random numbers.
//
// Threading: as RedisNetwork.
#pragma once

#include "state/redis/redis_network.h"

namespace bloomring {

// One for the whole process.
RedisNetwork& redis_sockets();

}  // namespace bloomring
