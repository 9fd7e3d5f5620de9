#include "cli/line/help.h"

#include <string_view>

namespace bloomring::cli {
namespace {

struct Help {
  std::string_view command;
  std::string_view examples;  // Lines.
  std::string_view failed;    // The meaning of exit code 1.
  std::string_view found = {};  // The meaning of exit code 3, if there is one.
};

constexpr std::string_view kBrokers = "no broker or store could be reached, or the process failed later";
constexpr std::string_view kAsked = "the service could not be reached, or the call failed";

constexpr Help kHelp[] = {
    {"run",
     "bloomring run --config site.yaml\n"
     "bloomring run --config site.yaml --stages merge,serve --set admin.listen=127.0.0.1:9601",
     kBrokers},
    {"dev",
     "bloomring dev --plays plays.jsonl --once\n"
     "bloomring dev --config site.yaml --slot-seconds 5",
     "the process could not start, or failed later",
     "with --once: plays were refused; the output says how many and why"},
    {"query",
     "bloomring query --user 17 v4711 v4712\n"
     "bloomring query --user 17 --scene feed --output text < candidates.txt\n"
     "bloomring query --user 17 --all-scenes v4711",
     "the service could not be reached, or a line of a batch failed"},
    {"served", "bloomring served --user 17 --scene feed v4711 v4712", kAsked},
    {"snapshot",
     "bloomring snapshot --user 17 > 17.snapshot\n"
     "bloomring snapshot --from 17.snapshot --test v4711 --output text",
     "the service could not be reached, or the snapshot is damaged"},
    {"forget",
     "bloomring forget --user 17 v4711\n"
     "bloomring forget --user 17 --scene feed --everything\n"
     "bloomring forget --user 17 --all-scenes --everything",
     kAsked},
    {"generate",
     "bloomring generate --plays 1000 --users 50 > plays.jsonl\n"
     "bloomring generate --config test.yaml --topic plays --rate 1000 --execute\n"
     "bloomring generate --config test.yaml --to redis --users 200000 --plays 20000000 --hours 2000 --execute",
     "the output could not be written"},
    {"load",
     "bloomring load --server 127.0.0.1:7700 --rate 200 --plays 100000 --users 1000\n"
     "bloomring load --config site.yaml --scene feed --plays-file plays.jsonl --seconds 60",
     "no call was answered", "an item that was played is unseen in a complete answer"},
    {"check",
     "bloomring check --config site.yaml --output text\n"
     "bloomring check --config site.yaml --offline",
     "a broker or a store could not be reached; no error was found elsewhere"},
    {"topics",
     "bloomring topics --config site.yaml --output text\n"
     "bloomring topics --config site.yaml --execute\n"
     "bloomring topics --config site.yaml --execute --create-plays\n"
     "bloomring topics --config site.yaml --output strimzi",
     "no broker answered", "without --execute: topics are missing"},
    {"inspect",
     "bloomring inspect user --user 17 --config site.yaml --output text\n"
     "bloomring inspect ring --partition 3 --config window.yaml",
     "the stored data cannot be read"},
    {"store",
     "bloomring store backup --config site.yaml\n"
     "bloomring store check --backup 0 --config site.yaml\n"
     "bloomring store export --config site.yaml --to /var/tmp/export\n"
     "bloomring store import --config cluster.yaml --from /var/tmp/export --execute",
     "the command failed, or the store is damaged"},
    {"plan",
     "bloomring plan --output text\n"
     "bloomring plan --config site.yaml --users 2000000 --plays-per-day 80000000 --output text\n"
     "bloomring plan --store redis --replicas 2 --machine-memory 256 --output text",
     "the output could not be written", "the plan does not hold on these machines; the output says why"},
    {"replay",
     "bloomring replay --config site.yaml --name october --from 2026-10-01T00:00:00Z --output text\n"
     "bloomring replay --config site.yaml --name october --from 2026-10-01T00:00:00Z --rate 20000 --execute\n"
     "bloomring replay --config new.yaml --name old --source-config old.yaml --form blocks --execute",
     "no broker answered, the replay failed, or it was stopped: the same command goes on with it",
     "with --execute: it is done, and records were refused; the output says how many and why"},
    {"migrate",
     "bloomring migrate zset --name history --config site.yaml --output text\n"
     "bloomring migrate zset --name history --config site.yaml --refused refused.jsonl --execute",
     "a server or broker did not answer, or it was stopped: the same command goes on with it",
     "with --execute: it is done, and keys or members were refused; the output says how many and why"},
    {"export",
     "bloomring export zset --name back --config site.yaml --from 2026-10-01T00:00:00Z --output text\n"
     "bloomring export zset --name back --config site.yaml --from 2026-10-01T00:00:00Z --execute\n"
     "bloomring export zset --name once --config site.yaml --until now --refused refused.jsonl --execute",
     "a server or broker did not answer, or it was stopped: the same command goes on with it",
     "with --execute and --until: it is done, and records or keys were refused; the output says how many and why"},
    {"verify",
     "bloomring verify --name compare --config site.yaml --server 127.0.0.1:7700 --execute\n"
     "bloomring verify --name sample --config site.yaml --sample 0.01 --execute",
     "a server, the service or a broker did not answer, or it was stopped: the same command goes on with it",
     "with --execute: it is done, and members are missing, or too many items are seen that nobody has played"},
    {"shadow",
     "bloomring shadow --config site.yaml --queries queries.jsonl --differences differences.jsonl --output text\n"
     "bloomring shadow --config site.yaml --listen 0.0.0.0:7701 --admin 0.0.0.0:9607 --rate 200\n"
     "bloomring shadow --config site.yaml --old filters --old-error 0.001 --queries queries.jsonl",
     "the comparison failed, nothing was answered, or it was stopped before the end of the file",
     "a play of the old store is missing in the service, or filters err too often; the report says which"},
    {"jobs",
     "bloomring jobs --config site.yaml --output text\n"
     "bloomring jobs rate october 40000 --config site.yaml\n"
     "bloomring jobs remove october --config site.yaml",
     "no broker answered"},
    {"dlq",
     "bloomring dlq list --config site.yaml --since 7d --output text\n"
     "bloomring dlq show --config site.yaml --reason missing_field --newest 3 --output text\n"
     "bloomring dlq show --config site.yaml --at 0:4711 --raw 4711.json\n"
     "bloomring dlq replay --config site.yaml --name nov-2 --reason missing_field --execute",
     "no broker answered, the letters could not be read, or the replay was stopped: the same command goes on",
     "replay: it is done, and letters stayed that were to be put back; the report says why"},
    {"log-level",
     "bloomring log-level --config site.yaml --output text\n"
     "bloomring log-level debug --config site.yaml --admin 127.0.0.1:9601\n"
     "bloomring log-level configured --config site.yaml",
     "the process could not be reached, or refused"},
    {"bundle",
     "bloomring bundle --config site.yaml\n"
     "bloomring bundle --config site.yaml --admin 127.0.0.1:9601 --to /var/tmp/window-2.tar",
     "the process could not be reached: the file has the rest"},
    {"status",
     "bloomring status --config site.yaml\n"
     "bloomring status --admin 127.0.0.1:9600 --watch\n"
     "bloomring status --admin 127.0.0.1:9600 --output json",
     "no process answers there, or it has no such page"},
    {"topology",
     "bloomring topology --output text\n"
     "bloomring topology --output mermaid > topology.mmd",
     "the output could not be written"},
    {"acls",
     "bloomring acls --config site.yaml --output commands\n"
     "bloomring acls --config site.yaml --output strimzi --user site-{stage}",
     "the output could not be written"},
    {"completion",
     "bloomring completion bash > /etc/bash_completion.d/bloomring\n"
     "bloomring completion fish > ~/.config/fish/completions/bloomring.fish\n"
     "bloomring completion zsh > ~/.zfunc/_bloomring",
     "the output could not be written"},
    {"manual", "bloomring manual > bloomring.1", "the output could not be written"},
    {"version",
     "bloomring version --output text\n"
     "bloomring --version",
     "the output could not be written"},
    {"reference", "bloomring reference config > docs/reference/config.md", "the output could not be written"},
};

std::string indented(std::string_view lines) {
  std::string text = "  ";
  for (const char c : lines) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  return text + "\n";
}

}  // namespace

std::string help_footer(const std::string& command) {
  for (const Help& help : kHelp) {
    if (help.command != command) continue;
    std::string text = "Examples:\n" + indented(help.examples) + "\nExit codes:\n  0  done\n  1  " +
                       std::string(help.failed) + "\n  2  the command line or the configuration is wrong\n";
    if (!help.found.empty()) text += "  3  " + std::string(help.found) + "\n";
    return text;
  }
  return "";
}

}  // namespace bloomring::cli
