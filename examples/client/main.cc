// Which of these candidates has the user seen? Asked over the network, and once more in this process from a snapshot.
#include <cstdio>

#include "client/client.h"
#include "client/snapshot_filter.h"

int main(int argc, char** argv) {
  using namespace bloomring;
  if (argc < 4) return std::fprintf(stderr, "usage: client_example SERVER USER ITEM...\n"), 2;
  const auto client = Client::connect({.server = argv[1], .deadline_ms = 50});
  FilterCall call;
  call.user = argv[2];
  call.items.assign(argv + 3, argv + argc);
  // Fails open: when the service cannot be asked in time, nothing counts as seen and reply.error says why.
  const Result<FilterReply> reply = client->filter(call);
  if (!reply.ok()) return std::fprintf(stderr, "%s\n", reply.status().message().c_str()), 2;
  if (!reply->error.ok()) std::fprintf(stderr, "not asked: %s\n", reply->error.message().c_str());
  for (size_t i = 0; i < call.items.size(); ++i) {
    std::printf("%s %s\n", call.items[i].c_str(), reply->items[i].seen ? "seen" : "unseen");
  }

  Result<std::string> blob = client->snapshot(call.user, "");
  if (!blob.ok()) return std::fprintf(stderr, "no snapshot: %s\n", blob.status().message().c_str()), 1;
  Result<SnapshotFilter> snapshot = SnapshotFilter::open(std::move(*blob));
  if (!snapshot.ok()) return std::fprintf(stderr, "%s\n", snapshot.status().message().c_str()), 1;
  size_t seen = 0;
  for (const ItemVerdict& verdict : snapshot->filter(call.items)) seen += verdict.seen ? 1 : 0;
  std::printf("%zu of %zu seen by the snapshot\n", seen, call.items.size());
}
