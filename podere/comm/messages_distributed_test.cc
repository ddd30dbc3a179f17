#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "podere/comm/messages.h"

namespace podere::comm {
namespace {

std::span<std::byte> bytes_of(std::vector<std::uint32_t>& values) { return std::as_writable_bytes(std::span(values)); }

TEST(MessagesTest, ComeInOrderFromEveryRankWhileOthersWait) {
  const Communicator world = Communicator::world();
  const Messages messages(world);
  constexpr std::uint32_t kMessages = 50;
  constexpr std::size_t kWords = 30000;  // beyond what is sent at once
  if (!world.is_root()) {
    for (std::uint32_t k = 0; k < kMessages; ++k) {
      std::vector<std::uint32_t> sent(kWords, static_cast<std::uint32_t>(world.rank()) * 1000 + k);
      messages.start_send(bytes_of(sent), 0).wait();
    }
  } else {
    const auto n_others = static_cast<std::size_t>(world.size() - 1);
    std::vector<std::vector<std::uint32_t>> received(n_others, std::vector<std::uint32_t>(kWords));
    std::vector<std::uint32_t> n_received(n_others);
    std::vector<Transfer> transfers(n_others);
    const auto receive_from = [&](std::size_t other) {
      transfers[other] = messages.start_receive(bytes_of(received[other]), static_cast<int>(other) + 1);
    };
    for (std::size_t other = 0; other < n_others; ++other) receive_from(other);
    for (std::size_t n = 0; n < n_others * kMessages; ++n) {
      const std::size_t other = Messages::await_any(transfers);
      const auto expected = static_cast<std::uint32_t>((other + 1) * 1000) + n_received[other];
      EXPECT_EQ(received[other], std::vector<std::uint32_t>(kWords, expected));
      if (++n_received[other] < kMessages) receive_from(other);
    }
    EXPECT_EQ(n_received, std::vector<std::uint32_t>(n_others, kMessages));
  }
  world.barrier();
}

TEST(MessagesTest, NoSenderStandsBackForOthersThatAreAlwaysReady) {
  const Communicator world = Communicator::world();
  const Messages messages(world);
  constexpr std::size_t kMessages = 40;
  if (!world.is_root()) {
    std::vector<std::uint32_t> sent(1);
    for (std::size_t k = 0; k < kMessages; ++k) messages.start_send(bytes_of(sent), 0).wait();
    world.barrier();
    return;
  }
  world.barrier();  // small messages are all sent by now
  const auto n_others = static_cast<std::size_t>(world.size() - 1);
  std::vector<std::vector<std::uint32_t>> received(n_others, std::vector<std::uint32_t>(1));
  std::vector<std::size_t> n_received(n_others);
  std::vector<Transfer> transfers(n_others);
  const auto receive_from = [&](std::size_t other) {
    transfers[other] = messages.start_receive(bytes_of(received[other]), static_cast<int>(other) + 1);
  };
  for (std::size_t other = 0; other < n_others; ++other) receive_from(other);
  std::size_t other = 0;
  for (std::size_t n = 0; n < n_others * kMessages; ++n) {
    other = Messages::await_any(transfers, other + 1);
    if (++n_received[other] < kMessages) receive_from(other);
    if (n % n_others != n_others - 1) continue;
    for (const std::size_t n_of_one : n_received) EXPECT_EQ(n_of_one, n / n_others + 1);
  }
}

TEST(MessagesTest, DoNotMeetThoseOfAnotherSet) {
  const Communicator world = Communicator::world();
  if (world.size() < 2) GTEST_SKIP() << "needs two ranks";
  const Messages one(world);
  const Messages other(world);
  std::vector<std::uint32_t> first{1};
  std::vector<std::uint32_t> second{2};
  if (world.rank() == 0) {
    Transfer sent = one.start_send(bytes_of(first), 1);
    other.start_send(bytes_of(second), 1).wait();
    sent.wait();
  } else if (world.rank() == 1) {
    std::vector<std::uint32_t> from_other(1);
    std::vector<std::uint32_t> from_one(1);
    other.start_receive(bytes_of(from_other), 0).wait();
    one.start_receive(bytes_of(from_one), 0).wait();
    EXPECT_EQ(from_other, second);
    EXPECT_EQ(from_one, first);
  }
  world.barrier();
}

}  // namespace
}  // namespace podere::comm
