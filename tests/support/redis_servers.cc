#include "tests/support/redis_servers.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "base/result.h"
#include "state/redis/redis_slot.h"

namespace bloomring::testing {

namespace {

constexpr int64_t kPatienceNs = 30'000'000'000;

void must(bool done) { BLOOMRING_CHECK(done, "what a test does with its redis-server works"); }

void must_be_ok(const std::string& answer) { BLOOMRING_CHECK(answer == "OK\n", "a redis-server says OK: " + answer); }

uint16_t free_port() {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof place;
  must(::bind(made, reinterpret_cast<sockaddr*>(&place), size) == 0);
  must(::getsockname(made, reinterpret_cast<sockaddr*>(&place), &size) == 0);
  ::close(made);
  return ntohs(place.sin_port);
}

// A connection that waits. Negative when nobody listens.
int connect_to(const RedisAddress& address) {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(address.port);
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(made, reinterpret_cast<sockaddr*>(&place), sizeof place) == 0) return made;
  ::close(made);
  return -1;
}

void flatten(const RedisReply& reply, std::string& out) {
  if (reply.is(RedisReply::Kind::kInteger)) out += std::to_string(reply.integer) + "\n";
  if (!reply.bytes.empty()) out += reply.bytes + "\n";
  for (const RedisReply& element : reply.elements) flatten(element, out);
}

}  // namespace

void wait_until_true(const std::string& what, const std::function<bool()>& met) {
  const SystemClock clock;
  const int64_t end_ns = clock.steady_ns() + kPatienceNs;
  while (!met()) {
    BLOOMRING_CHECK(clock.steady_ns() < end_ns, "waited long enough for " + what);
    static_cast<void>(::poll(nullptr, 0, 5));
  }
}

std::vector<std::string> redis_user(const std::string& rules) {
  std::vector<std::string> settings = {"--user"};
  std::istringstream words(rules);
  for (std::string word; words >> word;) settings.push_back(word);
  return settings;
}

RedisServer::RedisServer(std::vector<std::string> settings, bool cluster) : settings_(std::move(settings)) {
  if (cluster) {
    bus_port_ = free_port();
    settings_.insert(settings_.begin(), {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port_),
                                         "--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0"});
  }
  address_ = {"127.0.0.1", free_port()};
  start();
}

RedisServer::~RedisServer() { kill_now(); }

void RedisServer::start() {
  std::vector<std::string> words = {"redis-server", "--port", std::to_string(address_.port), "--bind", "127.0.0.1",
                                    "--dir", folder_.path(), "--save", "", "--repl-diskless-sync-delay", "0"};
  words.insert(words.end(), settings_.begin(), settings_.end());
  pid_ = ::fork();
  must(pid_ >= 0);
  if (pid_ == 0) {
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    const int log = ::open((folder_ / "log").c_str(), O_CREAT | O_APPEND | O_WRONLY, 0600);
    static_cast<void>(::dup2(log, 1));
    static_cast<void>(::dup2(log, 2));
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp("redis-server", arguments.data());
    ::_exit(127);
  }
  wait_until_true("a redis-server to listen", [&] {
    const int made = connect_to(address_);
    if (made >= 0) ::close(made);
    return made >= 0;
  });
  wait_until_true("a redis-server to load", [&] { return ask({"PING"}).find("LOADING") == std::string::npos; });
}

void RedisServer::kill_now() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  static_cast<void>(::waitpid(pid_, nullptr, 0));
  pid_ = -1;
}

void RedisServer::freeze() { must(::kill(pid_, SIGSTOP) == 0); }
void RedisServer::unfreeze() { must(::kill(pid_, SIGCONT) == 0); }

RedisReply RedisServer::reply(const std::vector<std::string>& words) const {
  RedisCommand command(words.size());
  for (const std::string& word : words) command.add(word);
  const std::string bytes = std::move(command).take();
  const int connection = connect_to(address_);
  must(connection >= 0);
  must(::send(connection, bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(bytes.size()));
  RedisReplyReader reader;
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t got = ::recv(connection, buffer.data(), buffer.size(), 0);
    must(got > 0);
    must(reader.feed({buffer.data(), static_cast<size_t>(got)}).ok());
    auto next = reader.next();
    must(next.ok());
    if (!*next) continue;
    ::close(connection);
    return std::move(**next);
  }
}

std::string RedisServer::ask(const std::vector<std::string>& words) const {
  std::string text;
  flatten(reply(words), text);
  return text;
}

RedisCluster::RedisCluster(size_t primaries, size_t replicas_of_each, std::vector<std::string> settings) {
  for (size_t i = 0; i < primaries; ++i) primaries_.push_back(std::make_unique<RedisServer>(settings, true));
  for (size_t i = 0; i < primaries * replicas_of_each; ++i)
    replicas_.push_back(std::make_unique<RedisServer>(settings, true));
  const std::vector<RedisServer*> servers = all();
  for (size_t i = 0; i < servers.size(); ++i) {
    must_be_ok(servers[i]->ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)}));
  }
  for (size_t i = 0; i < primaries; ++i) {
    const size_t from = i * kRedisSlots / primaries, to = (i + 1) * kRedisSlots / primaries - 1;
    must_be_ok(primaries_[i]->ask({"CLUSTER", "ADDSLOTSRANGE", std::to_string(from), std::to_string(to)}));
  }
  for (size_t i = 1; i < servers.size(); ++i) {
    // "port@bus" of the first server's own line.
    const std::string myself = servers[0]->ask({"CLUSTER", "NODES"});
    const size_t at = myself.find('@');
    const std::string bus = myself.substr(at + 1, myself.find_first_of(" ,", at) - at - 1);
    must_be_ok(servers[i]->ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(servers[0]->address().port), bus}));
  }
  wait_until_true("all servers to know each other", [&] {
    for (RedisServer* server : servers) {
      const std::string info = server->ask({"CLUSTER", "INFO"});
      if (info.find("cluster_known_nodes:" + std::to_string(servers.size())) == std::string::npos) return false;
      if (info.find("cluster_state:ok") == std::string::npos) return false;
    }
    return true;
  });
  for (size_t i = 0; i < replicas_.size(); ++i) {
    const std::string primary = id_of(*primaries_[i % primaries]);
    wait_until_true("a replica to know its primary",
                    [&] { return replicas_[i]->ask({"CLUSTER", "REPLICATE", primary}) == "OK\n"; });
  }
  wait_until_true("replicas to be in step", [&] {
    for (const auto& replica : replicas_)
      if (replica->ask({"INFO", "replication"}).find("master_link_status:up") == std::string::npos) return false;
    return true;
  });
  wait_until_true("everybody to know the replicas", [&] {
    for (RedisServer* server : servers) {
      const std::string nodes = server->ask({"CLUSTER", "NODES"});
      size_t slaves = 0;
      for (size_t at = nodes.find("slave"); at != std::string::npos; at = nodes.find("slave", at + 1)) ++slaves;
      if (slaves != replicas_.size()) return false;
    }
    return true;
  });
}

std::vector<RedisServer*> RedisCluster::all() const {
  std::vector<RedisServer*> servers;
  for (const auto& server : primaries_) servers.push_back(server.get());
  for (const auto& server : replicas_) servers.push_back(server.get());
  return servers;
}

std::vector<RedisAddress> RedisCluster::addresses() const {
  std::vector<RedisAddress> found;
  for (const RedisServer* server : all()) found.push_back(server->address());
  return found;
}

size_t RedisCluster::primary_of(uint16_t slot) const {
  for (size_t i = 0; i < primaries_.size(); ++i)
    if (slot < (i + 1) * kRedisSlots / primaries_.size()) return i;
  return 0;
}

std::string RedisCluster::id_of(const RedisServer& server) const {
  std::string id = server.ask({"CLUSTER", "MYID"});
  id.pop_back();
  return id;
}

void RedisCluster::begin_move(uint16_t slot, size_t from, size_t to) {
  const std::string number = std::to_string(slot);
  must_be_ok(primaries_[to]->ask({"CLUSTER", "SETSLOT", number, "IMPORTING", id_of(*primaries_[from])}));
  must_be_ok(primaries_[from]->ask({"CLUSTER", "SETSLOT", number, "MIGRATING", id_of(*primaries_[to])}));
}

void RedisCluster::move_keys(uint16_t slot, size_t from, size_t to, size_t keys_max) {
  const RedisReply keys = primaries_[from]->reply(
      {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), std::to_string(keys_max)});
  for (const RedisReply& key : keys.elements) {
    must_be_ok(primaries_[from]->ask({"MIGRATE", "127.0.0.1", std::to_string(primaries_[to]->address().port), key.bytes,
                                   "0", "5000"}));
  }
}

void RedisCluster::end_move(uint16_t slot, size_t to) {
  const std::string id = id_of(*primaries_[to]);
  must_be_ok(primaries_[to]->ask({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id}));
  for (const auto& server : primaries_)
    static_cast<void>(server->ask({"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id}));
  // Before all know its epoch, a later move could be given an older one, which others would not believe.
  wait_until_true("all servers to agree on the owners of slots", [&] {
    const std::string view = view_of(*primaries_[to]);
    return std::ranges::all_of(primaries_, [&](const auto& server) { return view_of(*server) == view; });
  });
}

std::string RedisCluster::view_of(const RedisServer& server) const {
  std::istringstream lines(server.ask({"CLUSTER", "NODES"}));
  std::set<std::string> nodes;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, skipped, epoch, slots;
    words >> id >> skipped >> skipped >> skipped >> skipped >> skipped >> epoch >> skipped;
    std::getline(words, slots);
    nodes.insert(id + " " + epoch + slots);
  }
  std::string view;
  for (const std::string& node : nodes) view += node + "\n";
  return view;
}

void RedisCluster::move_slot(uint16_t slot, size_t from, size_t to) {
  begin_move(slot, from, to);
  move_keys(slot, from, to, 1'000'000);
  end_move(slot, to);
}

}  // namespace bloomring::testing
