// Configuration: keys declared once, read from one YAML file, the environment and flags.
//
// A declaration binds a key to a variable of the caller; the value that the variable holds at that moment is the
// default. Loading, error messages, environment variables, the effective configuration and the reference page all come
// from the declarations, so they cannot disagree.
//
//   Config config;
//   config.section("ring", "The ring of slots.");
//   config.integer("ring.slots", &settings.ring.slots).range(3, 64).doc("Number of slots.");
//   BLOOMRING_TRY(config.load({.path = "bloomring.yaml", .environment = process_environment()}));
//
// Precedence: flags > environment > file > defaults. `ring.slot_seconds` is BLOOMRING_RING_SLOT_SECONDS in the
// environment. A list is written `a,b` there (or `[a, b]`), a map `{name: value}` in YAML or JSON; one entry of a map
// can also be set alone, in lower case and with a dot for each underscore: BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD
// sets `sasl.password` in `kafka.properties`, and so does the flag `kafka.properties.sasl.password`. Maps merge entry
// by entry over the three sources; `{}` clears the default and the entries of sources of lower precedence. Other values
// replace.
//
// Secrets (keys declared as such, and entries of maps that looks_secret names) come from the file, from their variable,
// or from the file that their variable with _FILE behind it names, as BLOOMRING_KAFKA_PROPERTIES_SASL_PASSWORD_FILE.
// Flags refuse them. A warning names each file with secrets that other users may read.
//
// Errors: kInvalid; the message has one line for each mistake, with file and line (or the variable, or the flag), the
// value, and what is allowed or the nearest known key. Values of secrets are never in a message. The bound variables
// are then partly set and must not be used.
// Threading: one thread; load once, at start.
#pragma once

#include <concepts>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config/config_text.h"
#include "base/result.h"

namespace bloomring {

// One declared key. The setters return the key, so that a declaration reads as one sentence.
class ConfigKey {
 public:
  // [low, high], both included. A value outside is refused, and the message names the range.
  ConfigKey& range(int64_t low, int64_t high);
  ConfigKey& real_range(double low, double high);
  ConfigKey& unit(std::string unit);     // "seconds", "bytes": for the reference where the name does not say it.
  ConfigKey& doc(std::string sentence);  // Full sentences.
  ConfigKey& since(std::string version);
  ConfigKey& secret();  // Never printed.
  // An integer may also be this word, which asks the program to find the value (Config::follow).
  ConfigKey& or_word(std::string word);
  // Checks a string, or each item of a list. Returns an empty string, or "must be ..." for the message.
  ConfigKey& check(std::function<std::string(const std::string&)> complaint);

  const std::string& name() const { return name_; }
  const std::string& doc_text() const { return doc_; }
  std::string environment_variable() const;
  // Where the value came from: "default", "bloomring.yaml:7", "BLOOMRING_RING_SLOTS", "--stages".
  const std::string& origin() const { return origin_; }
  // "integer in [3, 64]", "one of month, week, day".
  std::string type_text() const;

 private:
  friend class Config;
  enum class Kind { kInteger, kBytes, kReal, kBoolean, kString, kChoice, kList, kMap };

  std::string set(const ConfigText& text);  // Empty, or "must be ...".
  std::string set_scalar(const ConfigText& text);
  std::string complaint_about(const std::string& word) const;
  std::string set_integer(const std::string& text);
  std::string set_bytes(const std::string& text);
  std::string set_real(const std::string& text);
  std::string set_list(const ConfigText& text);
  std::string set_map(const ConfigText& text);
  bool hides(const std::string& entry) const;  // True for a value that must not be shown.
  // Names the secret that `text` sets, as "kafka.properties sasl.password"; empty when it sets none.
  std::string secret_in(const ConfigText& text) const;

  std::string name_, unit_, doc_, since_ = "0.1", origin_ = "default";
  Kind kind_ = Kind::kString;
  bool secret_ = false;
  ConfigText default_;
  int64_t low_ = 0, high_ = 0;
  double real_low_ = 0, real_high_ = 0;
  std::string word_;             // An integer may be it.
  bool is_word_ = false;         // And is it.
  std::vector<std::string> choices_;
  std::map<std::string, std::string> entry_origins_;  // Of a map's entries.
  std::function<std::string(const std::string&)> complaint_;
  std::function<ConfigText()> get_;  // The bound variable as text.
  std::function<void(int64_t)> set_integer_;
  std::function<void(double)> set_real_;
  std::function<void(const std::string&)> set_text_;  // Strings, choices and booleans ("true", "false").
  std::function<void(const std::vector<std::string>&)> set_items_;
  std::map<std::string, std::string>* map_ = nullptr;
};

// A value given on the command line. `origin` is what the user typed: "--stages", "--set ring.slots=5".
struct ConfigFlag {
  std::string key;
  std::string value;
  std::string origin;
};

struct ConfigSources {
  std::string path = {};                                // No file when empty.
  std::map<std::string, std::string> environment = {};  // From process_environment(), or a test's own.
  std::vector<ConfigFlag> flags = {};
};

// The variables of this process whose names start with BLOOMRING_.
std::map<std::string, std::string> process_environment();

class Config {
 public:
  // Opens a section: "ring" for "ring.*", "store.redis" for "store.redis.*"; the empty name for keys without a dot.
  void section(std::string name, std::string sentence);

  template <std::integral Int>
  requires(!std::same_as<Int, bool>) ConfigKey& integer(std::string name, Int* target) {
    ConfigKey& key = add(std::move(name), ConfigKey::Kind::kInteger);
    key.set_integer_ = [target](int64_t value) { *target = static_cast<Int>(value); };
    key.get_ = [target] { return ConfigText::of(std::to_string(*target)); };
    key.low_ = std::in_range<int64_t>(std::numeric_limits<Int>::min()) ? std::numeric_limits<Int>::min() : 0;
    key.high_ = std::in_range<int64_t>(std::numeric_limits<Int>::max())
                    ? static_cast<int64_t>(std::numeric_limits<Int>::max())
                    : std::numeric_limits<int64_t>::max();
    key.default_ = key.get_();
    return key;
  }
  // A number of bytes, plain or with a suffix: 512MiB, 2GiB, 1.5GiB, 500MB (of 1000 kB). Printed with a suffix of
  // 1024s.
  ConfigKey& bytes(std::string name, uint64_t* target);
  ConfigKey& real(std::string name, double* target);
  ConfigKey& boolean(std::string name, bool* target);
  ConfigKey& string(std::string name, std::string* target);
  // A list of strings; a single string is a list of one. It may be empty only if the default is.
  ConfigKey& list(std::string name, std::vector<std::string>* target);
  // Free-form names with string values. Entries that look like secrets are redacted (see looks_secret).
  ConfigKey& map(std::string name, std::map<std::string, std::string>* target);

  // One of a closed list of words.
  template <typename E>
  ConfigKey& choice(std::string name, E* target, std::vector<std::pair<std::string, E>> words) {
    ConfigKey& key = add(std::move(name), ConfigKey::Kind::kChoice);
    for (const auto& word : words) key.choices_.push_back(word.first);
    key.get_ = [target, words] {
      for (const auto& [text, value] : words) {
        if (value == *target) return ConfigText::of(text);
      }
      return ConfigText::of("");
    };
    key.set_text_ = [target, words](const std::string& text) {
      for (const auto& [word, value] : words) {
        if (word == text) *target = value;
      }
    };
    key.default_ = key.get_();
    return key;
  }

  // A list whose items are words of a closed list.
  template <typename E>
  ConfigKey& choices(std::string name, std::vector<E>* target, std::vector<std::pair<std::string, E>> words) {
    ConfigKey& key = add(std::move(name), ConfigKey::Kind::kList);
    for (const auto& word : words) key.choices_.push_back(word.first);
    key.get_ = [target, words] {
      ConfigText text = ConfigText::list();
      for (const E value : *target) {
        for (const auto& [word, meaning] : words) {
          if (meaning == value) text.items.push_back(word);
        }
      }
      return text;
    };
    key.set_items_ = [target, words](const std::vector<std::string>& items) {
      target->clear();
      for (const std::string& item : items) {
        for (const auto& [word, meaning] : words) {
          if (word == item) target->push_back(meaning);
        }
      }
    };
    key.default_ = key.get_();
    return key;
  }

  // Reads the sources into the bound variables.
  Status load(const ConfigSources& sources);
  // Sentences about probable mistakes: a variable of the environment whose name is nearly that of a key (unknown
  // variables are no error: Kubernetes itself sets BLOOMRING_PORT and the like), and files of secrets open to others.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // The place a key was set, for messages of checks over several keys: "bloomring.yaml:7", or "default".
  const std::string& origin(std::string_view key) const;

  // True when the key holds its word (ConfigKey::or_word).
  bool asks(std::string_view key) const;
  // Sets a key to what the program found itself, as if the origin had said so. Errors: as `load`.
  Status follow(std::string_view key, const std::string& value, const std::string& origin);
  // The value of a key as text.
  std::string value_text(std::string_view key) const;

  // The configuration in force, as YAML that can be loaded again; each line says where its value came from. Secrets are
  // "***".
  std::string effective_yaml() const;
  // The reference page in Markdown: one table for each section.
  std::string reference_markdown() const;

  const std::deque<ConfigKey>& keys() const { return keys_; }

 private:
  struct Section {
    std::string name;
    std::string sentence;
  };

  ConfigKey& add(std::string name, ConfigKey::Kind kind);
  ConfigKey* find(std::string_view name);
  bool is_section(std::string_view name) const;
  std::string nearest_key(std::string_view name) const;
  std::string unknown_key(const std::string& name) const;
  void load_file(const std::string& path, std::vector<std::string>& problems);
  void load_environment(const std::map<std::string, std::string>& environment, std::vector<std::string>& problems);
  void load_variable(const std::string& variable, const std::string& value, std::vector<std::string>& problems);
  // Sets the secret that `variable` without _FILE names from the file at `path`. False when there is no such secret.
  bool load_secret_file(const std::string& variable, const std::string& path, std::vector<std::string>& problems);
  // Warns when others may read a file with secrets.
  void warn_of_readers(const std::string& path, const std::string& secret, bool group_may);
  void load_flags(const std::vector<ConfigFlag>& flags, std::vector<std::string>& problems);
  // Refuses a secret on the command line, which every user of the host sees in the list of processes.
  bool refuse_secret(const ConfigKey& key, const ConfigText& text, const std::string& origin,
                     std::vector<std::string>& problems) const;
  // Sets one entry of the map that the flag's key begins with. False when there is no such map.
  bool load_entry(const ConfigFlag& flag, std::vector<std::string>& problems);
  void assign_text(ConfigKey& key, const std::string& value, const std::string& origin,
                   std::vector<std::string>& problems, bool is_flag = false);
  void assign(ConfigKey& key, const ConfigText& text, const std::string& place, const std::string& origin,
              std::vector<std::string>& problems);

  std::deque<ConfigKey> keys_;  // References to keys stay valid.
  std::vector<Section> sections_;
  std::vector<std::string> warnings_;
};

// True for names of librdkafka properties that hold a secret: passwords, private keys in the text, tokens.
bool looks_secret(std::string_view name);

}  // namespace bloomring
