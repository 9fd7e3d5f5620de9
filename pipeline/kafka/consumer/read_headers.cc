#include "pipeline/kafka/consumer/read_headers.h"

namespace bloomring::kafka {

RecordHeaders read_headers(const rd_kafka_message_t& message) {
  RecordHeaders all;
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return all;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t bytes = 0;
  for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &bytes) == RD_KAFKA_RESP_ERR_NO_ERROR; ++i) {
    all.emplace_back(name, std::string(static_cast<const char*>(value), value == nullptr ? 0 : bytes));
  }
  return all;
}

}  // namespace bloomring::kafka
