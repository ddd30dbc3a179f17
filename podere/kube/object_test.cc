#include "podere/kube/object.h"

#include <gtest/gtest.h>

#include "podere/base/error.h"
#include "podere/kube/farm_kinds.h"

namespace podere::kube {
namespace {

TEST(Object, HasAPathOnTheServer) {
  EXPECT_EQ(kPods.path({"astro", "a-1"}), "/api/v1/namespaces/astro/pods/a-1");
  EXPECT_EQ(kPods.path({"astro", ""}), "/api/v1/namespaces/astro/pods");
  EXPECT_EQ(kPods.path({}), "/api/v1/pods");
  EXPECT_EQ(kNodes.path({"", "n:1"}), "/api/v1/nodes/n:1");
  EXPECT_EQ(kFarms.sub("status").path({"astro", "f"}), "/apis/podere.dev/v1alpha1/namespaces/astro/farms/f/status");
}

TEST(Object, HasNoNameThatLeadsElsewhere) {
  for (const char* const name : {"..", ".", "a/b", "a?b", "a%2fb", "a b", "a\nb", "\xc3\xa9"}) {
    EXPECT_THROW(kPods.path({"astro", name}), InputError) << name;
    EXPECT_THROW(kPods.path({name, "a"}), InputError) << name;
  }
}

TEST(Object, ShowsItsNameWhateverIsMissing) {
  const Json pod = {{"metadata", {{"name", "a"}, {"namespace", "n"}, {"uid", "u"}, {"resourceVersion", "7"}}}};
  EXPECT_EQ(key_of(pod), (ObjectKey{"n", "a"}));
  EXPECT_EQ(key_of(pod).text(), "n/a");
  EXPECT_EQ(uid_of(pod), "u");
  EXPECT_EQ(resource_version_of(pod), "7");
  for (const Json& other : {Json(), Json::object(), Json{{"metadata", 3}}, Json{{"metadata", {{"name", 3}}}}}) {
    EXPECT_EQ(key_of(other), ObjectKey());
    EXPECT_EQ(uid_of(other), "");
  }
}

TEST(Object, BeginsWithItsKindAndName) {
  EXPECT_EQ(object_of(kFarms, {"astro", "f"}).dump(),
            R"({"apiVersion":"podere.dev/v1alpha1","kind":"Farm","metadata":{"name":"f","namespace":"astro"}})");
  EXPECT_EQ(object_of(kNodes, {"", "n"}).dump(), R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}})");
}

TEST(Object, IsRefusedWhenItIsNoneOrTooDeep) {
  EXPECT_EQ(parse_object(R"({"a":[1]})").dump(), R"({"a":[1]})");
  for (const std::string& text :
       {std::string(), std::string("[1]"), std::string("{"), "{\"a\":" + std::string(9999, '[')}) {
    EXPECT_THROW(parse_object(text), Error) << text.substr(0, 9);
  }
}

}  // namespace
}  // namespace podere::kube
