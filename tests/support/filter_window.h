// A window with the filter view alone, and a task of it, as the window stage makes them.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "operators/filters/filter_view.h"
#include "operators/window.h"
#include "pipeline/tasks/window_task.h"

namespace bloomring::testing {

inline Window filter_window(const WindowConfig& config, WindowStore& store, const WindowStart& start = {},
                            const std::optional<WindowState>& local = std::nullopt, SlotDrainConfig drain = {}) {
  Views views;
  views.push_back(std::make_unique<FilterView>(config.partition, config.partition_count, drain));
  auto window = Window::open(config, store, std::move(views), start, local);
  BLOOMRING_CHECK(window.ok(), window.status().message());
  return std::move(*window);
}

inline std::vector<ViewLog> filter_log(WatermarkReader& store, const BatchesWatch* watch = nullptr) {
  return {{"user-batches", &store, watch}};
}

}  // namespace bloomring::testing
