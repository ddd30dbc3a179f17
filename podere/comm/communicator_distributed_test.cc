#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <type_traits>

#include "podere/base/error.h"
#include "podere/comm/communicator.h"

namespace podere::comm {
namespace {

/// Every test runs twice: with MPI's own call size, and cut into many small calls, the path of counts beyond 2^31.
class CommunicatorTest : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { Communicator::set_max_call_elements(GetParam()); }
  void TearDown() override { Communicator::set_max_call_elements(std::size_t{1} << 30); }

  const Communicator world_ = Communicator::world();
  const int rank_ = world_.rank();
  const int size_ = world_.size();
  const std::size_t p_ = static_cast<std::size_t>(size_);
  const std::size_t r_ = static_cast<std::size_t>(rank_);
};
INSTANTIATE_TEST_SUITE_P(WholeAndCut, CommunicatorTest, testing::Values(std::size_t{1} << 30, std::size_t{3}));

TEST_P(CommunicatorTest, BroadcastGivesTheRootsValuesToAll) {
  for (int root = 0; root < size_; ++root) {
    std::vector<double> values(10, rank_ == root ? root + 0.5 : -1);
    world_.broadcast(std::span(values), root);
    EXPECT_EQ(values, std::vector<double>(10, root + 0.5));
  }
}

TEST_P(CommunicatorTest, BroadcastTextCarriesAnyLength) {
  for (const std::size_t n : {0, 1, 1000}) {
    EXPECT_EQ(world_.broadcast_text(rank_ == size_ - 1 ? std::string(n, 'x') : "other", size_ - 1),
              std::string(n, 'x'));
  }
}

TEST_P(CommunicatorTest, AllReduceCombinesElementwise) {
  std::vector<std::int64_t> values{rank_, 1, -rank_, 7};
  world_.all_reduce(std::span(values), Reduction::kSum);
  const std::int64_t ranks_sum = size_ * (size_ - 1) / 2;
  EXPECT_EQ(values, (std::vector<std::int64_t>{ranks_sum, size_, -ranks_sum, 7 * size_}));
  EXPECT_EQ(world_.all_reduce(rank_, Reduction::kMax), size_ - 1);
  EXPECT_EQ(world_.all_reduce(static_cast<float>(rank_), Reduction::kMin), 0.0F);
  EXPECT_EQ(world_.all_reduce(std::uint32_t{1} << rank_, Reduction::kBitOr), (1U << size_) - 1);
}

TEST_P(CommunicatorTest, AllReduceOfNothingReturns) {
  std::vector<double> nothing;
  world_.all_reduce(std::span(nothing), Reduction::kSum);
}

/// Rank r receives r elements, so rank 0 receives none.
std::vector<std::size_t> growing_counts(std::size_t p) {
  std::vector<std::size_t> counts(p);
  std::iota(counts.begin(), counts.end(), 0);
  return counts;
}

TEST_P(CommunicatorTest, ReduceScatterGivesEachRankItsRun) {
  const std::vector<std::size_t> counts = growing_counts(p_);
  std::vector<std::int32_t> values(p_ * (p_ - 1) / 2);
  std::iota(values.begin(), values.end(), rank_);
  std::vector<std::int32_t> received(r_);
  world_.reduce_scatter(std::span<const std::int32_t>(values), std::span(received), counts, Reduction::kSum);
  for (std::size_t i = 0; i < r_; ++i) {
    const auto position = static_cast<int>(r_ * (r_ - 1) / 2 + i);
    EXPECT_EQ(received[i], position * size_ + size_ * (size_ - 1) / 2);
  }
}

TEST_P(CommunicatorTest, ReduceScatterOfLargeUnevenRuns) {
  if (GetParam() < 1000) GTEST_SKIP() << "a million messages";
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < p_; ++i) counts.push_back(40'000 * i + i % 2);  // pieces end at 32,768; rank 0 has none
  std::vector<std::int64_t> values(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
  std::iota(values.begin(), values.end(), rank_);
  std::vector<std::int64_t> received(counts[r_]);
  world_.reduce_scatter(std::span<const std::int64_t>(values), std::span(received), counts, Reduction::kSum);
  const std::size_t start = std::accumulate(counts.begin(), counts.begin() + rank_, std::size_t{0});
  for (std::size_t i = 0; i < received.size(); ++i) {
    ASSERT_EQ(received[i], static_cast<std::int64_t>(start + i) * size_ + size_ * (size_ - 1) / 2);
  }
}

TEST_P(CommunicatorTest, CountsThatDoNotFitAreRefused) {
  std::vector<std::int32_t> values(p_ + 1);
  std::vector<std::int32_t> received(1);
  EXPECT_THROW(world_.reduce_scatter(std::span<const std::int32_t>(values), std::span(received),
                                     std::vector<std::size_t>(p_, 1), Reduction::kSum),
               Error);
}

TEST_P(CommunicatorTest, AllGatherPutsRanksInOrder) {
  const std::vector<std::int32_t> pair{rank_, 10 * rank_};
  const std::vector<std::int32_t> gathered = world_.all_gather(std::span<const std::int32_t>(pair));
  ASSERT_EQ(gathered.size(), 2 * p_);
  for (std::size_t i = 0; i < p_; ++i) {
    EXPECT_EQ(gathered[2 * i], static_cast<int>(i));
    EXPECT_EQ(gathered[2 * i + 1], static_cast<int>(10 * i));
  }
}

TEST_P(CommunicatorTest, AllGatherVTakesUnevenAndEmptyRanks) {
  const std::vector<float> own(r_, static_cast<float>(rank_));
  std::vector<float> expected;
  for (std::size_t i = 0; i < p_; ++i) expected.insert(expected.end(), i, static_cast<float>(i));
  EXPECT_EQ(world_.all_gather_v(std::span<const float>(own)), expected);
  EXPECT_EQ(world_.all_gather_v(std::span<const float>(own), growing_counts(p_)), expected);
}

TEST_P(CommunicatorTest, AllToAllTransposes) {
  std::vector<std::int32_t> values(p_);
  for (std::size_t i = 0; i < p_; ++i) values[i] = 100 * rank_ + static_cast<int>(i);
  const std::vector<std::int32_t> received = world_.all_to_all(std::span<const std::int32_t>(values));
  for (std::size_t i = 0; i < p_; ++i) EXPECT_EQ(received[i], static_cast<int>(100 * i) + rank_);
}

TEST_P(CommunicatorTest, AllToAllVTakesUnevenAndEmptyRuns) {
  // Rank r sends r * to elements to rank `to`.
  std::vector<std::size_t> counts(p_);
  std::vector<std::int64_t> values;
  for (std::size_t to = 0; to < p_; ++to) {
    counts[to] = r_ * to;
    values.insert(values.end(), counts[to], static_cast<std::int64_t>(1000 * r_ + to));
  }
  std::vector<std::int64_t> expected;
  for (std::size_t from = 0; from < p_; ++from) {
    expected.insert(expected.end(), from * r_, static_cast<std::int64_t>(1000 * from + r_));
  }
  EXPECT_EQ(world_.all_to_all_v(std::span<const std::int64_t>(values), counts), expected);
}

TEST_P(CommunicatorTest, ExclusiveScanCombinesTheRanksBelow) {
  EXPECT_EQ(world_.exclusive_scan<std::int64_t>(rank_ + 1, Reduction::kSum, 0), rank_ * (rank_ + 1) / 2);
  EXPECT_EQ(world_.exclusive_scan<std::int32_t>(rank_, Reduction::kMax, -1), rank_ - 1);
}

TEST_P(CommunicatorTest, NonBlockingCollectivesOverlapAndOwnTheirBuffers) {
  Pending<std::int32_t> sum = world_.start_all_reduce(std::vector<std::int32_t>(7, rank_), Reduction::kSum);
  Pending<std::int64_t> part = world_.start_reduce_scatter(std::vector<std::int64_t>(2 * p_, 1),
                                                           std::vector<std::size_t>(p_, 2), Reduction::kSum);
  Pending<std::int32_t> moved = std::move(sum);
  EXPECT_EQ(part.wait(), (std::vector<std::int64_t>{size_, size_}));
  EXPECT_EQ(moved.wait(), std::vector<std::int32_t>(7, size_ * (size_ - 1) / 2));
}

TEST_P(CommunicatorTest, AnUnwaitedCollectiveEndsWithItsOwner) {
  { const auto forgotten = world_.start_all_reduce(std::vector<std::int32_t>(7, rank_), Reduction::kSum); }
  EXPECT_EQ(world_.all_reduce(1, Reduction::kSum), size_);
}

TEST_P(CommunicatorTest, SplitMakesGroupsByColorInKeyOrder) {
  const Communicator parity = world_.split(rank_ % 2, -rank_);
  const int group_size = (size_ + 1 - rank_ % 2) / 2;
  EXPECT_EQ(parity.size(), group_size);
  EXPECT_EQ(parity.rank(), group_size - 1 - rank_ / 2);
  EXPECT_EQ(parity.all_reduce(1, Reduction::kSum), group_size);
}

TEST_P(CommunicatorTest, SelfIsAGroupOfOne) {
  const Communicator self = Communicator::self();
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.all_reduce(5, Reduction::kSum), 5);
  EXPECT_EQ(self.all_to_all_v(std::span<const float>(), std::vector<std::size_t>{0}), std::vector<float>());
}

TEST_P(CommunicatorTest, CallsAndBytesAreCountedByKind) {
  const Communicator group = world_.split(0, rank_);
  const auto count = [&](Collective kind) { return group.traffic()[static_cast<std::size_t>(kind)]; };
  const TrafficByKind before = group.traffic();
  std::vector<std::int64_t> values(4 * p_, 1);
  group.all_reduce(std::span(values), Reduction::kSum);
  group.all_reduce(std::span(values), Reduction::kSum);
  EXPECT_EQ(count(Collective::kAllReduce).calls, 2);
  EXPECT_EQ(count(Collective::kAllReduce).bytes, 2 * 2 * 8 * 4 * (p_ - 1));
  EXPECT_GE(count(Collective::kAllReduce).seconds, 0);

  std::vector<std::int64_t> received(4);
  group.reduce_scatter(std::span<const std::int64_t>(values), std::span(received), std::vector<std::size_t>(p_, 4),
                       Reduction::kSum);
  EXPECT_EQ(count(Collective::kReduceScatter).calls, 1);
  EXPECT_EQ(count(Collective::kReduceScatter).bytes, 8 * 4 * (p_ - 1));

  group.all_gather(std::span<const std::int64_t>(received));
  EXPECT_EQ(count(Collective::kAllGather).calls, 1);
  EXPECT_EQ(count(Collective::kAllGather).bytes, 8 * 4 * (p_ - 1));

  group.broadcast(std::span(received));
  EXPECT_EQ(count(Collective::kBroadcast).bytes, size_ == 1 ? 0 : 32);
  EXPECT_EQ(count(Collective::kAllToAll).calls, 0);
  EXPECT_EQ(traffic_since(before, group.traffic())[static_cast<std::size_t>(Collective::kAllReduce)].calls, 2);
  EXPECT_EQ(to_string(Collective::kScan), "scan");
}

TEST_P(CommunicatorTest, AgreeReturnsWhereNoRankFails) {
  int calls = 0;
  world_.agree([&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

TEST_P(CommunicatorTest, OneRanksMistakeEndsThePhaseOnEveryRankWithItsCause) {
  const int failing = size_ - 1;
  try {
    world_.agree([&] {
      if (rank_ == failing) throw InputError("higgs.csv:7: the cause");
    });
    FAIL() << "agree returned";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "higgs.csv:7: the cause");
  }
}

TEST_P(CommunicatorTest, TheFailingRankKeepsItsOwnExceptionAndOthersTheLowestRanks) {
  try {
    world_.agree([&] { throw std::out_of_range("rank " + std::to_string(rank_)); });
    FAIL() << "agree returned";
  } catch (const std::out_of_range& error) {
    EXPECT_EQ(error.what(), "rank " + std::to_string(rank_));
  }
  if (size_ < 3) return;
  try {
    world_.agree([&] {
      if (rank_ > 0) throw std::out_of_range("rank " + std::to_string(rank_));
    });
    FAIL() << "agree returned";
  } catch (const std::exception& error) {
    EXPECT_EQ(error.what(), "rank " + std::to_string(std::max(rank_, 1)));
  }
}

TEST_P(CommunicatorTest, TheGroupWorksOnAfterAnAgreedFailure) {
  EXPECT_THROW(world_.agree([] { throw Error("once"); }), Error);
  EXPECT_EQ(world_.all_reduce(1, Reduction::kSum), size_);
}

static_assert(!std::is_copy_constructible_v<Communicator>);
static_assert(std::is_nothrow_move_constructible_v<Communicator>);
static_assert(!std::is_copy_constructible_v<Pending<float>>);

}  // namespace
}  // namespace podere::comm
