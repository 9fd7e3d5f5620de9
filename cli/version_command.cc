#include <link.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "pipeline/kafka/connections.h"
#include "serving/server/library_version.h"
#include "state/rocksdb/state_memory.h"

namespace bloomring::cli {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string, std::less<>>;

struct Library {
  std::string name;
  std::string built_with;  // Empty: unknown.
  std::string loaded;      // As the library itself says; empty: it cannot be asked.
  std::string file;        // Its name mostly ends with the version; empty: not loaded, but compiled in.
};

int note_file(dl_phdr_info* info, size_t, void* files) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(info->dlpi_name, ignored);
  const std::string name = std::filesystem::path(info->dlpi_name).filename().string();
  const std::string stem = name.substr(0, name.find(".so"));
  if (!stem.empty()) static_cast<Texts*>(files)->emplace(stem, ignored ? name : real.filename().string());
  return 0;
}

// The files of the shared libraries that this process has loaded, by their names without ".so".
Texts loaded_files() {
  Texts files;
  dl_iterate_phdr(note_file, &files);
  return files;
}

std::vector<Library> libraries() {
  const Texts says = {{"libcrypto", OpenSSL_version(OPENSSL_VERSION_STRING)},
                      {"libgrpc++", grpc_version()},
                      {"librdkafka", kafka::library_version()},
                      {"librocksdb", StateMemory::rocksdb_version()}};
  const Texts files = loaded_files();
  const auto text_of = [](const Texts& texts, std::string_view name) {
    const auto found = texts.find(name);
    return found == texts.end() ? std::string() : found->second;
  };
  std::vector<Library> rows;
  for (const BuiltWith& part : built_with()) {
    rows.push_back({std::string(part.library), std::string(part.version), text_of(says, part.library),
                    text_of(files, part.library)});
  }
  return rows;
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

std::string as_json() {
  Json rows = Json::array();
  for (const Library& row : libraries()) {
    rows.push_back({{"library", row.name},
                    {"built_with", or_null(row.built_with)},
                    {"loaded", or_null(row.loaded)},
                    {"file", or_null(row.file)}});
  }
  return Json{{"version", version()},
              {"commit", commit()},
              {"compiler", compiler()},
              {"build_type", build_type()},
              {"fault_points", has_fault_points()},
              {"libraries", rows}}
             .dump() +
         "\n";
}

std::string padded(const std::string& word, size_t columns) {
  const std::string text = word.empty() ? "-" : word;
  return text + std::string(columns - std::min(columns - 1, text.size()), ' ');
}

std::string as_text() {
  std::string text = "bloomring     " + std::string(version()) + "\ncommit        " + std::string(commit()) +
                     "\ncompiler      " + std::string(compiler()) + "\nbuild type    " + std::string(build_type()) +
                     "\nfault points  " + (has_fault_points() ? "yes" : "no") + "\n\n" + padded("library", 24) +
                     padded("built with", 12) + padded("loaded", 12) + "file\n";
  for (const Library& row : libraries()) {
    text += padded(row.name, 24) + padded(row.built_with, 12) + padded(row.loaded, 12) +
            (row.file.empty() ? "-" : row.file) + "\n";
  }
  return text;
}

}  // namespace

std::string version_json() { return as_json(); }

int version_command(const VersionArgs& args) {
  print(args.output == OutputFormat::kJson ? version_json() : as_text());
  return finish_output(0);
}

}  // namespace bloomring::cli
