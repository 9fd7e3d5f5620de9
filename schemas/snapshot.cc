#include "schemas/snapshot.h"

#include "schemas/pieces/bytes.h"

namespace bloomring {

namespace {

constexpr size_t kPeriodsMax = 64;

// Reads a count of entries of at least `bytes_min` bytes each, and refuses a count that the input cannot hold.
uint64_t count(ByteReader& in, size_t bytes_min) {
  const uint64_t n = in.varint();
  if (n <= in.left() / bytes_min) return n;
  in.raw(in.left() + 1);  // Fails the reader.
  return 0;
}

void read_filters(ByteReader& in, Snapshot& snapshot) {
  for (uint64_t n = count(in, 3); n > 0; --n) {
    Snapshot::Filter& filter = snapshot.filters.emplace_back();
    filter.period = in.varint();
    filter.store_key = in.bytes();
    filter.value = in.bytes();
  }
}

void read_items(ByteReader& in, Snapshot& snapshot) {
  for (uint64_t n = count(in, 9); n > 0; --n) {
    const ItemHash item(in.u64());
    snapshot.recents.push_back({item, in.varint()});
  }
  for (uint64_t n = count(in, 8); n > 0; --n) snapshot.served.emplace_back(in.u64());
  for (uint64_t n = count(in, 9); n > 0; --n) {
    const ItemHash item(in.u64());
    snapshot.forgotten.push_back({item, in.varint()});
  }
}

bool forgotten_fit(const Snapshot& snapshot) {
  const std::vector<Snapshot::Forgotten>& forgotten = snapshot.forgotten;
  for (size_t i = 0; i < forgotten.size(); ++i) {
    if (forgotten[i].period >= snapshot.periods.size()) return false;
    if (i > 0 && forgotten[i].item <= forgotten[i - 1].item) return false;
  }
  return true;
}

bool periods_fit(const Snapshot& snapshot) {
  uint64_t next = 0;
  for (const Snapshot::Filter& filter : snapshot.filters) {
    if (filter.period < next || filter.period >= snapshot.periods.size()) return false;
    next = filter.period + 1;
  }
  for (const Snapshot::Recent& recent : snapshot.recents) {
    if (recent.period >= snapshot.periods.size()) return false;
  }
  return true;
}

}  // namespace

std::string encode_snapshot(const Snapshot& snapshot) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(kSnapshotKind);
  writer.u8(kSnapshotVersion);
  writer.u8(snapshot.complete ? 1 : 0);
  writer.bytes(snapshot.user_key);
  writer.varint(static_cast<uint64_t>(snapshot.made_at_ms));
  writer.varint(snapshot.periods.size());
  for (const std::string_view period : snapshot.periods) writer.bytes(period);
  writer.varint(snapshot.filters.size());
  for (const Snapshot::Filter& filter : snapshot.filters) {
    writer.varint(filter.period);
    writer.bytes(filter.store_key);
    writer.bytes(filter.value);
  }
  writer.varint(snapshot.recents.size());
  for (const Snapshot::Recent& recent : snapshot.recents) {
    writer.u64(recent.item.value);
    writer.varint(recent.period);
  }
  writer.varint(snapshot.served.size());
  for (const ItemHash item : snapshot.served) writer.u64(item.value);
  writer.varint(snapshot.forgotten.size());
  for (const Snapshot::Forgotten& forgotten : snapshot.forgotten) {
    writer.u64(forgotten.item.value);
    writer.varint(forgotten.period);
  }
  seal(out, kSnapshotKind);
  return out;
}

Result<Snapshot> decode_snapshot(std::string_view bytes) {
  std::string_view body;
  if (!open_sealed(bytes, kSnapshotKind, &body)) return corrupt("snapshot: checksum differs or bytes are missing");
  ByteReader in(body);
  if (in.u8() != kSnapshotKind) return corrupt("snapshot: not a snapshot");
  if (const uint8_t version = in.u8(); version != kSnapshotVersion) {
    return corrupt("snapshot: version " + std::to_string(version) + " is not known to this program");
  }
  Snapshot snapshot;
  const uint8_t complete = in.u8();
  snapshot.complete = complete == 1;
  snapshot.user_key = in.bytes();
  snapshot.made_at_ms = static_cast<int64_t>(in.varint());
  for (uint64_t n = count(in, 1); n > 0; --n) snapshot.periods.push_back(in.bytes());
  read_filters(in, snapshot);
  read_items(in, snapshot);
  if (!in.ok() || !in.at_end()) return corrupt("snapshot: length differs from its contents");
  if (complete > 1 || !UserKey::valid(snapshot.user_key)) return corrupt("snapshot: header is not valid");
  if (snapshot.periods.size() > kPeriodsMax || !periods_fit(snapshot)) return corrupt("snapshot: periods do not fit");
  if (!forgotten_fit(snapshot)) return corrupt("snapshot: forgotten items do not fit");
  return snapshot;
}

}  // namespace bloomring
