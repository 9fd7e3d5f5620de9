#include "state/window/rocks_window_store.h"

#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "schemas/window/window_key.h"
#include "schemas/window/window_state.h"
#include "state/rocksdb/rocks.h"

namespace bloomring {

namespace {

constexpr size_t kBlockBytes = 64 << 10;  // About one event block.
constexpr size_t kWriteBufferBytes = 32ull << 20;
constexpr size_t kArenaBytes = 256 << 10;  // The least memory that a partition without traffic takes.
constexpr size_t kTableBytes = 64ull << 20;
constexpr uint64_t kLevelBytes = 1ull << 50;  // One level holds everything: no file moves further.
constexpr int kOpenFilesMax = 64;
constexpr size_t kReadaheadBytes = 1 << 20;

constexpr const char* kDamagedName = "damaged";  // A file of ours in the folder, which RocksDB ignores.

rocksdb::Options window_options(const StateMemory& memory) {
  rocksdb::Options options = rocks_options(memory, kBlockBytes);
  options.write_buffer_size = kWriteBufferBytes;
  options.arena_block_size = kArenaBytes;
  options.target_file_size_base = kTableBytes;
  options.max_bytes_for_level_base = kLevelBytes;
  options.max_open_files = kOpenFilesMax;
  options.compression = rocksdb::kNoCompression;  // Written once, read once, deleted in two hours.
  options.statistics = memory.parts().board->window_statistics();
  return options;
}

rocksdb::WriteOptions no_log() {
  rocksdb::WriteOptions options;
  options.disableWAL = true;
  return options;
}

}  // namespace

struct RocksWindowStore::Impl {
  Impl(const RocksWindowStoreConfig& config_, const StateMemory& memory)
      : config(config_),
        options(window_options(memory)),
        what("window store at " + config.path),
        board(memory.parts().board) {}

  Status open_db();
  Status open_db_for_reading();
  // Adds the state to the batch, after everything stored before, writes the batch, and remembers the staged hours.
  Status write(rocksdb::WriteBatch& batch, const WindowState& state);
  Result<std::optional<WindowState>> load();
  Status remove_files_before(HourIndex hour);
  // On damage leaves a note in the folder, which makes the next `open` return kCorrupt, and adds the way out to the
  // message.
  Status checked(const rocksdb::Status& status) const;
  void note_hours(const WindowState& state);
  bool staged(HourIndex hour) const { return std::find(hours.begin(), hours.end(), hour) != hours.end(); }

  const RocksWindowStoreConfig config;
  const rocksdb::Options options;
  const std::string what;
  const std::shared_ptr<RocksBoard> board;  // Shared: a store outlives the StateMemory.
  std::unique_ptr<rocksdb::DB> db;
  RocksBoard::Entry entry;       // After `db`, so that it is destroyed first.
  std::string place;             // Of the newest state. Never goes back, even if hours did: the last key is the state.
  int64_t saves = 0;             // States written so far.
  std::vector<HourIndex> hours;  // Of the newest state; stored blocks of other hours are garbage.
  std::string encoded;           // The state's bytes, kept for their memory.
};

Status RocksWindowStore::Impl::checked(const rocksdb::Status& status) const {
  Status found = status_of(status, what);
  if (found.code() != Code::kCorrupt) return found;
  std::ofstream note(config.path + "/" + kDamagedName);
  note << found.message() << std::endl;
  const char* way_out = note ? ". The next start removes this folder, and reads the unmerged records from the log"
                             : ". Remove this folder: the next start reads the unmerged records from the log";
  return corrupt(found.message() + way_out);
}

Status RocksWindowStore::Impl::open_db() {
  std::error_code error;
  std::filesystem::create_directories(config.path, error);
  if (error) return invalid(what + ": the folder cannot be made: " + error.message());
  if (std::filesystem::exists(config.path + "/" + kDamagedName, error))
    return corrupt(what + " was found damaged while it was in use");
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(options, config.path, &opened);
  db.reset(opened);
  if (db) entry = board->add(RocksKind::kWindow, *db);
  return status_of(status, what);
}

Status RocksWindowStore::Impl::open_db_for_reading() {
  if (!std::filesystem::exists(config.path)) return invalid(what + " does not exist");
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::OpenForReadOnly(options, config.path, &opened);
  db.reset(opened);
  return status_of(status, what);
}

void RocksWindowStore::Impl::note_hours(const WindowState& state) {
  hours.clear();
  for (const StagedHour& hour : state.hours) hours.push_back(hour.hour);
}

Status RocksWindowStore::Impl::write(rocksdb::WriteBatch& batch, const WindowState& state) {
  encode_window_state(state, encoded);
  place = std::max(place, window_place(state.filling, state.applied));
  BLOOMRING_TRY(status_of(batch.Put(window_state_key(place, saves), encoded), what));
  BLOOMRING_TRY(checked(db->Write(no_log(), &batch)));
  ++saves;
  note_hours(state);
  return {};
}

Result<std::optional<WindowState>> RocksWindowStore::Impl::load() {
  const std::unique_ptr<rocksdb::Iterator> row(db->NewIterator(rocksdb::ReadOptions()));
  row->SeekToLast();
  BLOOMRING_TRY(status_of(row->status(), what));
  if (!row->Valid()) return std::optional<WindowState>();
  const std::optional<WindowStateKey> key = parse_window_state_key(view(row->key()));
  if (!key) return corrupt(what + ": its last row is no state");
  auto state = decode_window_state(view(row->value()), config.partition_count);
  if (!state.ok()) return std::move(state).status().with_context(what);
  place = key->place;
  saves = key->saves + 1;
  note_hours(*state);
  return std::optional<WindowState>(std::move(*state));
}

Status RocksWindowStore::Impl::remove_files_before(HourIndex hour) {
  const std::string begin = window_hour_begin(HourIndex(0)), end = window_hour_begin(hour);
  const rocksdb::Slice from = slice(begin), to = slice(end);
  const rocksdb::RangePtr range(&from, &to);
  return status_of(rocksdb::DeleteFilesInRanges(db.get(), db->DefaultColumnFamily(), &range, 1, /*include_end=*/false),
                   what);
}

RocksWindowStore::RocksWindowStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RocksWindowStore::~RocksWindowStore() = default;

Result<std::unique_ptr<RocksWindowStore>> RocksWindowStore::open(const RocksWindowStoreConfig& config,
                                                                 const StateMemory& memory) {
  auto impl = std::make_unique<Impl>(config, memory);
  BLOOMRING_TRY(impl->open_db());
  BLOOMRING_TRY(impl->load().status());
  return std::unique_ptr<RocksWindowStore>(new RocksWindowStore(std::move(impl)));
}

Result<std::unique_ptr<RocksWindowStore>> RocksWindowStore::open_for_reading(const RocksWindowStoreConfig& config,
                                                                             const StateMemory& memory) {
  auto impl = std::make_unique<Impl>(config, memory);
  BLOOMRING_TRY(impl->open_db_for_reading());
  BLOOMRING_TRY(impl->load().status());
  return std::unique_ptr<RocksWindowStore>(new RocksWindowStore(std::move(impl)));
}

Status RocksWindowStore::wipe(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  return error ? fatal("window store at " + path + " cannot be removed: " + error.message()) : Status();
}

Result<std::optional<WindowState>> RocksWindowStore::load() { return impl_->load(); }

Status RocksWindowStore::stage(HourIndex hour, Offset offset, std::string_view block, const WindowState& state) {
  impl_->place = std::max(impl_->place, window_place(hour, Offset(offset.value + 1)));
  rocksdb::WriteBatch batch;
  BLOOMRING_TRY(status_of(batch.Put(window_block_key(hour, offset), slice(block)), impl_->what));
  return impl_->write(batch, state);
}

Status RocksWindowStore::save(const WindowState& state) {
  rocksdb::WriteBatch batch;
  return impl_->write(batch, state);
}

Status RocksWindowStore::scan(HourIndex hour, const std::function<Status(Offset, std::string_view block)>& visit) {
  if (!impl_->staged(hour)) return {};
  const std::string begin = window_hour_begin(hour), end = window_hour_begin(HourIndex(hour.value + 1));
  const rocksdb::Slice upper = slice(end);
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = &upper;
  options.fill_cache = false;
  options.readahead_size = kReadaheadBytes;
  const std::unique_ptr<rocksdb::Iterator> row(impl_->db->NewIterator(options));
  for (row->Seek(begin); row->Valid(); row->Next()) {
    const std::optional<Offset> offset = parse_window_block_key(view(row->key()));
    if (!offset) continue;  // A state.
    BLOOMRING_TRY(visit(*offset, view(row->value())));
  }
  return impl_->checked(row->status());
}

Result<std::optional<std::string>> RocksWindowStore::find(HourIndex hour, Offset offset) {
  if (!impl_->staged(hour)) return std::optional<std::string>();
  std::string block;
  const rocksdb::Status status = impl_->db->Get(rocksdb::ReadOptions(), window_block_key(hour, offset), &block);
  if (status.IsNotFound()) return std::optional<std::string>();
  BLOOMRING_TRY(impl_->checked(status));
  return std::optional<std::string>(std::move(block));
}

Status RocksWindowStore::release(const std::vector<HourIndex>& hours, const WindowState& state) {
  BLOOMRING_TRY(save(state));
  for (const HourIndex hour : hours) BLOOMRING_CHECK(!impl_->staged(hour), "a released hour is still in the state");
  BLOOMRING_TRY(flush());  // First: files are deleted at once, the state is durable only after a flush.
  const HourIndex oldest = state.hours.empty() ? state.filling : std::min(state.hours.front().hour, state.filling);
  return impl_->remove_files_before(oldest);
}

Status RocksWindowStore::flush() {
  rocksdb::FlushOptions options;
  options.wait = true;
  options.allow_write_stall = true;
  return impl_->checked(impl_->db->Flush(options));
}

Status RocksWindowStore::clear() {
  impl_->entry = {};
  impl_->db.reset();
  impl_->place.clear();
  impl_->saves = 0;
  impl_->hours.clear();
  BLOOMRING_TRY(wipe(impl_->config.path));
  return impl_->open_db();
}

uint64_t RocksWindowStore::bytes_on_disk() const { return folder_bytes(impl_->config.path); }

}  // namespace bloomring
