#include "state/store/filter_reader.h"

#include <future>

namespace bloomring {

namespace {

class ReadNow final : public FilterRead {
 public:
  explicit ReadNow(const UserPeriods& user) : user_(user) {}

  std::span<const UserPeriods> users() const override { return {&user_, 1}; }
  void end(std::vector<Result<StoredUser>> users) override { ended_.set_value(std::move(users.front())); }
  void refuse() override { ended_.set_value(retry("the filter store has too many reads under way")); }
  Result<StoredUser> wait() { return ended_.get_future().get(); }

 private:
  const UserPeriods user_;
  std::promise<Result<StoredUser>> ended_;
};

}  // namespace

Result<StoredUser> read_now(FilterReader& reader, UserRef user, std::span<const PeriodIndex> periods) {
  const auto read = std::make_shared<ReadNow>(UserPeriods{user, periods});  // Shared with the reader.
  reader.begin_read(read);
  return read->wait();
}

}  // namespace bloomring
