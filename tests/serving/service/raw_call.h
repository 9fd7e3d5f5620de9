// A gRPC call as bytes on a TCP connection, for calls that no gRPC client would make.
//
// HTTP/2 (RFC 9113) with one stream; header fields go out as literals that enter no table and are not Huffman coded
// (RFC 7541, 6.2.2), and the first answer of gRPC's server on a connection comes as plain literals, too.
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace bloomring {

class RawCall {
 public:
  // Connects to "127.0.0.1:port" and greets.
  explicit RawCall(const std::string& listens) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    REQUIRE(fd_ >= 0);
    const timeval patience{60, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<uint16_t>(std::stoi(listens.substr(listens.rfind(':') + 1))));
    REQUIRE(connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(kSettings, 0, 0, ""));
  }
  RawCall(const RawCall&) = delete;
  ~RawCall() { close(fd_); }

  // The head of the call: "Filter", and "100m" or whatever a deadline may be called.
  void send_head(const std::string& method, const std::string& timeout) {
    write(frame(kHeaders, kEndHeaders, kStream,
                field(":method", "POST") + field(":scheme", "http") +
                    field(":path", "/bloomring.v1.BloomringService/" + method) + field(":authority", "localhost") +
                    field("te", "trailers") + field("content-type", "application/grpc") +
                    field("grpc-timeout", timeout)));
  }
  // Its message, uncompressed, and the end of what this side says.
  void send_message(const std::string& bytes) {
    write(frame(kData, kEndStream, kStream, std::string(1, '\0') + big_endian(bytes.size(), 4) + bytes));
  }

  // How the service ended the call.
  struct End {
    bool reset = false;         // By RST_STREAM, with its code as the status.
    std::optional<int> status;  // Otherwise grpc-status; nothing when the connection was closed.
    size_t messages = 0;        // Frames of data that came before.
  };
  End end() {
    End end;
    while (const std::optional<Frame> got = read_frame()) {
      if (got->type == kSettings && (got->flags & kAck) == 0) write(frame(kSettings, kAck, 0, ""));
      if (got->stream != kStream) continue;
      if (got->type == kData) ++end.messages;
      if (got->type == kReset) {
        end.reset = true;
        end.status = static_cast<int>(number(got->payload));
        return end;
      }
      if (got->type == kHeaders && (got->flags & kEndStream) != 0) {
        end.status = grpc_status(got->payload);
        return end;
      }
    }
    return end;
  }

 private:
  static constexpr uint8_t kData = 0, kHeaders = 1, kReset = 3, kSettings = 4;
  static constexpr uint8_t kAck = 1, kEndStream = 1, kEndHeaders = 4;
  static constexpr uint32_t kStream = 1;
  struct Frame {
    uint8_t type;
    uint8_t flags;
    uint64_t stream;
    std::string payload;
  };

  static std::string big_endian(uint64_t value, int bytes) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  static uint64_t number(std::string_view bytes) {
    uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
    return value;
  }
  static std::string frame(uint8_t type, uint8_t flags, uint32_t stream, const std::string& payload) {
    return big_endian(payload.size(), 3) + static_cast<char>(type) + static_cast<char>(flags) + big_endian(stream, 4) +
           payload;
  }
  // Name and value shorter than 127 bytes each.
  static std::string field(const std::string& name, const std::string& value) {
    return std::string(1, '\0') + static_cast<char>(name.size()) + name + static_cast<char>(value.size()) + value;
  }
  static std::optional<int> grpc_status(const std::string& fields) {
    constexpr std::string_view kName = "\x0bgrpc-status";  // With its length before it, as before the value.
    const size_t at = fields.find(kName);
    if (at == std::string::npos) return std::nullopt;
    return std::stoi(fields.substr(at + kName.size() + 1, static_cast<uint8_t>(fields.at(at + kName.size()))));
  }

  void write(const std::string& bytes) {
    (void)send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);  // A connection that is closed ends in `end`.
  }
  bool read(std::string& bytes) const {
    return bytes.empty() || recv(fd_, bytes.data(), bytes.size(), MSG_WAITALL) == static_cast<ssize_t>(bytes.size());
  }
  std::optional<Frame> read_frame() const {
    std::string head(9, '\0');
    if (!read(head)) return std::nullopt;
    const std::string_view view(head);
    std::string payload(number(view.substr(0, 3)), '\0');
    if (!read(payload)) return std::nullopt;
    return Frame{static_cast<uint8_t>(head[3]), static_cast<uint8_t>(head[4]), number(view.substr(5)), payload};
  }

  const int fd_;
};

}  // namespace bloomring
