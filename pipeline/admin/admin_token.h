// The token that actions of the admin port ask for. A caller with the token may change something; a caller without it
// may only read.
//
// It is the first line of `admin.token_file`. Where none is configured, the process that writes the filter store makes
// one in its folder: the users of this host who may read the store may act on it.
// Threading: thread safe.
// Errors: kInvalid for a file that cannot be read or made, or whose first line is too short.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace bloomring {

inline constexpr size_t kAdminTokenSizeMin = 16;  // Characters.

// The file that holds it: `token_file`, or admin.token in the folder of the store where that is empty.
std::string admin_token_path(const std::string& token_file, const std::string& store_path);

// Reads the token. Servers read it at each action, so that it can be replaced while the process runs.
Result<std::string> read_admin_token(const std::string& path);

// Makes a file with a random token of 256 bits, which only this user may read. A file that is there stays as it is.
Status make_admin_token(const std::string& path);

// Compares without telling by its time how much of a wrong token is right.
bool same_token(std::string_view one, std::string_view other);

}  // namespace bloomring
