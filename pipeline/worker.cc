#include "pipeline/worker.h"

#include <pthread.h>

#include <chrono>
#include <future>

namespace bloomring {

namespace {
// How long an idle worker waits before it looks again: a part of the freshness of a play, and 200 looks a second.
constexpr std::chrono::milliseconds kIdleWait{5};
}  // namespace

Worker::Worker(std::string name, const Clock& clock, OnFailure on_failure)
    : name_(std::move(name)), clock_(clock), on_failure_(std::move(on_failure)), thread_([this] { run(); }) {}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Worker::post(std::function<void()> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  wake_.notify_one();
}

void Worker::call(std::function<void()> message) {
  std::promise<void> done;
  post([&] {
    message();
    done.set_value();
  });
  done.get_future().wait();
}

void Worker::set_ticker(int64_t interval_ms, std::function<void()> tick) {
  call([&] {
    tick_ = std::move(tick);
    tick_interval_ns_ = interval_ms * 1'000'000;
  });
}

void Worker::run() {
  ::pthread_setname_np(::pthread_self(), name_.substr(0, 15).c_str());
  while (run_messages()) {
    const bool worked = step_tasks();
    tick_if_due();
    if (!worked) wait();
  }
}

bool Worker::run_messages() {
  for (;;) {
    std::function<void()> message;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return false;
      if (messages_.empty()) return true;
      message = std::move(messages_.front());
      messages_.pop_front();
    }
    message();
  }
}

bool Worker::step_tasks() {
  bool worked = false;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    Task* task = tasks_[i];
    const Result<bool> stepped = task->step(clock_.now_ms());
    if (stepped.ok()) {
      worked |= *stepped;
      continue;
    }
    remove(*task);
    on_failure_(stepped.status());
    return true;
  }
  return worked;
}

void Worker::tick_if_due() {
  if (!tick_ || clock_.steady_ns() < tick_due_ns_) return;
  tick_due_ns_ = clock_.steady_ns() + tick_interval_ns_;
  tick_();
}

void Worker::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kIdleWait, [this] { return stop_ || !messages_.empty(); });
}

}  // namespace bloomring
