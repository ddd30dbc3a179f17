#include "podere/controller/farm_keys.h"

#include <gtest/gtest.h>

#include "podere/controller/test_objects.h"

namespace podere::controller {
namespace {

FarmObject farm_mounting(const char* secret) {
  NeedsTable needs;
  Json farm = test_farm("stars", "astro", 1, 1);
  if (secret != nullptr) {
    farm["spec"]["template"]["spec"]["volumes"] =
        Json::array({{{"name", "keys"}, {"secret", {{"secretName", secret}}}}});
  }
  return farm_object_of(farm, needs);
}

TEST(FarmKeys, AreMadeForTemplatesThatMountThem) {
  const kube::ObjectKey key{"stars", "astro"};
  EXPECT_TRUE(wants_keys(key, farm_mounting("podere-farm-astro")));
  EXPECT_FALSE(wants_keys(key, farm_mounting("podere-farm-hep"))) << "those of another farm";
  EXPECT_FALSE(wants_keys(key, farm_mounting(nullptr)));
  EXPECT_FALSE(wants_keys(key, FarmObject()));
}

}  // namespace
}  // namespace podere::controller
