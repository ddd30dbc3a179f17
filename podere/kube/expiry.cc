#include "podere/kube/expiry.h"

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <climits>
#include <cmath>
#include <ctime>
#include <memory>
#include <span>

#include "podere/base/base64.h"
#include "podere/base/error.h"
#include "podere/kube/object.h"

namespace podere::kube {

Time expiry_of_certificate(const std::string& pem) {
  struct Free {
    void operator()(BIO* bio) const { BIO_free(bio); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  if (pem.size() > INT_MAX) throw InputError("is too large for a certificate");
  const std::unique_ptr<BIO, Free> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (bio == nullptr) throw_error("OpenSSL has no memory");
  const std::unique_ptr<X509, Free> certificate(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  std::tm calendar = {};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate.get()), &calendar) != 1) {
    throw InputError("holds no certificate (PEM)");
  }
  return std::chrono::system_clock::from_time_t(timegm(&calendar));
}

std::optional<Time> expiry_of_token(const std::string& token) {
  const auto begin = token.find('.');
  const auto end = begin == std::string::npos ? begin : token.find('.', begin + 1);
  if (end == std::string::npos) return std::nullopt;
  std::string claims = token.substr(begin + 1, end - begin - 1);  // in the base64 of URLs, without padding
  for (char& c : claims) c = c == '-' ? '+' : c == '_' ? '/' : c;
  claims.resize((claims.size() + 3) / 4 * 4, '=');
  try {
    const auto bytes = from_base64(claims);
    const Json json = parse_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    const double seconds = json.at("exp").get<double>();
    if (!(std::abs(seconds) < 9e9)) return std::nullopt;  // the clock's range
    return Time(std::chrono::seconds(static_cast<std::int64_t>(seconds)));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace podere::kube
