#include "pipeline/kafka/consumer/commit_board.h"

#include <catch2/catch.hpp>

using bloomring::Offset;
using bloomring::PartitionId;
using bloomring::kafka::CommitBoard;
using bloomring::kafka::TopicPartition;

namespace {
const TopicPartition kA{"t", PartitionId(0)};
const TopicPartition kB{"t", PartitionId(1)};
}  // namespace

TEST_CASE("commit board: only the last commit of a partition counts") {
  CommitBoard board;
  board.record(kA, Offset(5));
  board.record(kB, Offset(1));
  board.record(kA, Offset(7));
  CHECK(board.take() == CommitBoard::Commits{{kA, Offset(7)}, {kB, Offset(1)}});
  CHECK(board.take().empty());
}

TEST_CASE("commit board: what failed comes back unless something newer was asked for") {
  CommitBoard board;
  board.record(kA, Offset(9));
  board.put_back(kA, Offset(7));
  board.put_back(kB, Offset(3));
  CHECK(board.take() == CommitBoard::Commits{{kA, Offset(9)}, {kB, Offset(3)}});
}
