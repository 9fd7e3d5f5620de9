#include <algorithm>
#include <charconv>
#include <limits>

#include "base/config/config.h"
#include "base/words.h"

namespace bloomring {
namespace {

template <typename Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string short_number(double value) {
  char buffer[32];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return error == std::errc() ? std::string(buffer, end) : std::string("?");
}

constexpr std::pair<std::string_view, double> kByteSuffixes[] = {
    {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
    {"kB", 1e3},     {"MB", 1e6},        {"GB", 1e9},           {"TB", 1e12},
    {"K", 1024.0},   {"M", 1048576.0},   {"G", 1073741824.0},   {"T", 1099511627776.0},
    {"B", 1.0},      {"", 1.0}};

std::optional<int64_t> parse_bytes(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  for (const auto& [suffix, factor] : kByteSuffixes) {
    if (!text.ends_with(suffix)) continue;
    const std::optional<double> number = parse_number<double>(text.substr(0, text.size() - suffix.size()));
    if (!number || !(*number >= 0) || *number * factor > 9e18) return std::nullopt;
    return static_cast<int64_t>(*number * factor);
  }
  return std::nullopt;
}

// Exact: with the largest suffix that divides it.
std::string bytes_as_text(int64_t bytes) {
  constexpr std::pair<const char*, int64_t> kUnits[] = {{"GiB", int64_t{1} << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}};
  for (const auto& [suffix, unit] : kUnits) {
    if (bytes != 0 && bytes % unit == 0) return std::to_string(bytes / unit) + suffix;
  }
  return std::to_string(bytes);
}

}  // namespace

ConfigKey& Config::bytes(std::string name, uint64_t* target) {
  ConfigKey& key = add(std::move(name), ConfigKey::Kind::kBytes);
  key.set_integer_ = [target](int64_t value) { *target = static_cast<uint64_t>(value); };
  key.get_ = [target] { return ConfigText::of(bytes_as_text(static_cast<int64_t>(*target))); };
  key.high_ = std::numeric_limits<int64_t>::max();
  key.default_ = key.get_();
  return key;
}

ConfigKey& ConfigKey::range(int64_t low, int64_t high) {
  low_ = low;
  high_ = high;
  return *this;
}

ConfigKey& ConfigKey::real_range(double low, double high) {
  real_low_ = low;
  real_high_ = high;
  return *this;
}

ConfigKey& ConfigKey::unit(std::string unit) {
  unit_ = std::move(unit);
  return *this;
}

ConfigKey& ConfigKey::doc(std::string sentence) {
  doc_ = std::move(sentence);
  return *this;
}

ConfigKey& ConfigKey::since(std::string version) {
  since_ = std::move(version);
  return *this;
}

ConfigKey& ConfigKey::secret() {
  secret_ = true;
  return *this;
}

ConfigKey& ConfigKey::or_word(std::string word) {
  word_ = std::move(word);
  return *this;
}

ConfigKey& ConfigKey::check(std::function<std::string(const std::string&)> complaint) {
  complaint_ = std::move(complaint);
  return *this;
}

std::string ConfigKey::environment_variable() const {
  std::string variable = "BLOOMRING_";
  for (const char c : name_) variable += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return variable;
}

std::string ConfigKey::type_text() const {
  switch (kind_) {
    case Kind::kInteger:
      return "an integer in [" + std::to_string(low_) + ", " + std::to_string(high_) + "]" +
             (word_.empty() ? "" : " or " + word_);
    case Kind::kBytes:
      return "a number of bytes in [" + bytes_as_text(low_) + ", " + bytes_as_text(high_) + "], as 512MiB or 2GiB";
    case Kind::kReal: return "a number in [" + short_number(real_low_) + ", " + short_number(real_high_) + "]";
    case Kind::kBoolean: return "true or false";
    case Kind::kString: return "a string";
    case Kind::kChoice: return "one of " + joined(choices_);
    case Kind::kList:
      return choices_.empty() ? "a string or a list of strings" : "one or a list of " + joined(choices_);
    case Kind::kMap: return "a map of names to strings";
  }
  return "";
}

std::string ConfigKey::set(const ConfigText& text) {
  if (kind_ == Kind::kMap) return set_map(text);
  if (kind_ == Kind::kList) return set_list(text);
  if (text.kind != ConfigText::Kind::kScalar) return "must be " + type_text();
  return set_scalar(text);
}

std::string ConfigKey::set_scalar(const ConfigText& text) {
  const bool takes_quotes = kind_ == Kind::kString || kind_ == Kind::kChoice || kind_ == Kind::kBytes ||
                            (!word_.empty() && text.scalar == word_);
  if (text.quoted && !takes_quotes) return "must be " + type_text() + ", without quotation marks";
  if (kind_ == Kind::kInteger) return set_integer(text.scalar);
  if (kind_ == Kind::kBytes) return set_bytes(text.scalar);
  if (kind_ == Kind::kReal) return set_real(text.scalar);
  std::string complaint = complaint_about(text.scalar);
  if (complaint.empty()) set_text_(text.scalar);
  return complaint;
}

std::string ConfigKey::complaint_about(const std::string& word) const {
  const bool chosen = choices_.empty() || std::find(choices_.begin(), choices_.end(), word) != choices_.end();
  if (!chosen) return "must be " + type_text();
  return complaint_ ? complaint_(word) : "";
}

std::string ConfigKey::set_integer(const std::string& text) {
  is_word_ = !word_.empty() && text == word_;
  if (is_word_) return "";
  const std::optional<int64_t> value = parse_number<int64_t>(text);
  if (!value || *value < low_ || *value > high_) return "must be " + type_text();
  set_integer_(*value);
  return "";
}

std::string ConfigKey::set_bytes(const std::string& text) {
  const std::optional<int64_t> value = parse_bytes(text);
  if (!value) return "must be a number of bytes, as 512MiB or 2GiB";
  if (*value < low_ || *value > high_) {
    return "must be at least " + bytes_as_text(low_) + " and at most " + bytes_as_text(high_);
  }
  set_integer_(*value);
  return "";
}

std::string ConfigKey::set_real(const std::string& text) {
  const std::optional<double> value = parse_number<double>(text);
  if (!value || !(*value >= real_low_ && *value <= real_high_)) return "must be " + type_text();
  set_real_(*value);
  return "";
}

std::string ConfigKey::set_list(const ConfigText& text) {
  std::vector<std::string> items = text.items;
  if (text.kind == ConfigText::Kind::kScalar) items.push_back(text.scalar);
  if (items.empty() && !default_.items.empty()) return "must be " + type_text() + ", not empty";
  for (const std::string& item : items) {
    if (std::string complaint = complaint_about(item); !complaint.empty()) return complaint;
  }
  set_items_(items);
  return "";
}

std::string ConfigKey::set_map(const ConfigText& text) {
  if (text.kind != ConfigText::Kind::kMap) return "must be " + type_text();
  if (text.entries.empty()) {
    map_->clear();
    entry_origins_.clear();
  }
  for (const auto& [name, value] : text.entries) (*map_)[name] = value;
  return "";
}

bool ConfigKey::hides(const std::string& entry) const { return secret_ || looks_secret(entry); }

std::string ConfigKey::secret_in(const ConfigText& text) const {
  if (text.kind == ConfigText::Kind::kNothing) return "";
  if (secret_) return name_;
  if (kind_ != Kind::kMap) return "";
  const auto secret = std::ranges::find_if(text.entries, [](const auto& entry) { return looks_secret(entry.first); });
  return secret == text.entries.end() ? "" : name_ + " " + secret->first;
}

bool looks_secret(std::string_view name) {
  for (const std::string_view part :
       {"password", "passphrase", "secret", "token", ".pem", "ssl_key", "oauthbearer.config"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace bloomring
