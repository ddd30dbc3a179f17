#include "podere/kube/leader_election.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <list>
#include <optional>

#include "podere/base/error.h"
#include "podere/base/test_clock.h"
#include "podere/kube/test_api.h"

namespace podere::kube {
namespace {

using namespace std::chrono_literals;

/// Keeps one lease as an API server does: writes need the version that is there.
class LeaseServer {
 public:
  Access access() const { return access_to(server_); }
  std::string holder() const {
    const std::scoped_lock lock(mutex_);
    return lease_.is_null() ? "" : lease_.at("spec").value("holderIdentity", "");
  }
  Json lease() const {
    const std::scoped_lock lock(mutex_);
    return lease_;
  }
  void set_holder(const std::string& holder) {
    const std::scoped_lock lock(mutex_);
    if (lease_.is_null()) lease_ = object_of(kLeases, {"farm", "operator"});
    lease_["spec"]["holderIdentity"] = holder;
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
  }

  std::atomic<int> status = 200;         ///< another one is what all get
  std::atomic<bool> is_silent = false;   ///< no answers at all
  std::atomic<bool> hides_time = false;  ///< of the holder: times as if years ago
  std::atomic<int> n_writes = 0;
  std::atomic<int> n_unanswered = 0;

 private:
  void serve(const std::string& request, HttpTestConnection& connection) {
    if (is_silent) ++n_unanswered;
    while (is_silent && connection.pause(10ms)) {
    }
    connection.send(answer(request));
  }
  std::string answer(const std::string& request) {
    if (status != 200) return error_answer(status, "InternalError");
    const std::scoped_lock lock(mutex_);
    if (request.starts_with("GET ")) return lease_.is_null() ? error_answer(404, "NotFound") : json_answer(lease_);
    ++n_writes;
    Json sent = Json::parse(body_of(request));
    if (request.starts_with("POST ") && !lease_.is_null()) return error_answer(409, "AlreadyExists");
    if (request.starts_with("PUT ") && resource_version_of(sent) != resource_version_of(lease_)) {
      return error_answer(409, "Conflict");
    }
    sent["metadata"]["resourceVersion"] = std::to_string(++version_);
    if (hides_time) sent["spec"]["renewTime"] = fmt::format("2001-01-01T00:00:00.{:06}Z", version_);
    lease_ = std::move(sent);
    return json_answer(lease_);
  }

  mutable std::mutex mutex_;
  Json lease_;
  int version_ = 0;
  HttpTestServer server_{
      [this](const std::string& request, HttpTestConnection& connection) { serve(request, connection); }};
};

struct Candidate {
  Candidate(const LeaseServer& server, const std::string& name, TestClock& clock)
      : election(server.access(), {.lease = {"farm", "operator"},
                                   .identity = name,
                                   .lease_seconds = 1.5,
                                   .renew_seconds = 0.8,
                                   .retry_seconds = 0.1,
                                   .on_start = [this] { ++n_starts; },
                                   .on_lost = [this] { ++n_losses; },
                                   .clock = &clock}) {}
  std::atomic<int> n_starts = 0;
  std::atomic<int> n_losses = 0;
  LeaderElection election;
};

constexpr std::size_t kThreads = 2;  // of a candidate
constexpr double kStep = 0.02;

/// Turns the clock until it is true, while all threads of `n_candidates` are answered in no time.
bool comes_true(TestClock& clock, std::size_t n_candidates, const std::function<bool()>& what) {
  return clock.turns_until(what, kThreads * n_candidates, kStep);
}

bool pass(TestClock& clock, std::size_t n_candidates, double seconds) {
  const double end = clock.seconds() + seconds;
  return comes_true(clock, n_candidates, [&] { return clock.seconds() >= end; }) &&
         clock.comes_to_rest(kThreads * n_candidates);
}

/// After its deadline: it leads no more, says so once, and does not come back when requests succeed again.
void expect_lost_for_good(Candidate& candidate, TestClock& clock, const std::function<void()>& restore) {
  EXPECT_FALSE(candidate.election.is_leader());
  ASSERT_TRUE(TestClock::comes_true([&] { return candidate.n_losses == 1; }));
  restore();
  clock.turn(100);
  EXPECT_FALSE(candidate.election.is_leader());
  EXPECT_EQ(candidate.n_losses, 1);
  EXPECT_EQ(candidate.n_starts, 1);
}

TEST(LeaderElection, HasOneLeaderWhoRenews) {
  LeaseServer server;
  TestClock clock;
  std::list<Candidate> candidates;
  for (const char* const name : {"a", "b", "c"}) candidates.emplace_back(server, name, clock);
  const auto n_leaders = [&] {
    return std::ranges::count_if(candidates, [](const auto& candidate) { return candidate.election.is_leader(); });
  };
  ASSERT_TRUE(comes_true(clock, 3, [&] { return n_leaders() == 1; }));
  const Json first = server.lease();
  ASSERT_TRUE(comes_true(clock, 3, [&] { return server.n_writes > 20; }));
  ASSERT_TRUE(pass(clock, 3, 0.2));
  EXPECT_EQ(n_leaders(), 1);
  EXPECT_EQ(server.lease().at("spec").at("acquireTime"), first.at("spec").at("acquireTime"));
  EXPECT_NE(server.lease().at("spec").at("renewTime"), first.at("spec").at("renewTime"));
  EXPECT_EQ(server.lease().at("spec").at("leaseDurationSeconds"), 2) << "whole seconds";
  for (const auto& candidate : candidates) {
    EXPECT_EQ(candidate.n_starts, candidate.election.is_leader() ? 1 : 0);
    EXPECT_EQ(candidate.n_losses, 0);
    EXPECT_EQ(candidate.election.leader(), server.holder());
  }
}

TEST(LeaderElection, GivesTheLeaseBackSoThatAnotherNeedNotWait) {
  LeaseServer server;
  TestClock clock;
  std::optional<Candidate> first(std::in_place, server, "first", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return first->election.is_leader(); }));
  Candidate second(server, "second", clock);
  ASSERT_TRUE(pass(clock, 2, 5));
  EXPECT_FALSE(second.election.is_leader());
  first.reset();
  EXPECT_NE(server.holder(), "first");
  const double released = clock.seconds();
  ASSERT_TRUE(comes_true(clock, 1, [&] { return second.election.is_leader(); }));
  EXPECT_LT(clock.seconds(), released + 0.2);
  EXPECT_EQ(server.lease().at("spec").at("leaseTransitions"), 1);
}

TEST(LeaderElection, WaitsForAnotherWhoSaysNothingByItsOwnClock) {
  LeaseServer server;
  server.set_holder("a process that was killed");
  TestClock clock;
  Candidate candidate(server, "candidate", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.election.is_leader(); }));
  EXPECT_GE(clock.seconds(), 1.5);
  EXPECT_LT(clock.seconds(), 1.5 + 0.2);

  LeaseServer renewed;  // by a process whose clock is years behind
  renewed.hides_time = true;
  TestClock other_clock;
  const Candidate leader(renewed, "leader", other_clock);
  ASSERT_TRUE(comes_true(other_clock, 1, [&] { return leader.election.is_leader(); }));
  const Candidate other(renewed, "other", other_clock);
  ASSERT_TRUE(pass(other_clock, 2, 5));
  EXPECT_TRUE(leader.election.is_leader());
  EXPECT_FALSE(other.election.is_leader());
}

TEST(LeaderElection, IsLostAtTheDeadlineWhenItCannotRenew) {
  LeaseServer server;
  TestClock clock;
  Candidate candidate(server, "candidate", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.election.is_leader(); }));
  server.status = 500;
  ASSERT_TRUE(pass(clock, 1, 0.6));
  EXPECT_TRUE(candidate.election.is_leader());
  clock.turn(0.2);
  expect_lost_for_good(candidate, clock, [&] { server.status = 200; });
}

TEST(LeaderElection, IsLostAtTheDeadlineWhileARenewalIsInFlight) {
  LeaseServer server;
  TestClock clock;
  Candidate candidate(server, "candidate", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.election.is_leader(); }));
  server.is_silent = true;
  ASSERT_TRUE(comes_true(clock, 1, [&] { return server.n_unanswered > 0; }));
  clock.turn(0.8);
  expect_lost_for_good(candidate, clock, [&] { server.is_silent = false; });
}

TEST(LeaderElection, IsLostAtOnceWhenAnotherHasTheLease) {
  LeaseServer server;
  TestClock clock;
  Candidate candidate(server, "candidate", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.election.is_leader(); }));
  server.set_holder("usurper");
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.n_losses == 1; }));
  EXPECT_FALSE(candidate.election.is_leader());
}

TEST(LeaderElection, SurvivesAShortFailure) {
  LeaseServer server;
  TestClock clock;
  Candidate candidate(server, "candidate", clock);
  ASSERT_TRUE(comes_true(clock, 1, [&] { return candidate.election.is_leader(); }));
  server.status = 500;
  ASSERT_TRUE(pass(clock, 1, 0.4));
  server.status = 200;
  ASSERT_TRUE(pass(clock, 1, 5));
  EXPECT_TRUE(candidate.election.is_leader());
  EXPECT_EQ(candidate.n_losses, 0);
}

TEST(LeaderElection, EndsWithoutALossAlsoWithoutAnswers) {
  LeaseServer server;
  TestClock clock;
  std::atomic<int> n_losses = 0;
  std::optional<LeaderElection> election(std::in_place, server.access(),
                                         LeaderElectionOptions{.lease = {"farm", "operator"},
                                                               .identity = "candidate",
                                                               .lease_seconds = 1.5,
                                                               .renew_seconds = 0.8,
                                                               .retry_seconds = 0.1,
                                                               .on_lost = [&] { ++n_losses; },
                                                               .clock = &clock});
  ASSERT_TRUE(comes_true(clock, 1, [&] { return election->is_leader(); }));
  server.is_silent = true;
  election.reset();  // does not wait for an answer for ever: this test would not end
  EXPECT_EQ(n_losses, 0);
}

TEST(LeaderElection, RefusesTimesThatDoNotFit) {
  const LeaseServer server;
  const auto make = [&](double lease, double renew, double retry, const std::string& identity = "x") {
    const LeaderElection election(server.access(), {.lease = {"farm", "operator"},
                                                    .identity = identity,
                                                    .lease_seconds = lease,
                                                    .renew_seconds = renew,
                                                    .retry_seconds = retry});
  };
  EXPECT_THROW(make(10, 10, 2), InputError);
  EXPECT_THROW(make(15, 2, 2), InputError);
  EXPECT_THROW(make(15, 10, 0), InputError);
  EXPECT_THROW(make(15, 10, 2, ""), InputError);
  EXPECT_NE(unique_identity(), unique_identity());
}

}  // namespace
}  // namespace podere::kube
