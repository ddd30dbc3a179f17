#include "podere/base/energy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "podere/base/temporary_folder.h"

namespace podere {
namespace {

namespace fs = std::filesystem;

class EnergyTest : public testing::Test {
 protected:
  void set(const std::string& counter, const std::string& name, const std::string& energy_uj) {
    const fs::path folder = powercap.path() / counter;
    fs::create_directories(folder);
    std::ofstream(folder / "name") << name << "\n";
    std::ofstream(folder / "energy_uj") << energy_uj << "\n";
    std::ofstream(folder / "max_energy_range_uj") << "1000000000\n";
  }
  TemporaryFolder powercap{testing::TempDir()};
};

TEST_F(EnergyTest, SumsUpPackagesAndTheirMemory) {
  set("intel-rapl:0", "package-0", "5000000");
  set("intel-rapl:0:0", "core", "1000000");
  set("intel-rapl:0:1", "dram", "2000000");
  set("intel-rapl:1", "package-1", "7000000");
  set("intel-rapl:2", "psys", "9000000");
  EnergyMeter meter(powercap.path());
  EXPECT_EQ(meter.joules(), 0);
  set("intel-rapl:0", "package-0", "15000000");
  set("intel-rapl:0:0", "core", "9000000");
  set("intel-rapl:0:1", "dram", "3000000");
  set("intel-rapl:1", "package-1", "7500000");
  set("intel-rapl:2", "psys", "99000000");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 10 + 1 + 0.5);
  EXPECT_EQ(meter.why_unset(), "");
}

TEST_F(EnergyTest, ACounterThatBeginsAnewIsFollowed) {
  set("intel-rapl:0", "package-0", "999000000");
  EnergyMeter meter(powercap.path());
  set("intel-rapl:0", "package-0", "4000000");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 5);
  set("intel-rapl:0", "package-0", "6000000");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 7);
}

TEST_F(EnergyTest, AMachineWithoutCountersSaysSo) {
  EnergyMeter meter(powercap.path() / "not there");
  EXPECT_EQ(meter.joules(), std::nullopt);
  EXPECT_NE(meter.why_unset().find("no energy counters"), std::string::npos);
  fs::create_directories(powercap.path() / "dtpm");
  EXPECT_EQ(EnergyMeter(powercap.path()).joules(), std::nullopt);
}

TEST_F(EnergyTest, ACounterThatCannotBeReadMakesAllUnknown) {
  set("intel-rapl:0", "package-0", "1");
  set("intel-rapl:1", "package-1", "1");
  fs::remove(powercap.path() / "intel-rapl:1/energy_uj");
  EnergyMeter meter(powercap.path());
  EXPECT_EQ(meter.joules(), std::nullopt);
  EXPECT_EQ(meter.why_unset(), (powercap.path() / "intel-rapl:1/energy_uj").string() + ": No such file or directory");
}

TEST_F(EnergyTest, ACounterThatIsNoNumberMakesAllUnknown) {
  set("intel-rapl:0", "package-0", "words");
  EnergyMeter meter(powercap.path());
  EXPECT_EQ(meter.joules(), std::nullopt);
  EXPECT_TRUE(meter.why_unset().ends_with("is no number")) << meter.why_unset();
}

TEST(MachineIdentity, IsTheSameEachTime) { EXPECT_EQ(machine_identity(), machine_identity()); }

}  // namespace
}  // namespace podere
