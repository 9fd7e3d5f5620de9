#include "pipeline/runtime/worker.h"

#include <pthread.h>

#include <chrono>
#include <future>

namespace bloomring {

namespace {
// How long an idle worker waits before the next round: adds to the delay of a play, and costs 200 rounds a second.
constexpr std::chrono::milliseconds kIdleWait{5};
}  // namespace

Worker::Worker(std::string name, const Clock& clock, OnFailure on_failure, WorkerWatch* watch)
    : name_(std::move(name)),
      clock_(clock),
      on_failure_(std::move(on_failure)),
      watch_(watch),
      message_name_("a message to thread " + name_),
      tick_name_("the report of thread " + name_),
      thread_([this] { run(); }) {
  if (watch_ != nullptr) watch_->watch(*this);
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
  if (watch_ != nullptr) watch_->remove(*this);
}

std::optional<Worker::Activity> Worker::activity() const {
  const std::lock_guard lock(activity_mutex_);
  if (doing_.empty()) return std::nullopt;
  return Activity{doing_, doing_since_ns_};
}

template <typename F>
auto Worker::doing(const std::string& what, F work) {
  if (watch_ == nullptr) return work();
  struct ActivityScope {
    Worker& worker;
    ActivityScope(Worker& at, const std::string& what) : worker(at) {
      const int64_t now_ns = worker.clock_.steady_ns();
      const std::lock_guard lock(worker.activity_mutex_);
      worker.doing_ = what;
      worker.doing_since_ns_ = now_ns;
    }
    ~ActivityScope() {
      const std::lock_guard lock(worker.activity_mutex_);
      worker.doing_.clear();
    }
  };
  const ActivityScope doing(*this, what);
  return work();
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

void Worker::add(Task& task, std::string name) {
  BLOOMRING_CHECK(poller_ == nullptr, "a task would wait behind each poll of its worker");
  members_.push_back({&task, std::move(name)});
}

void Worker::drive(Poller& poller, std::string name) {
  BLOOMRING_CHECK(members_.empty() && poller_ == nullptr, "a worker with a poller has nothing else");
  poller_ = &poller;
  poller_name_ = std::move(name);
}

void Worker::stop_driving(Poller& poller) {
  if (poller_ == &poller) poller_ = nullptr;
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
    const bool worked = poller_ != nullptr ? poll() : step_tasks();
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
    doing(message_name_, message);
  }
}

bool Worker::step_tasks() {
  bool worked = false;
  for (size_t i = 0; i < members_.size(); ++i) {
    Task* task = members_[i].task;
    const Result<bool> stepped = doing(members_[i].name, [&] { return task->step(clock_.now_ms()); });
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

bool Worker::poll() {
  const Result<bool> polled = doing(poller_name_, [&] { return poller_->poll(); });
  if (polled.ok()) return *polled;
  poller_ = nullptr;
  on_failure_(polled.status());
  return true;
}

void Worker::tick_if_due() {
  if (!tick_ || clock_.steady_ns() < tick_due_ns_) return;
  tick_due_ns_ = clock_.steady_ns() + tick_interval_ns_;
  doing(tick_name_, tick_);
}

void Worker::wait() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kIdleWait, [this] { return stop_ || !messages_.empty(); });
}

}  // namespace bloomring
