#include "pipeline/metrics/process_metrics.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>

#include "base/version.h"
#include "pipeline/kafka/broker_metrics.h"
#include "pipeline/kafka/connections.h"
#include "pipeline/kafka/producer/producer_metrics.h"
#include "pipeline/metrics/pipeline_metrics.h"
#include "pipeline/settings/certificates.h"
#include "serving/server/library_version.h"
#include "state/rocksdb/rocks_metrics.h"

namespace bloomring {

namespace {

constexpr int64_t kLookUpIntervalNs = 60'000'000'000;

// Label values have no spaces: "process and allocator" becomes process_and_allocator.
std::string label_of(std::string_view words) {
  std::string label(words);
  std::ranges::replace(label, ' ', '_');
  return label;
}

std::vector<std::pair<std::string, std::string>> folders_of(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> folders;
  const auto store = settings.store.folder();
  if (store && store_role(settings.stages) != StoreRole::kNone) folders.emplace_back("store", *store);
  if (keep_state(settings.stages)) folders.emplace_back("state", settings.state.path);
  return folders;
}

// The key of the configuration and the file.
std::vector<std::pair<std::string, std::string>> certificates_of(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> files;
  if (take_calls(settings.stages)) {
    files = {{"serve.tls_certificate", settings.serve.tls.certificate},
             {"serve.tls_client_ca", settings.serve.tls.client_ca},
             {"serve.tls_peer_ca", settings.serve.tls_peer_ca}};
  }
  for (const char* property : {"ssl.certificate.location", "ssl.ca.location"}) {
    const auto found = settings.kafka.properties.find(property);
    if (found != settings.kafka.properties.end())
      files.emplace_back(std::string("kafka.properties.") + property, found->second);
  }
  std::erase_if(files, [](const auto& file) { return file.second.empty(); });
  return files;
}

double seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

uint64_t tree_bytes(const std::string& path) {
  namespace fs = std::filesystem;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator file(path, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;  // Files may be deleted while we look.
    if (!file->is_regular_file(gone) || gone) continue;
    if (const auto size = file->file_size(gone); !gone) bytes += size;
  }
  return bytes;
}

ProcessMetrics::ProcessMetrics(Metrics& metrics, const Settings& settings, const MemoryPlan& plan,
                               const StateMemory& memory, const kafka::Producer& producer, const LogWatch& watch,
                               const Clock& clock)
    : settings_(settings),
      plan_(plan),
      memory_(memory),
      producer_(producer),
      watch_(watch),
      clock_(clock),
      folders_(folders_of(settings)),
      registration_(metrics.on_scrape([this](Scrape& scrape) { write(scrape); })) {}

void ProcessMetrics::write(Scrape& scrape) {
  look_up_if_due();
  scrape.write(metric::kBuildInfo,
               {version(), commit(), kafka::library_version(), StateMemory::rocksdb_version(), grpc_version()}, 1);
  write_memory(scrape);
  write_databases(scrape);
  write_brokers(scrape);
  write_folders(scrape);
  write_certificates(scrape);
}

void ProcessMetrics::write_memory(Scrape& scrape) const {
  for (const MemoryPart& part : plan_.parts())
    scrape.write(metric::kMemoryPart, {label_of(part.name)}, static_cast<double>(part.bytes));
  scrape.write(metric::kMemoryLimit, {}, static_cast<double>(settings_.memory.limit));
  scrape.write(metric::kStateMemory, {}, static_cast<double>(memory_.cache_used_bytes()));
  scrape.write(metric::kWriteBufferMemory, {}, static_cast<double>(memory_.write_buffers_used_bytes()));
}

void ProcessMetrics::write_databases(Scrape& scrape) const {
  for (const auto& [folder, path] : folders_) {
    if (folder == "store") write_all(scrape, rocks_series("filters"), memory_.health(RocksKind::kFilters));
    if (folder == "state") write_all(scrape, rocks_series("window"), memory_.health(RocksKind::kWindow));
  }
}

void ProcessMetrics::write_brokers(Scrape& scrape) const {
  scrape.write(metric::kBrokerSilence, {}, seconds(watch_.silence_ns()));
  write_all(scrape, broker_series(), kafka::connections());
  write_all(scrape, producer_series(), producer_.stats());
}

void ProcessMetrics::write_folders(Scrape& scrape) {
  for (const auto& [folder, path] : folders_) {
    scrape.write(metric::kFolderBytes, {folder}, static_cast<double>(folder_bytes_[folder]));
    struct statvfs disk {};
    if (statvfs(path.c_str(), &disk) != 0) continue;
    const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
    scrape.write(metric::kFolderFree, {folder}, free_bytes);
  }
}

void ProcessMetrics::write_certificates(Scrape& scrape) {
  for (const auto& [key, expiry_s] : expiries_s_)
    scrape.write(metric::kCertificateExpiry, {key}, static_cast<double>(expiry_s));
}

void ProcessMetrics::look_up_if_due() {
  if (clock_.steady_ns() < look_up_at_ns_) return;
  look_up_at_ns_ = clock_.steady_ns() + kLookUpIntervalNs;
  for (const auto& [folder, path] : folders_) folder_bytes_[folder] = tree_bytes(path);
  expiries_s_.clear();
  for (const auto& [key, file] : certificates_of(settings_)) {
    const auto read = read_certificates(file);
    if (!read.ok()) continue;
    expiries_s_[key] = std::ranges::min(*read, {}, &Certificate::not_after_ms).not_after_ms / 1000;
  }
}

}  // namespace bloomring
