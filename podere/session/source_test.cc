#include "podere/session/source.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/collider/higgs.h"

namespace podere::session {
namespace {

TEST(ColliderSource, IsReadFromItsText) {
  EXPECT_EQ(parse_collider("collider:1e6?seed=3"), (ColliderSource{1'000'000, 3}));
  EXPECT_EQ(parse_collider("collider:12"), (ColliderSource{12, 0}));
  EXPECT_EQ(parse_collider("higgs.csv"), std::nullopt);
}

TEST(ColliderSource, ThatIsMalformedIsRefused) {
  for (const char* text : {"collider:", "collider:x", "collider:-1", "collider:1.5", "collider:10?",
                           "collider:10?seed=", "collider:10?sed=1", "collider:10?seed=a", "collider:10&seed=1"}) {
    EXPECT_THROW(parse_collider(text), InputError) << text;
  }
}

TEST(Load, GivesTheEventsAskedFor) {
  const auto comm = comm::Communicator::self();
  const auto table = load({"collider:50?seed=9", {.first_row = 10, .last_row = 30}}, true, comm, 2);
  ASSERT_EQ(table.n_global_rows(), 20u);
  EXPECT_EQ(table.label()[0], collider::generate_event(9, 10).label);
  EXPECT_EQ(table.feature(27)[19], collider::generate_event(9, 29).features[27]);
}

TEST(Load, RefusesEventsThatAreNotThereAndChoicesThatDoNotApply) {
  const auto comm = comm::Communicator::self();
  EXPECT_THROW(load({"collider:0", {}}, false, comm, 1), InputError);
  EXPECT_THROW(load({"collider:50", {.first_row = 50}}, false, comm, 1), InputError);
  EXPECT_THROW(load({"collider:50", {.label = "1"}}, true, comm, 1), InputError);
}

TEST(Load, RefusesAFileThatIsNotThere) {
  const auto comm = comm::Communicator::self();
  EXPECT_THROW(load({"no-such-file.csv", {}}, true, comm, 1), InputError);
}

}  // namespace
}  // namespace podere::session
