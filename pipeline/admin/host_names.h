// The names by which the admin port may be asked: those that the Host header of a request may have.
//
// Whoever owns a domain can let its name resolve to an address of this network (DNS rebinding). A browser that shows a
// page of that domain then lets the page read what answers there, as if it were its own. Such a request has the name in
// its Host header, so the port answers no name that it was not told.
// Guarantees: every address, "localhost" and the name of this host are allowed, with any port. So is a request without
// the header, which no browser sends. Letters count without their case.
// Threading: a value.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bloomring {

class HostNames {
 public:
  explicit HostNames(const std::vector<std::string>& names = {});
  // `header`: the value of the Host header; null where there is none.
  bool allow(const char* header) const;

 private:
  std::set<std::string> names_;  // In small letters.
};

// The host in the value of a Host header, without its port: "::1" of "[::1]:9600".
std::string_view host_of_header(std::string_view header);

}  // namespace bloomring
