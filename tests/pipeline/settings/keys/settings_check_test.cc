#include "pipeline/settings/keys/settings_check.h"

#include <catch2/catch.hpp>

#include "base/hash.h"
#include "tests/pipeline/settings/keys/loaded.h"

using namespace bloomring;

TEST_CASE("settings: the number of partitions divides the number of shards") {
  for (uint32_t count = 1; count <= kShardCount; ++count) {
    if (count > 60 && count % 50 != 0) continue;  // All small counts and the round ones.
    const std::string text = complaint({{"topics.partitions", std::to_string(count)}, {"memory.limit", "64GiB"}});
    INFO(count);
    CHECK((text.empty()) == (kShardCount % count == 0));
  }
  CHECK(complaint({{"topics.partitions", "3"}}) ==
        "--topics.partitions: topics.partitions is 3; it must divide 5000, the number of shards, as 1, 2, 4, 5, 8, 10, "
        "20, "
        "25, 40, 50, 100, 125, 200, 250, 500 and 1000 do");
  CHECK(complaint({{"topics.partitions", "0"}}) ==
        "--topics.partitions: topics.partitions is 0; it must be an integer in [1, 5000]");
}

TEST_CASE("settings: the log is kept longer than the ring turns") {
  CHECK(complaint({{"topics.retention_hours", "6"}}) ==
        "--topics.retention_hours: topics.retention_hours is 6; it must be more than one lap of the ring (ring.slots x "
        "ring.slot_seconds = 21600 seconds), or plays could leave the log before they are merged");
  const Result<LoadedSettings> tight = load({{"topics.retention_hours", "7"}});
  REQUIRE(tight.ok());
  REQUIRE(tight->warnings.size() == 1);
  CHECK(tight->warnings[0].starts_with(
      "--topics.retention_hours: topics.retention_hours keeps less than two laps of the ring"));
  CHECK(load({{"topics.retention_hours", "12"}})->warnings.empty());
}

TEST_CASE("settings: a canary over TLS needs a name to ask and an authority to trust, and none without TLS") {
  const std::pair<std::string, std::string> on = {"canary.interval_seconds", "60"};
  const std::pair<std::string, std::string> certificate = {"serve.tls_certificate", "c.pem"};
  const std::pair<std::string, std::string> key = {"serve.tls_key", "c.key"};
  CHECK(complaint({on}).empty());
  CHECK(complaint({certificate, key}).empty());
  const std::string told = complaint({on, certificate, key});
  CHECK_THAT(told, Catch::Contains("canary.server is empty, and the canary asks over TLS; name the service as its "
                                   "certificate does, as replica-0.internal:7700"));
  CHECK_THAT(told, Catch::Contains("--canary.interval_seconds: canary.interval_seconds is set, and the canary asks "
                                   "over TLS; serve.tls_peer_ca must say who vouches for the service"));
  CHECK(complaint({on, certificate, key, {"canary.server", "replica-0.internal:7700"}, {"serve.tls_peer_ca", "ca.pem"}})
            .empty());
}

TEST_CASE("settings: store, state and backups have each a folder of its own, in no other one's way") {
  const auto told = [](const std::string& store, const std::string& state, const std::string& backups) {
    return complaint({{"store.path", store}, {"state.path", state}, {"store.backup_path", backups}});
  };
  CHECK(told("/x/store", "/x/window-3", "/x/store/b") ==
        "--store.backup_path: store.backup_path is /x/store/b, in store.path = /x/store, where the filter store alone "
        "may be; give each a folder of its own, and move what is there while nothing runs");
  CHECK_THAT(told("/x/window-3", "/x", "/b"),
             Catch::StartsWith("--store.path: store.path is /x/window-3, in state.path = /x, where the window stage"));
  CHECK_THAT(told("/s", "/x", "/x/window-3/b"), Catch::StartsWith("--store.backup_path: "));
  CHECK_THAT(told("/x", "/x/state", ""), Catch::StartsWith("--state.path: "));
  CHECK_THAT(told("/b/store", "/x", "/b"), Catch::StartsWith("--store.path: "));
  CHECK_THAT(told("/s", "/b/state", "/b"), Catch::StartsWith("--state.path: "));
  CHECK_THAT(told("/x/../y/", "/y", ""), Catch::StartsWith("--store.path: "));
  CHECK_THAT(told("data/store", "data/store/", ""), Catch::StartsWith("--store.path: "));
  CHECK(told("/x/store", "/x", "/x/backups").empty());
  CHECK(told("/x/store", "/x/storeroom", "/x/store-backups").empty());
  CHECK(told("data/store", "data/state", "").empty());
}

TEST_CASE("settings: store.path is checked where the store is in a folder, and not where it is on servers") {
  const auto told = [](const std::string& kind, const std::string& store) {
    return complaint({{"store.kind", kind},
                      {"store.redis.addresses", "a:6379"},
                      {"store.path", store},
                      {"state.path", "/x"}});
  };
  CHECK_THAT(told("embedded", "/x/window-3"), Catch::StartsWith("--store.path: store.path is /x/window-3, in state."));
  CHECK_THAT(told("embedded", "/x"), Catch::StartsWith("--store.path: store.path is /x, in state.path = /x"));
  CHECK(told("embedded", "") == "--store.path: store.path is \"\"; it must not be empty");
  for (const char* unused : {"/x/window-3", "/x", ""}) {
    INFO(unused);
    CHECK(told("redis", unused).empty());
  }
}

TEST_CASE("settings: topics have legal names and each its own") {
  CHECK(complaint({{"topics.dead", "plays"}}) ==
        "--topics.dead: topics.dead is plays, which is already the name of another topic");
  CHECK(complaint({{"topics.plays", "a,a"}}) ==
        "--topics.plays: topics.plays is a, which is already the name of another topic");
  CHECK(complaint({{"topics.dead", "a b"}}) ==
        "--topics.dead: topics.dead is a b; it must be a topic name: 1 to 249 of a-z A-Z 0-9 . _ -");
  CHECK(complaint({{"topics.dead", ""}}) != "");
  CHECK(complaint({{"topics.dead", ".."}}) != "");
  CHECK(complaint({{"topics.dead", std::string(250, 'a')}}) != "");
}

TEST_CASE("settings: properties that guarantees rest on cannot be overridden") {
  CHECK(complaint({{"kafka.properties", "{bootstrap.servers: x}"}}) ==
        "--kafka.properties: kafka.properties must not set bootstrap.servers: it follows from a key of its own in the "
        "configuration; set kafka.bootstrap instead");
  for (const char* name :
       {"group.id", "enable.auto.commit", "acks", "auto.offset.reset", "partition.assignment.strategy"}) {
    CHECK_THAT(complaint({{"kafka.properties", "{" + std::string(name) + ": x}"}}),
               Catch::StartsWith("--kafka.properties: kafka.properties must not set " + std::string(name)));
  }
  CHECK(complaint({{"kafka.properties", "{acks: all, enable.idempotence: false}"}}) == "");
  CHECK_THAT(complaint({{"kafka.properties", "{acks: 1, client.rack: a}"}}),
             Catch::Contains("must not set acks to '1': a record is acknowledged") &&
                 Catch::Contains("\n--kafka.properties: kafka.properties must not set client.rack: "));
  CHECK(complaint({{"kafka.properties", "{fetch.wait.max.ms: 100, sasl.username: bob}"}}) == "");
  CHECK(complaint({{"kafka.properties", "{fetch.wait.max.ms: 200}"}}) == "");
  for (const char* wait : {"201", "20000", "long", "1e2"}) {
    CHECK_THAT(complaint({{"kafka.properties", "{fetch.wait.max.ms: " + std::string(wait) + "}"}}),
               Catch::Contains("must not set fetch.wait.max.ms to '" + std::string(wait) + "': requests for") &&
                   Catch::EndsWith("; leave it out, or set at most 200"));
  }
}

TEST_CASE("settings: replicas, filters, stores, zones and addresses are checked") {
  CHECK(complaint({{"serve.replica_index", "1"}}) ==
        "--serve.replica_index: serve.replica_index is 1; it must be less than serve.replica_count = 1");
  CHECK(complaint({{"serve.replication_factor", "2"}}) ==
        "--serve.replication_factor: serve.replication_factor is 2; it must be at most serve.replica_count = 1");
  CHECK(complaint({{"serve.peers", "a:1,b:1"}, {"serve.replica_count", "3"}}) ==
        "--serve.peers: serve.peers must be empty, one pattern with {index}, or as many addresses as "
        "serve.replica_count = 3");
  CHECK(complaint({{"serve.tls_certificate", "c.pem"}}) ==
        "--serve.tls_certificate: serve.tls_certificate and serve.tls_key are needed together, or neither");
  CHECK(complaint({{"serve.drain_seconds", "30"}}) ==
        "--serve.drain_seconds: serve.drain_seconds is 30; it must be less than process.stop_seconds = 25, which "
        "bounds the whole end");
  CHECK(complaint({{"serve.tls_client_ca", "ca.pem"}}) ==
        "--serve.tls_client_ca: serve.tls_client_ca also needs serve.tls_certificate and serve.tls_key");
  CHECK(complaint({{"serve.tls_certificate", "c.pem"}, {"serve.tls_key", "c.key"}, {"serve.peers", "s-{index}:1"}}) ==
        "--serve.peers: serve.peers are asked over TLS; serve.tls_peer_ca must say who vouches for them");
  CHECK(complaint({{"filter.retention_periods", "2"}}) ==
        "--filter.retention_periods: filter.retention_periods is 2; it must be at least filter.periods_read - 1 = 3, "
        "or queries "
        "would read filters that have expired");
  CHECK(complaint({{"store.kind", "redis"}}) ==
        "default: store.redis.addresses is empty; name the servers of the filter store, as host:port");
  const auto redis = [](std::vector<std::pair<std::string, std::string>> more) {
    more.insert(more.begin(), {{"store.kind", "redis"}, {"store.redis.addresses", "a:6379,[::1]:6380"}});
    return complaint(more);
  };
  CHECK(redis({}).empty());
  CHECK(redis({{"store.redis.addresses", "a:6379,b"}}) ==
        "--store.redis.addresses: store.redis.addresses has b; an address is host:port");
  CHECK(redis({{"store.redis.hedge_after_ms", "999"}}).empty());
  CHECK(redis({{"store.redis.hedge_after_ms", "1000"}}) ==
        "--store.redis.hedge_after_ms: store.redis.hedge_after_ms is 1000; a read ends after store.redis.timeout_ms = "
        "1000, so nothing would be asked a second time: set it below that, or to 0");
  CHECK(redis({{"store.redis.user", "site"}}) ==
        "--store.redis.user: store.redis.user is site, which also needs store.redis.password_file");
  CHECK(redis({{"store.redis.prefix", "a{b"}}) ==
        "--store.redis.prefix: store.redis.prefix is a{b; it must be at most 64 printable characters without blanks "
        "and { } * ? [ ] \\ ^");
  CHECK(redis({{"store.backup_path", "/backups"}}).find("backups are of the embedded store") != std::string::npos);
  CHECK(redis({{"store.write_bytes_per_second", "8MiB"}}).empty());
  CHECK(complaint({{"store.write_bytes_per_second", "8MiB"}}) ==
        "--store.write_bytes_per_second: store.write_bytes_per_second is 8388608, but the embedded store is paced by "
        "its disk; leave it out, or set store.kind to redis");
  CHECK(complaint({{"filter.time_zone", "Mars/Base"}}) ==
        "--filter.time_zone: filter.time_zone is Mars/Base; it must be an IANA time zone that this machine knows, as "
        "UTC or "
        "Asia/Shanghai");
  CHECK(complaint({{"admin.listen", "9600"}}) ==
        "--admin.listen: admin.listen is 9600; it must be host:port, as 127.0.0.1:9600, with port 0 for any free one");
  CHECK(complaint({{"stages", "ingest,wndow"}}) ==
        "--stages: stages is [ingest, wndow]; it must be one or a list of ingest, window, merge, serve");
  CHECK(complaint({{"instance", "a/b"}}) == "--instance: instance is a/b; it must be 1 to 200 of a-z A-Z 0-9 . _ -");
}

TEST_CASE("settings: by default nothing listens beyond this machine, and plain text beyond it must be asked for") {
  CHECK(load({})->settings.serve.listen == "127.0.0.1:7700");
  CHECK(load({})->settings.admin.listen == "127.0.0.1:9600");
  CHECK(load({})->settings.admin.health_listen == "");
  for (const char* open : {"0.0.0.0:7700", "[::]:7700", "10.0.0.1:0", "replica-0.internal:7700"}) {
    INFO(open);
    CHECK_THAT(complaint({{"serve.listen", open}}),
               Catch::StartsWith("--serve.listen: serve.listen is " + std::string(open) +
                                 ", which other machines reach") &&
                   Catch::Contains("set serve.tls_certificate and serve.tls_key, listen on 127.0.0.1, or set "
                                   "serve.insecure: true"));
    CHECK(complaint({{"serve.listen", open}, {"stages", "ingest,window,merge"}}) == "");
    const auto insecure = load({{"serve.listen", open}, {"serve.insecure", "true"}});
    REQUIRE(insecure.ok());
    REQUIRE(insecure->warnings.size() == 1);
    CHECK_THAT(insecure->warnings.front(), Catch::Contains("can read and erase the history of every user"));
  }
  CHECK(complaint({{"serve.listen", "0.0.0.0:7700"}, {"serve.tls_certificate", "c.pem"}, {"serve.tls_key", "c.key"}}) ==
        "");
  CHECK(complaint({{"serve.access_file", "access"}}) ==
        "--serve.access_file: serve.access_file lists names of client certificates, and no client shows one; "
        "also set serve.tls_client_ca");
}

TEST_CASE("settings: an admin port that other machines reach is warned of, unless a token was set for it") {
  for (const char* open : {"0.0.0.0:9600", "[::]:9600", "10.0.0.7:9600"}) {
    INFO(open);
    const auto loaded = load({{"admin.listen", open}});
    REQUIRE(loaded.ok());
    REQUIRE(loaded->warnings.size() == 1);
    CHECK_THAT(loaded->warnings.front(),
               Catch::StartsWith("--admin.listen: admin.listen is " + std::string(open) +
                                 ", which other machines reach, without TLS, and admin.token_file is not set") &&
                   Catch::Contains("set admin.token_file"));
    CHECK(load({{"admin.listen", open}, {"admin.token_file", "token"}})->warnings.empty());
  }
  for (const char* own : {"127.0.0.1:9600", "[::1]:9600", "localhost:9600"}) {
    INFO(own);
    CHECK(load({{"admin.listen", own}})->warnings.empty());
  }
}

TEST_CASE("settings: one number bounds all memory, and one that is too small is refused with the least that works") {
  CHECK(load({})->settings.memory.limit == 2048ull << 20);
  CHECK(load({{"memory.limit", "1536MiB"}})->settings.memory.limit == 1536ull << 20);
  CHECK_THAT(complaint({{"memory.limit", "128MiB"}}),
             Catch::StartsWith("--memory.limit: memory.limit is 128 MiB; it must be at least ") &&
                 Catch::Contains("50 partitions"));
  CHECK_THAT(complaint({{"memory.limit", "lots"}}),
             Catch::EndsWith("memory.limit is lots; it must be a number of bytes, as 512MiB or 2GiB"));
  CHECK_THAT(complaint({{"memory.limit", "1MB"}}),
             Catch::EndsWith("memory.limit is 1MB; it must be at least 64MiB and at most 1024GiB"));
  const auto tuned = load({{"kafka.properties", "{queued.max.messages.kbytes: 65536}"}});
  REQUIRE(tuned.ok());
  REQUIRE(tuned->warnings.size() == 1);
  CHECK_THAT(tuned->warnings[0], Catch::Contains("queued.max.messages.kbytes") && Catch::Contains("memory.limit"));
}

TEST_CASE("settings: addresses have a host and a port") {
  for (const char* fine : {"b:9092", "b:9092,", "b:9092,c:9093", "b:9092, c:9093", "SASL_SSL://b:9092", "[::1]:9092"}) {
    INFO(fine);
    CHECK(complaint({{"kafka.bootstrap", fine}}) == "");
  }
  for (const char* wrong : {"b", "b:", "b:0", "b:kafka", "b:9092,c", "b:70000", ":9092"}) {
    INFO(wrong);
    CHECK_THAT(complaint({{"kafka.bootstrap", wrong}}),
               Catch::Contains("kafka.bootstrap has ") && Catch::Contains("; it must be host:port,host:port"));
  }
  CHECK_THAT(complaint({{"serve.peers", "replica-{index}"}}),
             Catch::Contains("serve.peers has replica-{index}; each must"));
  CHECK(complaint({{"serve.peers", "replica-{index}:7700"}}) == "");
  CHECK_THAT(complaint({{"serve.peers", "a:1,b"}, {"serve.replica_count", "2"}}),
             Catch::Contains("serve.peers has b; "));
}

TEST_CASE("settings: run needs brokers") {
  Settings settings;
  CHECK(check_runnable(settings).message() ==
        "kafka.bootstrap is not set; name the brokers there, or in BLOOMRING_KAFKA_BOOTSTRAP");
  settings.kafka.bootstrap = "b:9092";
  CHECK(check_runnable(settings).ok());
}

TEST_CASE("settings: a deadline of erasures beyond what the log keeps is refused, since a restore would undo them") {
  CHECK(complaint({{"store.erase_within_seconds", "345600"}}) == "");  // Twice 48 hours.
  CHECK_THAT(complaint({{"store.erase_within_seconds", "345602"}}),
             Catch::Contains("store.erase_within_seconds is 345602; it must be at most twice topics.retention_hours"));
  CHECK(complaint({{"store.erase_within_seconds", "345602"}, {"topics.retention_hours", "49"}}) == "");
}
