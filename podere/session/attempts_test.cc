#include "podere/session/attempts.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"

namespace podere::session {
namespace {

Attempts::Lost killed_reading(int n_executors) {
  return {.n_executors = n_executors, .how = "killed by signal 9", .step = {"read", 0, 1, {}}};
}

/// The numbers of executors that are tried, from `n` on, and why there are no more.
struct Course {
  std::vector<int> tried;
  std::string end;
};

/// Where all groups are lost the same way.
Course course(Attempts::Lost lost, int least) {
  Attempts attempts;
  Course course;
  try {
    while (true) {
      course.tried.push_back(lost.n_executors);
      lost.n_executors = attempts.after(lost, least);
    }
  } catch (const Error& error) {
    course.end = error.what();
  }
  return course;
}

TEST(Attempts, TryEverythingSmallerAndSayWhatWasTried) {
  const Course four = course(killed_reading(4), 1);
  EXPECT_EQ(four.tried, (std::vector<int>{4, 3, 2, 1, 1}));
  EXPECT_EQ(four.end,
            "given up at the phase 'read': groups of 4, 3, 2, 1 and 1 executors were lost the same way: killed by "
            "signal 9 (perhaps there is not enough memory)");
  EXPECT_EQ(course(killed_reading(1), 1).tried, (std::vector<int>{1, 1}));
}

TEST(Attempts, NeverTryFewerThanAreWanted) {
  const Course course_of_four = course(killed_reading(4), 3);
  EXPECT_EQ(course_of_four.tried, (std::vector<int>{4, 3, 3}));
  EXPECT_NE(course_of_four.end.find("; fewer than 3 were not wanted"), std::string::npos) << course_of_four.end;
}

TEST(Attempts, ReachOneInFewStepsWhereThereWereMany) {
  const std::vector<int> tried = course(killed_reading(64), 1).tried;
  EXPECT_EQ(tried, (std::vector<int>{64, 63, 61, 57, 49, 33, 17, 9, 5, 3, 2, 1, 1}));
  EXPECT_EQ(course(killed_reading(4096), 1).tried.back(), 1);
}

TEST(Attempts, LoseOneEachTimeWhereSomethingWasGained) {
  Attempts attempts;
  const auto at_tree = [](int n, std::size_t began, std::size_t done) {
    return Attempts::Lost{
        .n_executors = n, .how = "killed by signal 9", .step = {"train", done, 9, {}}, .began = began};
  };
  EXPECT_EQ(attempts.after(at_tree(8, 0, 3), 1), 7);
  EXPECT_EQ(attempts.after(at_tree(7, 2, 3), 1), 6) << "it began with more";
  EXPECT_EQ(attempts.after(at_tree(6, 2, 5), 1), 5) << "it came further";
  EXPECT_EQ(attempts.after(at_tree(5, 2, 4), 1), 3) << "nothing gained";
}

TEST(Attempts, LoseNoneWhereOneCrashedAndSomethingWasGained) {
  Attempts attempts;
  const auto crash_at = [](int n, std::size_t began, std::size_t done) {
    return Attempts::Lost{
        .n_executors = n, .how = "killed by signal 11", .step = {"classify", done, 9, {}, "picture"}, .began = began};
  };
  EXPECT_EQ(attempts.after(crash_at(4, 0, 3), 1), 4);
  EXPECT_EQ(attempts.after(crash_at(4, 4, 4), 1), 4);
  EXPECT_EQ(attempts.after(crash_at(4, 4, 4), 1), 2) << "nothing gained";
  Attempts others;
  EXPECT_EQ(others.after({.n_executors = 4, .how = "killed by signal 11", .step = {"read", 0, 1, {}}}, 1), 3);
}

TEST(Attempts, OfTheSameNumberEndWhereItIsLostAnotherWay) {
  Attempts attempts;
  EXPECT_EQ(attempts.after(killed_reading(1), 1), 1);
  Attempts::Lost other = killed_reading(1);
  other.how = "silent for 30 s";
  EXPECT_EQ(attempts.after(other, 1), 1);
  EXPECT_THROW(attempts.after(other, 1), Error);
}

TEST(Attempts, ContinueAsLongAsGroupsBeginWithMore) {
  Attempts attempts;
  for (std::size_t began = 0; began < 300; ++began) {
    EXPECT_EQ(
        attempts.after(
            {.n_executors = 2, .how = "silent", .step = {"classify", began, 999, {}, "picture"}, .began = began}, 1),
        1);
  }
}

TEST(Attempts, EndAfterManyLossesOfDifferentKinds) {
  Attempts attempts;
  const auto lose_at = [&](std::size_t tree) {
    return attempts.after({.n_executors = 2, .how = "silent", .step = {"train", tree, 99, {}}, .began = 0}, 1);
  };
  for (std::size_t tree = 0; tree < 20; ++tree) EXPECT_EQ(lose_at(tree), 1);
  EXPECT_THROW(lose_at(20), Error);
}

}  // namespace
}  // namespace podere::session
