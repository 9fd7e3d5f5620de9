// A window store in memory whose disk outlives its process, for the simulation.
//
// The fault model: without a write-ahead log, a crash takes the disk back to a state it had at or after the last
// flush; state and blocks always go back together.
#pragma once

#include <map>

#include "state/window/window_store.h"
#include "tests/simulation/sim_log.h"

namespace bloomring::simulation {

struct SimDisk {
  struct Content {
    std::optional<WindowState> state;
    std::map<std::pair<int64_t, int64_t>, std::string> blocks;  // By hour and offset.
  };
  Content current;
  Content flushed;

  void crash(Random& random) {
    if (one_in(random, 2)) current = flushed;
    flushed = current;
  }
  void lose() { current = flushed = {}; }
};

class SimWindowStore final : public WindowStore {
 public:
  explicit SimWindowStore(SimDisk& disk) : disk_(disk) {}

  Result<std::optional<WindowState>> load() override { return disk_.current.state; }
  Status stage(HourIndex hour, Offset offset, std::string_view block, const WindowState& state) override {
    disk_.current.blocks[{hour.value, offset.value}] = block;
    disk_.current.state = state;
    return {};
  }
  Status save(const WindowState& state) override {
    disk_.current.state = state;
    return {};
  }
  Status scan(HourIndex hour, const std::function<Status(Offset, std::string_view)>& visit) override {
    for (auto at = disk_.current.blocks.lower_bound({hour.value, 0}); at != disk_.current.blocks.end(); ++at) {
      if (at->first.first != hour.value) break;
      BLOOMRING_TRY(visit(Offset(at->first.second), at->second));
    }
    return {};
  }
  Result<std::optional<std::string>> find(HourIndex hour, Offset offset) override {
    const auto block = disk_.current.blocks.find({hour.value, offset.value});
    if (block == disk_.current.blocks.end()) return std::optional<std::string>();
    return std::optional(block->second);
  }
  Status release(const std::vector<HourIndex>& hours, const WindowState& state) override {
    for (const HourIndex hour : hours) {
      std::erase_if(disk_.current.blocks, [&](const auto& entry) { return entry.first.first == hour.value; });
    }
    disk_.current.state = state;
    return {};
  }
  Status flush() override {
    disk_.flushed = disk_.current;
    return {};
  }
  Status clear() override {
    disk_.current = {};
    return {};
  }

 private:
  SimDisk& disk_;
};

}  // namespace bloomring::simulation
