#include "base/ids.h"

namespace bloomring {

UserKey::UserKey(std::string_view scene, std::string_view user) {
  bytes_.clear();
  bytes_.reserve(1 + scene.size() + user.size());
  bytes_.push_back(static_cast<char>(scene.size()));
  bytes_.append(scene);
  bytes_.append(user);
}

bool UserKey::valid(std::string_view bytes) {
  if (bytes.empty()) return false;
  const size_t scene_bytes = static_cast<unsigned char>(bytes[0]);
  if (scene_bytes > kIdBytesMax || bytes.size() <= 1 + scene_bytes) return false;
  return bytes.size() - 1 - scene_bytes <= kIdBytesMax;
}

}  // namespace bloomring
