// The health of a process: alive or not, ready or not. Its parts report to it, and the admin port answers from it.
//
// Alive and ready are different questions:
// - /healthz fails when a part has failed: it cannot go on, and a restart may help.
// - /readyz fails when a part is not ready (starting, catching up, without its broker): it recovers without help, and
//   a restart would only make it begin again.
// With no part at all the process is alive and not ready.
// Threading: thread safe.
#pragma once

#include <map>
#include <mutex>
#include <string>

namespace bloomring {

class Health {
 public:
  // `part` is a stage or another named piece: "window", "store". The reason is a sentence for the person on call.
  // Ready, perhaps without something that `note` names.
  void set_ready(const std::string& part, const std::string& note = {});
  void set_not_ready(const std::string& part, const std::string& reason);
  void set_failed(const std::string& part, const std::string& reason);
  void clear(const std::string& part);

  bool alive() const;  // No part has failed.
  bool ready() const;  // At least one part, and all are ready.
  // With "degraded":true when a ready part has a note.
  // {"ready":false,"parts":{"window":{"ready":true},"serve":{"ready":false,"reason":"catching up with the log: 3 of 8
  // partitions to go"}}}
  std::string ready_json() const;
  // The same with "alive", for the parts that have failed.
  std::string alive_json() const;

 private:
  enum class State { kReady, kNotReady, kFailed };
  struct Part {
    State state;
    std::string reason;
  };
  void set(const std::string& part, State state, const std::string& reason);
  std::string json(const char* question, bool answer, bool (*fine)(State)) const;

  mutable std::mutex mutex_;
  std::map<std::string, Part> parts_;
};

}  // namespace bloomring
