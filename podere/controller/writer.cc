#include "podere/controller/writer.h"

#include <algorithm>
#include <cmath>

#include "podere/base/interrupt.h"

namespace podere::controller {

Json Writer::counted(const char* what, const std::function<Json()>& write) {
  if (!may_write_()) throw Interrupted();
  try {
    Json answer = write();
    metrics_.wrote(what, 200);
    return answer;
  } catch (const kube::ApiError& error) {
    metrics_.wrote(what, error.status());
    throw;
  } catch (const kube::ConnectionError&) {
    metrics_.wrote(what, 0);
    throw;
  }
}

Json Writer::create_pod(const Json& pod) {
  return counted("create pod", [&] { return client_.create(kube::kPods, pod); });
}

void Writer::check_pod(const Json& pod) {
  counted("check pod", [&] {
    client_.check_create(kube::kPods, pod);
    return Json();
  });
}

void Writer::create_secret(const Json& secret) {
  counted("create secret", [&] {
    client_.create(kube::kSecrets, secret);
    return Json();
  });
}

void Writer::check_secret(const Json& secret) {
  counted("check secret", [&] {
    client_.check_create(kube::kSecrets, secret);
    return Json();
  });
}

void Writer::annotate_pod(const kube::ObjectKey& pod, const std::string& uid, const Json& annotations) {
  const Json patch = {{"metadata", {{"uid", uid}, {"annotations", annotations}}}};
  counted("annotate pod", [&] { return client_.merge_patch(kube::kPods, pod, patch); });
}

void Writer::delete_pod(const kube::ObjectKey& pod, const std::string& uid, double grace_seconds) {
  const int grace = static_cast<int>(std::ceil(std::clamp(grace_seconds, 1.0, 1e6)));
  counted("delete pod", [&] {
    client_.remove(kube::kPods, pod, {.uid = uid, .grace_seconds = grace});
    return Json();
  });
}

void Writer::delete_what_if(const kube::ObjectKey& what_if, const std::string& uid) {
  counted("delete what-if", [&] {
    client_.remove(kube::kWhatIfs, what_if, {.uid = uid});
    return Json();
  });
}

void Writer::write_status(const kube::Resource& resource, const kube::ObjectKey& key, const std::string& uid,
                          const Json& status) {
  const Json patch = {{"metadata", {{"uid", uid}}}, {"status", status}};
  counted("status", [&] { return client_.merge_patch(resource.sub("status"), key, patch); });
}

}  // namespace podere::controller
