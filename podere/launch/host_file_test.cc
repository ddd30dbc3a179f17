#include "podere/launch/host_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/error.h"

namespace podere::launch {
namespace {

std::string refusal(const std::string& text) {
  try {
    parse_hosts(text, "hosts.txt");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(HostFile, HasAHostALine) {
  EXPECT_EQ(parse_hosts("# the cluster\nnode1 slots=4\n\n  node-2.example.org\tslots = 16 # big\r\n10.0.0.3", "h"),
            (std::vector<Host>{{"node1", 4}, {"node-2.example.org", 16}, {"10.0.0.3", 1}}));
  EXPECT_EQ(n_slots(parse_hosts("a slots=4\nb slots=16\nc", "h")), 21);
}

TEST(HostFile, SaysWhichLineIsWrong) {
  EXPECT_EQ(refusal("a\nb slots=0"), "hosts.txt:2: slots=0 is not from 1 to 4096");
  EXPECT_EQ(refusal("a slots=5000"), "hosts.txt:1: slots=5000 is not from 1 to 4096");
  EXPECT_EQ(refusal("a slots=-1"), "hosts.txt:1: 'slots=-1' is not slots=N");
  EXPECT_EQ(refusal("a slots=1.5"), "hosts.txt:1: 'slots=1.5' is not slots=N");
  EXPECT_EQ(refusal("a slots="), "hosts.txt:1: 'slots=' is not slots=N");
  EXPECT_EQ(refusal("a 4"), "hosts.txt:1: '4' is not slots=N");
  EXPECT_EQ(refusal("a b c"), "hosts.txt:1: 'b' is not slots=N");
  EXPECT_EQ(refusal("a slots=2 slots=3"), "hosts.txt:1: 'slots=3' is one word too many: a line is 'name slots=N'");
  EXPECT_EQ(refusal("slots=4"), "hosts.txt:1: 'slots=4' is not the name of a host (letters, digits, '-', '.' and '_')");
  EXPECT_EQ(refusal("\n\nb\nb slots=2"), "hosts.txt:4: host b is in line 3 already");
  EXPECT_EQ(refusal(""), "hosts.txt: there is no host in it: a line is 'name slots=N'");
  EXPECT_EQ(refusal("# none\n \n"), "hosts.txt: there is no host in it: a line is 'name slots=N'");
}

TEST(HostFile, HasNoNamesThatSshWouldTakeForSomethingElse) {
  for (const std::string name : {"-oProxyCommand=x", "-l", "root@a", "a:22", "a;ls", "$(ls)", "a,b", "é", "\x01"}) {
    EXPECT_TRUE(refusal(name).find("is not the name of a host") != std::string::npos) << name << refusal(name);
  }
  EXPECT_NE(refusal(std::string(300, 'a')), "none");
}

TEST(HostFile, WithBytesThatAreNoTextIsReportedInWhole) {
  EXPECT_EQ(refusal(std::string("a\0b\x1b", 4)),
            "hosts.txt:1: 'a\\x00b\\x1b' is not the name of a host (letters, digits, '-', '.' and '_')");
}

TEST(HostFile, ThatCannotBeReadIsReported) {
  const std::string folder = testing::TempDir();
  std::ofstream(folder + "long") << std::string(2'000'000, '#');
  for (const std::string& path : {folder + "no such file", folder, folder + "long"}) {
    try {
      read_hosts(path);
      ADD_FAILURE() << path;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path)) << error.what();
    }
  }
}

}  // namespace
}  // namespace podere::launch
