// A thread that owns tasks: it steps them in turn, runs what is posted to it between steps, and waits when there is
// nothing to do. The only place in the tree that makes threads.
//
// Rebalances, timers and shutdown reach a task as posted messages, so a task is never touched by two threads.
// Failure: a task whose step fails is not stepped again; `on_failure` hears of it, on the worker's thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "pipeline/task.h"

namespace bloomring {

class Worker {
 public:
  using OnFailure = std::function<void(const Status&)>;

  // `name` has at most 15 characters: it is the thread's.
  Worker(std::string name, const Clock& clock, OnFailure on_failure);
  // Ends after the step that is running; messages not yet run are dropped.
  ~Worker();

  // Runs `message` on the thread between two steps. `post` returns at once, `call` when it has run.
  void post(std::function<void()> message);
  void call(std::function<void()> message);

  // To be called on the worker's thread (in a message): the task outlives its membership.
  void add(Task& task) { tasks_.push_back(&task); }
  void remove(Task& task) { std::erase(tasks_, &task); }

  // Calls `tick` on the thread about every `interval_ms`, between steps. One; to be set before any task is added.
  void set_ticker(int64_t interval_ms, std::function<void()> tick);

 private:
  void run();
  bool run_messages();
  bool step_tasks();
  void tick_if_due();
  void wait();

  const std::string name_;
  const Clock& clock_;
  const OnFailure on_failure_;
  std::vector<Task*> tasks_;  // Of the thread.

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> messages_;
  bool stop_ = false;

  std::function<void()> tick_;  // Of the thread.
  int64_t tick_interval_ns_ = 0;
  int64_t tick_due_ns_ = 0;

  std::thread thread_;
};

}  // namespace bloomring
