// A thread that owns tasks: it steps them in turn, runs posted messages between steps, and waits when there is
// nothing to do. Or a thread that drives one poller (pipeline/io/poller.h): it polls again and again, and runs posted
// messages between polls. It never has both: a task would wait behind each poll. The other threads of the tree are
// those of a producer (pipeline/kafka/producer/producer_client.h) and of reads of the filter store for queries
// (state/store/pooled_filter_reader.h).
//
// A watch, if given, sees what the thread is busy with and since when (pipeline/runtime/watchdog.h).
// Threading: rebalances, timers and shutdown reach a task as posted messages, so only the worker's thread touches a
// task.
// Errors: the worker does not step a task again whose step failed, nor poll again after a poll failed. It calls
// `on_failure` on its thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "pipeline/io/task.h"
#include "pipeline/io/poller.h"

namespace bloomring {

class Worker;

// Sees the workers that were made with it: each exists between its `watch` and its `remove`.
class WorkerWatch {
 public:
  virtual ~WorkerWatch() = default;
  virtual void watch(const Worker& worker) = 0;
  virtual void remove(const Worker& worker) = 0;
};

class Worker {
 public:
  using OnFailure = std::function<void(const Status&)>;

  // `name` is the thread's name, of at most 15 characters. `watch` outlives the worker.
  Worker(std::string name, const Clock& clock, OnFailure on_failure, WorkerWatch* watch = nullptr);
  // Ends after the step that is running; messages not yet run are dropped.
  ~Worker();

  // Both run `message` on the thread between two steps. `post` returns at once, `call` after it has run.
  void post(std::function<void()> message);
  void call(std::function<void()> message);

  // To be called on the worker's thread (in a message). The task outlives its membership. `name` is for people:
  // "window user-events[3]".
  // A worker with a poller takes no task.
  void add(Task& task, std::string name);
  void remove(Task& task) {
    std::erase_if(members_, [&](const Member& member) { return member.task == &task; });
  }

  // To be called on the worker's thread, like `add`. A worker with a task, or with another poller, takes none. The
  // poller outlives its stay.
  void drive(Poller& poller, std::string name);
  void stop_driving(Poller& poller);

  // The step, poll, message or tick that the thread runs; nothing while it waits or between two of them.
  struct Activity {
    std::string what;
    int64_t since_ns;  // Of the steady clock.
  };
  std::optional<Activity> activity() const;

  // Calls `tick` on the thread about every `interval_ms`, between steps or polls. To be set once, before any task is
  // added or poller driven.
  void set_ticker(int64_t interval_ms, std::function<void()> tick);

 private:
  struct Member {
    Task* task;
    std::string name;
  };

  void run();
  // Runs `work` with `what` as the activity.
  template <typename F>
  auto doing(const std::string& what, F work);
  bool run_messages();
  bool step_tasks();
  bool poll();
  void tick_if_due();
  void wait();

  const std::string name_;
  const Clock& clock_;
  const OnFailure on_failure_;
  WorkerWatch* const watch_;
  const std::string message_name_;  // Names of a message and a tick as an activity.
  const std::string tick_name_;
  std::vector<Member> members_;  // Of the thread.
  Poller* poller_ = nullptr;     // Of the thread.
  std::string poller_name_;

  mutable std::mutex activity_mutex_;
  std::string doing_;  // Empty: nothing.
  int64_t doing_since_ns_ = 0;

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
