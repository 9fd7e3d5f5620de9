#include "pipeline/settings/settings.h"

#include <catch2/catch.hpp>
#include <cctype>

#include "base/hash.h"
#include "pipeline/stages/topology.h"

using namespace bloomring;

namespace {

// Loads with these keys set as flags, and nothing else from outside.
Result<LoadedSettings> load(std::vector<std::pair<std::string, std::string>> values) {
  ConfigSources sources;
  for (auto& [key, value] : values) sources.flags.push_back({key, value, "--" + key});
  return load_settings(sources, topology());
}

std::string complaint(std::vector<std::pair<std::string, std::string>> values) {
  const Result<LoadedSettings> loaded = load(std::move(values));
  CHECK((loaded.ok() || loaded.code() == Code::kInvalid));
  return loaded.status().message();
}

}  // namespace

TEST_CASE("settings: the defaults fit together") {
  const Result<LoadedSettings> loaded = load({});
  REQUIRE(loaded.status().message() == "");
  const Settings& s = loaded->settings;
  CHECK(loaded->warnings.empty());
  CHECK_FALSE(s.instance.empty());
  CHECK(s.ring.lap_ms() == 6 * 3600 * 1000);
  CHECK(s.retention().periods_read == 4);
  CHECK(s.retention().ahead_ms == 600 * 1000);
  CHECK(s.stages == all_stages(topology()));
}

TEST_CASE("settings: values reach their fields") {
  const Result<LoadedSettings> loaded = load({{"kafka.bootstrap", "b:9092"},
                                              {"kafka.properties", "{security.protocol: SSL}"},
                                              {"topics.plays", "a,b"},
                                              {"events.item", "video_id"},
                                              {"events.time_unit", "s"},
                                              {"ring.slot_seconds", "5"},
                                              {"filter.period", "week"},
                                              {"filter.time_zone", "Asia/Shanghai"},
                                              {"stages", "serve,merge"},
                                              {"log.format", "json"},
                                              {"ingest.drop_repeats", "false"}});
  REQUIRE(loaded.status().message() == "");
  const Settings& s = loaded->settings;
  CHECK(s.kafka.bootstrap == "b:9092");
  CHECK(s.kafka.properties.at("security.protocol") == "SSL");
  CHECK(s.topics.plays == std::vector<std::string>{"a", "b"});
  CHECK(s.events.item == "video_id");
  CHECK(s.events.time_unit == TimeUnit::kSeconds);
  CHECK(s.ring.slot_ms() == 5000);
  CHECK(s.retention().unit == PeriodUnit::kWeek);
  CHECK(s.retention().time_zone == "Asia/Shanghai");
  CHECK(s.stages == stages_named(topology(), {"merge", "serve"}));
  CHECK(s.log.format == LogFormat::kJson);
  CHECK_FALSE(s.ingest.drop_repeats);
}

TEST_CASE("settings: every key is documented, has its environment variable and a unit where its name has none") {
  Settings settings;
  Config config;
  declare_settings(config, settings, topology());
  const std::string page = settings_reference(topology());
  for (const ConfigKey& key : config.keys()) {
    INFO(key.name());
    CHECK(key.doc_text().size() > 10);
    CHECK((std::isupper(static_cast<unsigned char>(key.doc_text().front())) != 0 || key.doc_text().front() == '`'));
    CHECK(key.doc_text().back() == '.');
    CHECK(key.doc_text().find('|') == std::string::npos);  // It stands in a Markdown table.
    CHECK(page.find("| `" + key.name() + "` |") != std::string::npos);
    CHECK(page.find("`" + key.environment_variable() + "`") != std::string::npos);
  }
}

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

TEST_CASE("settings: fields of plays have each their own name") {
  CHECK(complaint({{"events.item", "user"}}) ==
        "--events.item: events.item is user, which is already the name of another field");
  CHECK(complaint({{"events.item", ""}}) == "--events.item: events.item is \"\"; it must not be empty");
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
        "--serve.tls_client_ca: serve.tls_client_ca needs serve.tls_certificate and serve.tls_key beside it");
  CHECK(complaint({{"serve.tls_certificate", "c.pem"}, {"serve.tls_key", "c.key"}, {"serve.peers", "s-{index}:1"}}) ==
        "--serve.peers: serve.peers are asked over TLS; serve.tls_peer_ca must say who vouches for them");
  CHECK(complaint({{"filter.retention_periods", "2"}}) ==
        "--filter.retention_periods: filter.retention_periods is 2; it must be at least filter.periods_read - 1 = 3, "
        "or queries "
        "would read filters that have expired");
  CHECK(complaint({{"store.kind", "redis"}}) ==
        "--store.kind: store.kind is redis, which is not available yet; use embedded, with store.path");
  CHECK(complaint({{"filter.time_zone", "Mars/Base"}}) ==
        "--filter.time_zone: filter.time_zone is Mars/Base; it must be an IANA time zone that this machine knows, as "
        "UTC or "
        "Asia/Shanghai");
  CHECK(complaint({{"admin.listen", "9600"}}) ==
        "--admin.listen: admin.listen is 9600; it must be host:port, as 0.0.0.0:9600, with port 0 for any free one");
  CHECK(complaint({{"stages", "ingest,wndow"}}) ==
        "--stages: stages is [ingest, wndow]; it must be one or a list of ingest, window, merge, serve");
  CHECK(complaint({{"instance", "a/b"}}) == "--instance: instance is a/b; it must be 1 to 200 of a-z A-Z 0-9 . _ -");
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

TEST_CASE("settings: what cannot be read and what does not fit is said in one pass, and nothing that follows from it") {
  const std::string text = complaint({{"topics.partitions", "7"}, {"ring.slots", "99"}, {"ring.slots_", "1"}});
  CHECK_THAT(text, Catch::Contains("topics.partitions is 7; it must divide") &&
                       Catch::Contains("ring.slots is 99; ") && Catch::Contains("unknown key ring.slots_"));
  // The lap of a ring whose slots are not known is not known.
  CHECK(complaint({{"ring.slots", "x"}, {"topics.retention_hours", "1"}}).find("retention_hours") == std::string::npos);
}

TEST_CASE("settings: everything that does not fit is said at once") {
  CHECK(complaint({{"topics.partitions", "3"}, {"store.kind", "redis"}}).find("\n--store.kind: ") != std::string::npos);
}

TEST_CASE("settings: run needs brokers") {
  Settings settings;
  CHECK(check_runnable(settings).message() ==
        "kafka.bootstrap is not set; name the brokers there, or in BLOOMRING_KAFKA_BOOTSTRAP");
  settings.kafka.bootstrap = "b:9092";
  CHECK(check_runnable(settings).ok());
}

TEST_CASE("settings: a site's own kinds, views and scenes reach the mapping of its plays") {
  const Result<LoadedSettings> loaded = load({{"events.kinds", "{view: play, hide: forget, '*': ignore}"},
                                              {"events.watched", "w.s"},
                                              {"events.duration", "w.of"},
                                              {"events.watched_unit", "s"},
                                              {"events.view_share_min", "0.3"},
                                              {"events.view_ms_min", "3000"},
                                              {"events.scenes", "[feed, \"\"]"}});
  REQUIRE(loaded.status().message() == "");
  CHECK(loaded->warnings.empty());
  const PlayMapping mapping = loaded->settings.events.mapping();
  CHECK(mapping.kinds.at("view") == EventKind::kPlay);
  CHECK(mapping.kinds.at("hide") == EventKind::kForget);
  CHECK_FALSE(mapping.kinds.at("*").has_value());
  CHECK(mapping.view.watched == "w.s");
  CHECK(mapping.view.duration == "w.of");
  CHECK(mapping.view.unit == TimeUnit::kSeconds);
  CHECK(mapping.view.share_min == 0.3);
  CHECK(mapping.view.ms_min == 3000);
  CHECK(mapping.scenes == std::vector<std::string>{"feed", ""});
  CHECK(loaded->settings.events.scene_rules().declared == mapping.scenes);
  CHECK(loaded->settings.events.scene_rules().part_filters);
}

TEST_CASE("settings: the empty name of a kind stands for records without one") {
  const Result<LoadedSettings> loaded = load({{"events.kinds", "{view: play, '': ignore}"}});
  REQUIRE(loaded.status().message() == "");
  const PlayMapping mapping = loaded->settings.events.mapping();
  REQUIRE(mapping.kinds.contains(""));
  CHECK_FALSE(mapping.kinds.at("").has_value());
}

TEST_CASE("settings: where the topics of plays were set is known") {
  CHECK(load({})->settings.topics.plays_place == "");
  CHECK(load({{"topics.plays", "views"}})->settings.topics.plays_place == "--topics.plays");
}

TEST_CASE("settings: a site may have neither scenes nor kinds, and must have user, item and time") {
  const Result<LoadedSettings> loaded = load({{"events.scene", ""}, {"events.event", ""}});
  REQUIRE(loaded.status().message() == "");
  CHECK_FALSE(loaded->settings.events.scene_rules().part_filters);
  for (const char* key : {"events.user", "events.item", "events.time"}) {
    INFO(key);
    CHECK(complaint({{key, ""}}).find("must not be empty") != std::string::npos);
  }
}

TEST_CASE("settings: kinds, views and scenes that cannot work are refused, with what is missing") {
  const auto refused = [](std::vector<std::pair<std::string, std::string>> values, const std::string& words) {
    INFO(words);
    CHECK(complaint(std::move(values)).find(words) != std::string::npos);
  };
  refused({{"events.kinds", "{view: watched}"}}, "events.kinds has view: watched; a kind is play, serve");
  refused({{"events.kinds", "{view: play}"}, {"events.event", ""}}, "events.kinds is set; events.event must name");
  refused({{"events.view_ms_min", "1"}}, "events.view_ms_min is set; events.watched must name");
  refused({{"events.view_share_min", "0.5"}, {"events.watched", "w"}}, "events.duration must name");
  refused({{"events.scenes", "feed"}, {"events.scene", ""}}, "events.scene is empty");
  refused({{"events.user", "a.b.c.d.e.f.g.h.i"}}, "a path has at most 8 names");
  for (const char* path : {"a..b", ".a", "a.", "."}) {
    refused({{"events.user", path}}, "is " + std::string(path) + "; a path has a name before and behind each dot");
  }
  refused({{"events.watched", "user"}}, "already the name of another field");
  const auto unused = load({{"events.watched", "w"}});
  REQUIRE(unused.ok());
  REQUIRE(unused->warnings.size() == 1);
  CHECK(unused->warnings.front().find("every view is a play") != std::string::npos);
}
