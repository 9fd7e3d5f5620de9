#include <arpa/inet.h>
#include <catch2/catch.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "tests/serving/served_over_grpc.h"

using namespace bloomring;

TEST_CASE("grpc server: thousands of connections opened and dropped leave it answering") {
  Served served;
  for (int i = 0; i < 10'000; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(fd >= 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const std::string& listens = served.server->address();
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(listens.substr(listens.rfind(':') + 1))));
    REQUIRE(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    const linger reset{1, 0};  // Dropped without a farewell, and no port is kept waiting.
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    close(fd);
  }
  CHECK(served.refusal([](v1::FilterRequest&) {}).ok());
}
