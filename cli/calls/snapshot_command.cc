#include "cli/calls/snapshot_command.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <ostream>
#include <sstream>

#include "cli/calls/ask_failure.h"
#include "cli/calls/item_json.h"
#include "cli/calls/item_lines.h"
#include "cli/calls/json_text.h"
#include "client/snapshot_filter.h"

namespace bloomring {

namespace {

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || !(bytes << file.rdbuf())) return invalid(path + " cannot be read: " + std::strerror(errno));
  return bytes.str();
}

Result<std::string> fetch(const SnapshotOptions& options) {
  BLOOMRING_TRY(check(options.tls));
  const auto client =
      Client::connect({.server = options.server, .deadline_ms = options.deadline_ms, .tls = options.tls});
  auto blob = client->snapshot(options.user, options.scene, options.strict);
  if (blob.ok()) return blob;
  return Status(blob.code(), ask_failure(options.server, options.tls, blob.status()));
}

Status test(const SnapshotOptions& options, std::string blob, std::istream& in, std::ostream& out) {
  BLOOMRING_TRY_ASSIGN(SnapshotFilter filter, SnapshotFilter::open(std::move(blob)));
  const std::vector<std::string> items = options.items.empty() ? item_lines(in) : options.items;
  nlohmann::ordered_json json = {{"user", filter.user()}};
  if (!filter.scene().empty()) json["scene"] = filter.scene();
  json["complete"] = filter.complete();
  json["made_at_ms"] = filter.made_at_ms();
  json["expected_error"] = filter.expected_error();
  json["items"] = nlohmann::ordered_json::array();
  const std::vector<ItemVerdict> verdicts = filter.filter(items);
  for (size_t i = 0; i < items.size(); ++i) json["items"].push_back(item_json(items[i], verdicts[i]));
  // A blob may name any bytes as user and periods, and arguments may be any bytes.
  const std::string printed = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
  out << (options.text ? json_text(nlohmann::ordered_json::parse(printed)) : printed) << std::flush;
  return {};
}

Status carry_out(const SnapshotOptions& options, std::istream& in, std::ostream& out) {
  BLOOMRING_TRY_ASSIGN(std::string blob, options.from.empty() ? fetch(options) : read_file(options.from));
  if (options.test) {
    Status tested = test(options, std::move(blob), in, out);
    return options.from.empty() ? tested : std::move(tested).with_context(options.from);
  }
  out.write(blob.data(), static_cast<std::streamsize>(blob.size())).flush();
  return {};
}

}  // namespace

int snapshot(const SnapshotOptions& options, std::istream& in, std::ostream& out, std::ostream& err) {
  const Status status = carry_out(options, in, out);
  if (status.ok()) return 0;
  err << status.message() << '\n';
  return status.code() == Code::kBadRecord || status.code() == Code::kInvalid ? 2 : 1;
}

}  // namespace bloomring
